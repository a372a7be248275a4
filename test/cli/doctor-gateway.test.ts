// `tollgate doctor` of a gateway, on real chains and databases: what it would serve, and what is missing. It changes nothing.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Environment } from "../../src/environment.js";
import { openDatabase } from "../../src/gateway/database/open.js";
import { openCustody } from "../../src/gateway/wallets/custody.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres, startPostgres } from "../support/postgres.js";
import { freePort } from "../support/process.js";
import { noRedis, startRedis } from "../support/redis.js";
import { ownFolder, type Ran, run } from "./cli.js";

const PASSPHRASE = "orbit velvet mango tractor lantern";

let evm: Sandbox;
let sol: SolanaSandbox;
beforeAll(async () => {
  [evm, sol] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(async () => {
  await Promise.all([evm?.close(), sol?.close()]);
});

interface Row {
  readonly part: string;
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly remedy?: string;
}
const rowsOf = ({ stdout }: Ran) => (JSON.parse(stdout) as { rows: Row[] }).rows;
const bad = (ran: Ran) => rowsOf(ran).filter(({ state }) => state === "wrong" || state === "unreachable");
const row = (ran: Ran, part: string, check: string | RegExp) =>
  rowsOf(ran).find(
    (one) => one.part === part && (typeof check === "string" ? one.check === check : check.test(one.check)),
  );

const settings = (database: string, more: Environment = {}): Environment => ({
  TOLLGATE_DATABASE_FILE: database,
  // The local cluster has no other mint.
  TOLLGATE_ASSETS: "USDC",
  TOLLGATE_RPC_URL_BASE_SEPOLIA: evm.rpcUrl,
  TOLLGATE_RPC_URL_SOLANA_DEVNET: sol.rpcUrl,
  TOLLGATE_SETTLER_KEY_EVM: evm.settlerKey,
  TOLLGATE_SETTLER_KEY_SOLANA: sol.settlerKey,
  ...more,
});
const doctor = (env: Environment, ...argv: string[]) => run(["doctor", ...argv], { env });

describe("a gateway", () => {
  it("before its first start: chains, tokens and gas are right, and no file is made", async () => {
    const { database } = ownFolder();
    const ran = await doctor(settings(database));
    expect([ran.code, bad(ran)]).toEqual([0, []]);
    expect(row(ran, "database", /SQLite/)).toMatchObject({
      state: "note",
      found: expect.stringMatching(/the first start makes it/),
    });
    expect(row(ran, "base-sepolia", "USDC EIP-712 domain")?.state).toBe("ok");
    expect(row(ran, "base-sepolia", "gas of the settler")?.state).toBe("ok");
    expect(row(ran, "solana-devnet", "USDC mint")?.state).toBe("ok");
    expect(row(ran, "solana-devnet", "SOL of the settler")?.state).toBe("ok");
    expect(rowsOf(ran).filter(({ check }) => /payTo/.test(check))).toEqual([]);
    expect(existsSync(database)).toBe(false);
  });

  // Each passphrase takes half a second and 128 MiB on a quiet machine.
  it("with its database: of this version, and whether the passphrase opens its wallets", async () => {
    const { database } = ownFolder();
    const opened = await openDatabase({ file: database });
    expect(row(await doctor(settings(database)), "database", /SQLite/)).toMatchObject({
      state: "ok",
      found: expect.stringMatching(/of this version/),
    });
    await openCustody(PASSPHRASE, opened);
    await opened.close();
    const right = await doctor(settings(database, { TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE }));
    expect(row(right, "hosted wallets", "passphrase")).toMatchObject({ state: "ok" });
    const wrong = await doctor(settings(database, { TOLLGATE_WALLET_PASSPHRASE: `${PASSPHRASE} other` }));
    expect(bad(wrong)).toMatchObject([{ part: "hosted wallets", found: expect.stringMatching(/got another one/) }]);
    expect(wrong.stdout + wrong.stderr).not.toContain(PASSPHRASE);
    expect(bad(await doctor(settings(database)))).toMatchObject([
      { part: "hosted wallets", found: expect.stringMatching(/its wallets are locked/) },
    ]);
  }, 90_000);

  it("with a database of a later version, and with a file that is none", async () => {
    const { folder, database } = ownFolder();
    const opened = await openDatabase({ file: database });
    await opened.close();
    const { default: Libsql } = await import("libsql");
    const raw = new Libsql(database);
    raw.prepare("insert into gateway_migrations (id, applied_at) values (99, 1)").run();
    raw.close();
    const later = await doctor(settings(database));
    expect(bad(later)).toMatchObject([{ part: "database", found: expect.stringMatching(/got step 99/) }]);
    const other = join(folder, "notes.db");
    writeFileSync(other, "these are notes and no database, and long enough to be read as one");
    expect(bad(await doctor(settings(other)))).toMatchObject([{ part: "database", state: "unreachable" }]);
  });

  it("whose settler is empty, whose node is of another chain, and one that has no settler at all", async () => {
    const { database } = ownFolder();
    const poor = await doctor(settings(database, { TOLLGATE_SETTLER_KEY_EVM: `0x${"a1".repeat(32)}` }));
    expect(bad(poor)).toMatchObject([{ part: "base-sepolia", check: "gas of the settler" }]);
    const foreign = await doctor(settings(database, { TOLLGATE_RPC_URL_BASE: evm.rpcUrl }));
    expect(bad(foreign)).toMatchObject([{ part: "base", state: "wrong", found: expect.stringMatching(/8453.*84532/) }]);
    const { TOLLGATE_SETTLER_KEY_EVM, TOLLGATE_SETTLER_KEY_SOLANA, ...none } = settings(database);
    const bare = await doctor(none);
    expect([bare.code, bad(bare)]).toEqual([0, []]);
    expect(row(bare, "solana-devnet", "settler")).toMatchObject({
      state: "note",
      remedy: expect.stringMatching(/TOLLGATE_SETTLER_KEY_SOLANA/),
    });
  });

  it("over http, from a file of JSON, for a person", async () => {
    const { folder, database } = ownFolder();
    const file = join(folder, "gateway.json");
    const networks = { "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey } };
    writeFileSync(file, JSON.stringify({ database: { file: database }, networks, publicUrl: "http://pay.example" }));
    const { code, stdout } = await run(["doctor", file], { terminal: true });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^.*WRONG +public URL +TOLLGATE_PUBLIC_URL +expected https, got http:\/\/pay\.example.*\n {4}Set TOLLGATE_PUBLIC_URL to https/m,
    );
    expect(stdout).not.toContain(evm.settlerKey.slice(2, 20));
  });

  it.skipIf(noRedis())("with a Redis that drops entries, and with none behind its URL", async () => {
    const { database } = ownFolder();
    const redis = await startRedis(["--maxmemory-policy", "allkeys-lru"]);
    const drops = await doctor(settings(database, { REDIS_URL: redis.url }), "--gateway");
    await redis.stop();
    expect(row(drops, "Redis", /keeps/)).toMatchObject({ state: "note", found: expect.stringMatching(/allkeys-lru/) });
    const gone = await doctor(settings(database, { REDIS_URL: redis.url }), "--gateway");
    expect(bad(gone)).toMatchObject([{ part: "Redis", state: "unreachable" }]);
  });

  it.skipIf(noPostgres())("on a Postgres: new, of this version, and gone", async () => {
    const postgres = await startPostgres();
    const url = await postgres.newSchema();
    const { TOLLGATE_DATABASE_FILE, ...rest } = settings("");
    const env = { ...rest, DATABASE_URL: url };
    expect(row(await doctor(env), "database", /Postgres/)).toMatchObject({
      state: "note",
      found: expect.stringMatching(/no gateway has used it yet/),
    });
    await (await openDatabase({ url })).close();
    expect(row(await doctor(env), "database", /Postgres/)).toMatchObject({ state: "ok" });
    await postgres.stop();
    expect(bad(await doctor(env))).toMatchObject([{ part: "database", state: "unreachable" }]);
  });
});

it("settings that cannot be read come with every problem, and exit code 2", async () => {
  const { database } = ownFolder();
  const env = settings(database, { TOLLGATE_ADMIN_TOKEN: "hunter2", TOLLGATE_PORT: "http" });
  const { code, stdout, stderr } = await doctor(env);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^2 things must be set right first:/);
  expect(stderr).not.toContain("hunter2");
  expect(
    (await doctor({ TOLLGATE_RPC_URL_BASE_SEPOLIA: `http://127.0.0.1:${await freePort()}` }, "--gateway")).code,
  ).toBe(1);
});
