// A facilitator that says yes at once, in a process of its own so that its work is on nobody's account. Each settlement has
// a transaction id of its own, as on a chain: a library that finds one used twice refuses it.
import { createServer } from "node:http";
import { SOLANA_TERMS, TERMS } from "./terms.mjs";

const counts = { verify: 0, settle: 0, supported: 0, accepts: 0 };
let settlements = 0;

const { feePayer } = SOLANA_TERMS;
const KINDS = [
  { x402Version: 1, scheme: "exact", network: TERMS.networkV1 },
  { x402Version: 2, scheme: "exact", network: TERMS.network },
  { x402Version: 1, scheme: "exact", network: SOLANA_TERMS.networkV1, extra: { feePayer } },
  { x402Version: 2, scheme: "exact", network: SOLANA_TERMS.network, extra: { feePayer } },
];
const SIGNERS = { "eip155:*": [`0x${"1".repeat(40)}`], "solana:*": [feePayer] };

const answers = {
  "/supported": () => ({ kinds: KINDS, extensions: [], signers: SIGNERS }),
  "/accepts": (body) => {
    const { resource, accepts } = JSON.parse(body);
    return { x402Version: 2, resource, accepts };
  },
  "/verify": (body) => ({ isValid: true, payer: payerIn(body) }),
  "/settle": (body) => {
    settlements++;
    const { network, networkV1 } = isEvm(body) ? TERMS : SOLANA_TERMS;
    return {
      success: true,
      payer: payerIn(body),
      transaction: isEvm(body) ? `0x${settlements.toString(16).padStart(64, "0")}` : signature(settlements),
      network: body.includes('"x402Version":1') ? networkV1 : network,
    };
  },
};

// Found without parsing: the stub has to be faster than what it serves.
const isEvm = (body) => body.includes('"authorization":');

/** Left out on Solana, where it stands inside the transaction. */
function payerIn(body) {
  if (!isEvm(body)) return undefined;
  const at = body.indexOf('"from":"');
  return body.slice(at + 8, at + 50);
}

/** In the letters and of the length of a transaction's id on Solana. */
const signature = (count) => count.toString(8).replace(/0/g, "9").padStart(88, "8");

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const answer = answers[request.url];
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    counts[request.url.slice(1)]++;
    const text = JSON.stringify(answer(body));
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));

process.on("message", ({ id, kind }) => {
  if (kind === "quit") process.exit(0);
  process.send({ id, ...counts });
});
process.on("disconnect", () => process.exit(0));
