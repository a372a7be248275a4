// A published seller with one priced route for each chain it knows, `/evm` and `/solana`, $0.01 for every method:
// `node run.mjs FILE TERMS`, where TERMS is JSON { facilitatorUrl, evm, solana }, each chain its payee, and the facilitator's
// bearer is in API_KEY. Prints its URL when it listens. `GET /runs` tells how often the handlers ran.
import { createHash } from "node:crypto";

const [file, terms] = process.argv.slice(2);
const { facilitatorUrl, evm, solana } = JSON.parse(terms);
const authorization = { Authorization: `Bearer ${process.env.API_KEY}` };
let runs = 0;

const { start } = await import(`./${file}.mjs`);
const port = await start({
  ...{ facilitatorUrl, evm, solana, authorization, price: "$0.01" },
  /** What the published facilitator clients ask for; the list of what is supported needs no key. */
  createAuthHeaders: async () => ({ verify: authorization, settle: authorization, supported: {} }),
  runs: () => runs,
  /** What is sold: the request as the handler saw it. */
  goods(method, contentType, body) {
    runs += 1;
    const bytes = Buffer.from(body ?? []);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const isJson = bytes.length > 0 && /^application\/json\b/.test(contentType ?? "");
    return { method, contentType: contentType ?? null, sha256, body: isJson ? JSON.parse(bytes) : null };
  },
});
console.log(`http://127.0.0.1:${port}`);
