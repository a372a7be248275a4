// npm run build && node bench/gateway.mjs: load on the gateway beside a bare Hono route that gives the same JSON, in one run.
//
//   node bench/gateway.mjs                              both databases, 7 rounds (about 4 minutes)
//   node bench/gateway.mjs --short                      3 short rounds (about 1 minute)
//   node bench/gateway.mjs --databases sqlite --parts status,receive --rounds 5 --ms 1000 --connections 16
//   node bench/gateway.mjs --dist ../other/dist         another build
//   node bench/gateway.mjs --profile status             where its CPU goes, on the first database named
//
// Bursts are interleaved, ratios are taken inside a round. Settlements are real: on Anvil, which mines at once.
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { ask, distOf, requestText, startBare, startGateway, startGround } from "./lib/gateway-ground.mjs";
import { median, ratio } from "./lib/measure.mjs";
import { findPostgres } from "./lib/postgres.mjs";
import { profiled } from "./lib/profiled.mjs";

const text = { type: "string" };
const { values: given } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    ...{ databases: text, parts: text, rounds: text, ms: text, connections: text, dist: text, profile: text },
  },
});
const words = (list) => list?.split(",").filter(Boolean);
const dist = distOf(given.dist);
const databases = words(given.databases) ?? (findPostgres() ? ["sqlite", "postgres"] : ["sqlite"]);
const parts = given.profile ? [given.profile] : (words(given.parts) ?? ["status", "history", "build", "receive"]);
const rounds = Number(given.rounds ?? (given.short ? 3 : 7));
const ms = Number(given.ms ?? (given.short ? 500 : 2_000));
/** Below the 20 receives of an account at once. */
const connections = Number(given.connections ?? 16);
const WARM = 1_000;

const ground = await startGround(dist);

/** What each part sends, and what came back for it once. */
async function prepare(gateway) {
  const { sandbox, payTo } = ground;
  const { paymentId } = await ask(gateway, "POST", "/payment/receive", await ground.newReceive());
  const statusPath = `/payment/status/${paymentId}`;
  let status;
  for (let turn = 0; status?.status !== "finalized"; turn++) {
    if (turn > 60) throw new Error(`the payment is still ${status?.status}`);
    await sandbox.chain.mine(40);
    // It looks at the chain once a second at most.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    status = await ask(gateway, "GET", statusPath);
  }
  const buyer = await sandbox.newBuyer();
  await sandbox.native.setBalances([buyer.address], 10n ** 20n);
  const order = { walletAddress: buyer.address, recipientAddress: sandbox.seller, amount: 0.001 };
  const historyPath = `/payment/history/${payTo}?limit=20`;
  return {
    status: { method: "GET", path: statusPath, answer: status },
    history: { method: "GET", path: historyPath, answer: await ask(gateway, "GET", historyPath) },
    build: {
      ...{ method: "POST", path: "/transaction/send", body: order },
      answer: await ask(gateway, "POST", "/transaction/send", order),
    },
    receive: {
      ...{ method: "POST", path: "/payment/receive", body: await ground.newReceive(), fresh: true },
      answer: await ask(gateway, "POST", "/payment/receive", await ground.newReceive()),
    },
  };
}

/** One burst of one part on one server. */
async function burst(server, part, limits) {
  const { port, key } = server;
  const { method, path, body, fresh } = part;
  const own = { port, key, method, path, body };
  // Every receive of the gateway needs a payment of its own; the bare route may see one twice.
  const pool = fresh && key !== undefined ? `receive ${port}` : undefined;
  if (pool) {
    const requests = [];
    while (requests.length < limits.limit) requests.push(requestText({ ...own, body: await ground.newReceive() }));
    await ground.load.ask("fill", { pool, requests });
  }
  const before = await server.stat();
  const seen = await ground.load.ask("burst", { port, text: requestText(own), connections, pool, ...limits });
  const after = await server.stat();
  return {
    ...{ rps: seen.requests / (seen.elapsedMs / 1_000), cpuUs: (after.cpuUs - before.cpuUs) / seen.requests },
    ...{ p50: seen.p50, p99: seen.p99, statuses: seen.statuses, elapsedMs: seen.elapsedMs },
  };
}

/** So many for each burst, because they have to be signed before. */
const FRESH = given.short ? 150 : 600;
const limitsOf = ({ fresh }) => (fresh ? { limit: FRESH, ms: 120_000 } : { ms });

const rows = [];
for (const database of databases) {
  const profile = given.profile && profiled();
  const gateway = await startGateway(ground, database, dist, profile?.execArgv);
  const prepared = await prepare(gateway);
  const answers = Object.values(prepared).map(({ method, path, answer }) => ({
    ...{ method, path: path.replace(/\?.*$/, ""), body: answer },
  }));
  const bare = await startBare(answers, dist);
  for (const name of parts) {
    const part = prepared[name];
    if (!part) throw new Error(`no such part: ${name}; there are ${Object.keys(prepared).join(", ")}`);
    process.stderr.write(`${name}, ${database} …\n`);
    const cells = { gateway: [], bare: [] };
    for (const server of [gateway, bare]) {
      await burst(server, part, part.fresh ? { limit: FRESH, ms: 120_000 } : { limit: WARM, ms: 20_000 });
    }
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? ["gateway", "bare"] : ["bare", "gateway"];
      for (const which of order) {
        cells[which].push(await burst(which === "gateway" ? gateway : bare, part, limitsOf(part)));
      }
    }
    rows.push(rowOf(name, database, cells));
  }
  await Promise.all([gateway.stop(), bare.stop()]);
  if (profile) console.log(profile.read());
}
await ground.stop();

function rowOf(name, database, { gateway, bare }) {
  const of = (figure) => median(gateway.map((round) => round[figure]));
  const pair = [{ rounds: gateway }, { rounds: bare }];
  const statuses = {};
  for (const round of gateway) {
    for (const [status, count] of Object.entries(round.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  return {
    ...{ name, database, statuses },
    cells: [
      ...[of("rps").toFixed(0), ratio(...pair, "rps").toFixed(2)],
      ...[of("cpuUs").toFixed(0), ratio(...pair, "cpuUs").toFixed(1)],
      ...[of("p50").toFixed(1), of("p99").toFixed(1)],
    ],
  };
}

const heads = ["part", "database", "requests/s", "of bare", "CPU µs", "× bare", "p50 ms", "p99 ms", "answers"];
const line = (cells) => `| ${cells.join(" | ")} |`;
console.log(
  [
    `Node ${process.versions.node}, load average ${loadavg()[0].toFixed(1)}, ${rounds} rounds, ${connections} connections`,
    "",
    line(heads),
    line(heads.map((_, n) => (n < 2 || n === heads.length - 1 ? "---" : "---:"))),
    ...rows.map(({ name, database, cells, statuses }) =>
      line([
        ...[name, database, ...cells],
        Object.entries(statuses)
          .map(([status, count]) => `${count} × ${status}`)
          .join(", "),
      ]),
    ),
  ].join("\n"),
);
