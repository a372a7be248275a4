// npm run build && node bench/key-timing.mjs [--count 10000] [--dist ../other/dist]
//
// Measured over HTTP, which is all that a stranger has, and inside the process, where a known prefix (which is public) costs half a
// microsecond more in SQLite: that row is printed and does not count; what depends on the secret part counts in both.
//
// Does the time of a refusal tell anything about a key? In the manner of dudect: two kinds of wrong keys in random order, the time
// of each judgement, the slowest tenth cut off, and Welch's t of what is left. Above 4.5 they can be told apart (faults A41); the
// process then ends with 1. Wants a quiet machine: other work adds noise to both kinds alike, and hides what it should show.
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { distOf } from "./lib/gateway-ground.mjs";
import { findPostgres, startPostgres } from "./lib/postgres.mjs";

const { values: given } = parseArgs({ options: { count: { type: "string" }, dist: { type: "string" } } });
const dist = distOf(given.dist);
const COUNT = Number(given.count ?? 10_000);
const KEYS = 500;
const WARM = 2_000;
const BOUND = 4.5;
const PREFIX = 16;
const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const { createGateway, serve } = await import(new URL("src/gateway/index.js", dist));
const { createLogger } = await import(new URL("src/gateway/logger.js", dist));
const { findKey } = await import(new URL("src/gateway/http/auth.js", dist));

const digits = (count) => Array.from({ length: count }, () => DIGITS[randomInt(DIGITS.length)]).join("");

/** Wrong keys of each kind; `keys` are those that there are. */
const KINDS = {
  "prefix known": (keys) => keys[randomInt(keys.length)].slice(0, PREFIX) + digits(36),
  "prefix unknown": () => `tg_test_${digits(44)}`,
  "last character wrong": (keys) => {
    const key = keys[randomInt(keys.length)];
    return key.slice(0, -1) + (key.endsWith("1") ? "2" : "1");
  },
};
const PAIRS = [
  ["prefix known", "prefix unknown"],
  ["prefix known", "last character wrong"],
];

/** Times of both kinds, in nanoseconds. */
async function time(judge, keys, [one, other], count) {
  const times = { [one]: [], [other]: [] };
  // Made beforehand, so that nothing of how a header was made is still in the caches when it is judged; and flat, as one that comes
  // from a socket.
  const headers = Array.from({ length: count }, () => {
    const kind = randomInt(2) === 0 ? one : other;
    return { kind, header: Buffer.from(`Bearer ${KINDS[kind](keys)}`, "latin1").toString("latin1") };
  });
  for (const { kind, header } of headers) {
    const begun = process.hrtime.bigint();
    const taken = await judge(header);
    const took = Number(process.hrtime.bigint() - begun);
    if (taken) throw new Error("a wrong key was taken");
    times[kind].push(took);
  }
  return [times[one], times[other]];
}

/** Welch's t of what is below the ninth decile of both together. */
function welch(all) {
  const joined = all.flat().toSorted((a, b) => a - b);
  const cut = joined[Math.floor(joined.length * 0.9)];
  const [a, b] = all.map((times) => {
    const kept = times.filter((took) => took <= cut);
    const mean = kept.reduce((sum, took) => sum + took, 0) / kept.length;
    const variance = kept.reduce((sum, took) => sum + (took - mean) ** 2, 0) / (kept.length - 1);
    return { mean, error: variance / kept.length };
  });
  return { t: (a.mean - b.mean) / Math.sqrt(a.error + b.error), means: [a.mean, b.mean] };
}

let worst = 0;
async function compare(name, judge, keys, counts) {
  for (const pair of PAIRS) {
    await time(judge, keys, pair, WARM);
    const { t, means } = welch(await time(judge, keys, pair, COUNT));
    if (counts(pair)) worst = Math.max(worst, Math.abs(t));
    const [one, other] = means.map((mean) => `${(mean / 1000).toFixed(2)} µs`);
    console.log(`${name}: ${pair[0]} ${one}, ${pair[1]} ${other}, t = ${t.toFixed(2)}`);
  }
}

async function measure(name, where) {
  const networks = { "base-sepolia": { rpcUrl: "http://127.0.0.1:9" } };
  const quiet = createLogger({ level: "silent" });
  const gateway = await createGateway({ database: where, networks, trustProxy: 1 }, { env: {}, logger: quiet });
  const { database } = gateway;
  const { id } = await database.accounts.create("bench");
  const keys = [];
  for (let n = 0; n < KEYS; n++) {
    const key = { account: id, name: `key ${n}`, mode: "test", plan: "premium", scopes: ["read"] };
    keys.push((await database.keys.create(key)).secret);
  }
  const parts = { keys: database.keys, now: Date.now };
  const inside = async (header) => (await findKey(header, parts)) !== undefined;
  await compare(`${name}, in process`, inside, keys, ([, other]) => other !== "prefix unknown");

  const { port, close } = await serve(gateway, { port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let from = 0;
  const outside = (authorization) =>
    new Promise((resolve, reject) => {
      from += 1;
      // From many addresses, because one is shut out after sixty.
      const headers = { authorization, "x-forwarded-for": `10.${from >> 16}.${(from >> 8) & 255}.${from & 255}` };
      get({ port, host: "127.0.0.1", path: "/payment/status/x", agent, headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode !== 401));
      }).on("error", reject);
    });
  await compare(`${name}, over HTTP`, outside, keys, () => true);
  agent.destroy();
  await close();
}

const folder = mkdtempSync(join(tmpdir(), "tollgate-key-timing-"));
await measure("SQLite", { file: join(folder, "gateway.db") });
rmSync(folder, { recursive: true });
if (findPostgres()) {
  const postgres = await startPostgres();
  await measure("Postgres", { url: postgres.url });
  await postgres.stop();
}
console.log(worst < BOUND ? `No difference (|t| < ${BOUND}).` : `They can be told apart: |t| = ${worst.toFixed(2)}.`);
process.exitCode = worst < BOUND ? 0 : 1;
