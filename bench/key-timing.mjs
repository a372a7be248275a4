// npm run build && node bench/key-timing.mjs [--count 10000] [--dist ../other/dist]
//
// Does the time of a refusal tell anything about a key? In the manner of dudect: two kinds of wrong keys in random order, the time
// of each judgement, the slowest tenth cut off, and Welch's t of what is left. Above 4.5 they can be told apart (faults A41); the
// process then ends with 1. Wants a quiet machine: other work adds noise to both kinds alike, and hides what it should show.
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
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

const { openDatabase } = await import(new URL("src/gateway/database/open.js", dist));
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
async function time(parts, keys, [one, other], count) {
  const times = { [one]: [], [other]: [] };
  // Made beforehand, so that nothing of how a header was made is still in the caches when it is judged; and flat, as one that comes
  // from a socket.
  const headers = Array.from({ length: count }, () => {
    const kind = randomInt(2) === 0 ? one : other;
    return { kind, header: Buffer.from(`Bearer ${KINDS[kind](keys)}`, "latin1").toString("latin1") };
  });
  for (const { kind, header } of headers) {
    const begun = process.hrtime.bigint();
    const found = await findKey(header, parts);
    const took = Number(process.hrtime.bigint() - begun);
    if (found !== undefined) throw new Error("a wrong key was taken");
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
async function measure(name, where) {
  const database = await openDatabase(where);
  const { id } = await database.accounts.create("bench");
  const keys = [];
  for (let n = 0; n < KEYS; n++) {
    const key = { account: id, name: `key ${n}`, mode: "test", plan: "premium", scopes: ["read"] };
    keys.push((await database.keys.create(key)).secret);
  }
  const parts = { keys: database.keys, now: Date.now };
  for (const pair of PAIRS) {
    await time(parts, keys, pair, WARM);
    const { t, means } = welch(await time(parts, keys, pair, COUNT));
    worst = Math.max(worst, Math.abs(t));
    const [one, other] = means.map((mean) => `${(mean / 1000).toFixed(2)} µs`);
    console.log(`${name}: ${pair[0]} ${one}, ${pair[1]} ${other}, t = ${t.toFixed(2)}`);
  }
  await database.close();
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
