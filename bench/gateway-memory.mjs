// npm run build && node bench/gateway-memory.mjs [--count 100000] [--database postgres] [--dist ../other/dist]
//
// Memory of the gateway's process before and after many requests, collected: a tenth part each of builds, the rest in equal parts
// status, history, random keys (401, then 429) and paths that are not there. Ends with 1 where the heap has grown by 20 MB or more.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { ask, distOf, requestText, startGateway, startGround } from "./lib/gateway-ground.mjs";

const text = { type: "string" };
const { values: given } = parseArgs({ options: { count: text, database: text, dist: text } });
const dist = distOf(given.dist);
const COUNT = Number(given.count ?? 100_000);
const BATCH = 5_000;
const WARM = 10_000;
const BOUND_MB = 20;
const LIMITS = { connections: 16, ms: 3_600_000 };

const ground = await startGround(dist);
const gateway = await startGateway(ground, given.database ?? "sqlite", dist);
const { port, key } = gateway;
const { paymentId } = await ask(gateway, "POST", "/payment/receive", await ground.newReceive());
const buyer = await ground.sandbox.newBuyer();
await ground.sandbox.native.setBalances([buyer.address], 10n ** 20n);
const order = { walletAddress: buyer.address, recipientAddress: ground.sandbox.seller, amount: 0.001 };

const status = () => requestText({ port, key, path: `/payment/status/${paymentId}` });
const history = () => requestText({ port, key, path: `/payment/history/${ground.payTo}?limit=10` });
const build = () => requestText({ port, key, method: "POST", path: "/transaction/send", body: order });
const stranger = () =>
  requestText({
    port,
    key: `tg_test_${randomBytes(22).toString("hex").replace(/0/g, "x")}`,
    path: "/payment/status/x",
  });
const nowhere = () => requestText({ port, key, path: `/nowhere/${randomBytes(8).toString("hex")}` });
const MIX = [build, status, history, stranger, nowhere, status, history, stranger, nowhere, status];

const answers = {};
async function run(count) {
  for (let left = count; left > 0; left -= BATCH) {
    const requests = Array.from({ length: Math.min(BATCH, left) }, (_, n) => MIX[n % MIX.length]());
    await ground.load.ask("fill", { pool: "mix", requests });
    const { statuses } = await ground.load.ask("burst", { port, pool: "mix", ...LIMITS, limit: requests.length });
    for (const [name, many] of Object.entries(statuses)) answers[name] = (answers[name] ?? 0) + many;
  }
}

await run(WARM);
const before = await gateway.collect();
await run(COUNT);
const after = await gateway.collect();
await gateway.stop();
await ground.stop();

const mb = (bytes) => (bytes / 2 ** 20).toFixed(1);
for (const what of ["heapUsed", "external", "rss"]) {
  console.log(`${what}: ${mb(before[what])} MB before, ${mb(after[what])} MB after ${COUNT} requests`);
}
console.log("answers, those before included:", answers);
const grownMb = (after.heapUsed - before.heapUsed) / 2 ** 20;
process.exitCode = grownMb < BOUND_MB ? 0 : 1;
