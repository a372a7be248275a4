// A facilitator that says yes at once, in a process of its own so that its work is on nobody's account. Each settlement has
// a transaction id of its own, as on a chain: a library that finds one used twice refuses it.
import { createServer } from "node:http";
import { TERMS } from "./terms.mjs";

const counts = { verify: 0, settle: 0, supported: 0, accepts: 0 };
let settlements = 0;

const KINDS = [
  { x402Version: 1, scheme: "exact", network: TERMS.networkV1 },
  { x402Version: 2, scheme: "exact", network: TERMS.network },
];
const SIGNERS = { "eip155:*": [`0x${"1".repeat(40)}`] };

const answers = {
  "/supported": () => ({ kinds: KINDS, extensions: [], signers: SIGNERS }),
  "/accepts": (body) => {
    const { resource, accepts } = JSON.parse(body);
    return { x402Version: 2, resource, accepts };
  },
  "/verify": (body) => ({ isValid: true, payer: payerIn(body) }),
  "/settle": (body) => ({
    success: true,
    payer: payerIn(body),
    transaction: `0x${(++settlements).toString(16).padStart(64, "0")}`,
    network: body.includes('"x402Version":1') ? TERMS.networkV1 : TERMS.network,
  }),
};

/** Found without parsing: the stub has to be faster than what it serves. */
function payerIn(body) {
  const at = body.indexOf('"from":"');
  return body.slice(at + 8, at + 50);
}

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
