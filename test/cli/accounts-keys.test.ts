// Accounts and keys by the command line, on a real database: made, listed, revoked; the key alone on standard output, once.
import { createHash } from "node:crypto";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/gateway/database/open.js";
import { sharedPostgres } from "../gateway/services.js";
import { noPostgres } from "../support/postgres.js";
import { ownFolder, run } from "./cli.js";

/** Each test has a database of its own. */
function fresh() {
  const { database, folder } = ownFolder();
  const env = { TOLLGATE_DATABASE_FILE: database };
  return {
    env,
    folder,
    file: database,
    tollgate: (...argv: string[]) => run(argv, { env }),
    atTerminal: (...argv: string[]) => run(argv, { env, terminal: true }),
  };
}

describe("accounts", () => {
  it("are made and listed: JSON in a pipe, a table on a terminal", async () => {
    const { tollgate, atTerminal } = fresh();
    const made = await tollgate("accounts", "create", "--name", "Corner shop");
    expect(made.code).toBe(0);
    const account = JSON.parse(made.stdout) as { id: string };
    expect(account).toEqual({ id: expect.stringMatching(/^acc_/), name: "Corner shop", createdAt: expect.any(Number) });
    expect(JSON.parse((await tollgate("accounts", "list")).stdout)).toEqual([account]);
    const table = stripVTControlCharacters((await atTerminal("accounts", "list")).stdout);
    expect(table).toMatch(new RegExp(`^ID +NAME +CREATED\n${account.id}  Corner shop  20\\d\\d-`));
    expect(JSON.parse((await atTerminal("accounts", "list", "--json")).stdout)).toEqual([account]);
  });

  it("are bold on a terminal, unless NO_COLOR is set or the terminal is dumb", async () => {
    const { env, tollgate } = fresh();
    await tollgate("accounts", "create", "--name", "x");
    const list = (more: object) => run(["accounts", "list"], { env: { ...env, ...more }, terminal: true });
    expect((await list({})).stdout).toContain("\u001b[1m");
    expect((await list({ NO_COLOR: "1" })).stdout).not.toContain("\u001b");
    expect((await list({ TERM: "dumb" })).stdout).not.toContain("\u001b");
  });

  it("of a database of control characters reach no terminal with them", async () => {
    const { file, atTerminal } = fresh();
    const database = await openDatabase({ file });
    await database.accounts.create("a\u001b[2Jb");
    await database.close();
    expect((await atTerminal("accounts", "list")).stdout).toContain("a?[2Jb");
  });
});

describe("keys", () => {
  it("go alone to standard output, with words beside them; only the hash is kept", async () => {
    const { tollgate, file } = fresh();
    await tollgate("accounts", "create", "--name", "shop");
    const { code, stdout, stderr } = await tollgate("keys", "create", "--name", "till");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tg_test_[1-9A-HJ-NP-Za-km-z]{43,44}\n$/);
    expect(stderr).toMatch(/receive, read, build, events; plan standard/);
    expect(stderr).toContain("only time");
    expect(stderr).not.toContain(stdout.trim());
    const database = await openDatabase({ file });
    const found = await database.keys.find(stdout.slice(0, 16));
    await database.close();
    expect(found?.hash).toBe(createHash("sha256").update(stdout.trim()).digest("hex"));
    expect(found?.key).toMatchObject({
      mode: "test",
      scopes: ["receive", "read", "build", "events"],
      wallets: [],
      expiresAt: null,
    });
    expect((await tollgate("keys", "list")).stdout).not.toContain(stdout.trim());
  });

  it("take every option", async () => {
    const { tollgate, file } = fresh();
    await tollgate("accounts", "create", "--name", "one");
    await tollgate("accounts", "create", "--name", "two");
    const before = Math.floor(Date.now() / 1000);
    const made = await tollgate(
      ...[
        "keys",
        "create",
        "--account",
        "two",
        "--name",
        "big",
        "--live",
        "--plan",
        "enterprise",
        "--rate-limit",
        "5000",
      ],
      ...["--scopes", "read, send,read", "--expires", "30d", "--json"],
    );
    const key = JSON.parse(made.stdout) as Record<string, unknown>;
    expect(key).toMatchObject({ mode: "live", plan: "enterprise", rateLimit: 5_000, scopes: ["read", "send"] });
    expect(key.secret).toMatch(/^tg_live_/);
    expect(Number(key.expiresAt) - before).toBeGreaterThanOrEqual(30 * 86_400);
    expect(Number(key.expiresAt) - before).toBeLessThan(30 * 86_400 + 60);
    const database = await openDatabase({ file });
    const two = (await database.accounts.list()).find(({ name }) => name === "two");
    await database.close();
    expect(key.account).toBe(two?.id);
  });

  it("need an account: the only one by itself, one of several by name", async () => {
    const { tollgate } = fresh();
    const create = (...more: string[]) => tollgate("keys", "create", "--name", "x", ...more);
    expect(await create()).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("tollgate accounts create"),
    });
    await tollgate("accounts", "create", "--name", "one");
    expect((await create()).code).toBe(0);
    await tollgate("accounts", "create", "--name", "two");
    expect(await create()).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/--account ID\n {2}acc_\w+ {2}one\n {2}acc_\w+ {2}two/),
    });
    expect((await create("--account", "three")).code).toBe(2);
    expect((await create("--account", "one")).code).toBe(0);
  });

  it.each([
    [["--plan", "gold"], /--plan: expected one of standard, premium, enterprise/],
    [["--plan", "enterprise"], /--rate-limit: the plan enterprise leaves the rate to the key/],
    [["--rate-limit", "5"], /--rate-limit: the plan standard sets the rate/],
    [["--wallets", "wal_x"], /wallets: only a key with the scope send/],
    [["--wallets", "wal_x", "--scopes", "send"], /no hosted test wallet/],
    [["--expires", "soon"], /--expires takes 30d/],
    [["--expires", "2020-01-01"], /still to come/],
    [["--expires", "2030-02-30"], /--expires takes 30d/],
  ])("with %j are refused, and nothing is made", async (more, sentence) => {
    const { tollgate } = fresh();
    await tollgate("accounts", "create", "--name", "x");
    const { code, stdout, stderr } = await tollgate("keys", "create", "--name", "x", ...more);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(JSON.parse((await tollgate("keys", "list")).stdout)).toEqual([]);
  });

  it("take a plan of the operator's own from the same settings as the gateway", async () => {
    const { env, tollgate } = fresh();
    await tollgate("accounts", "create", "--name", "x");
    const own = { ...env, TOLLGATE_PLANS: '{"gold":{"perMinute":5}}', TOLLGATE_NETWORKS: "nowhere" };
    expect((await run(["keys", "create", "--name", "x", "--plan", "gold"], { env: own })).code).toBe(0);
  });

  it("are revoked by id or public part, once, and of the named account only", async () => {
    const { tollgate, atTerminal } = fresh();
    await tollgate("accounts", "create", "--name", "one");
    const first = (await tollgate("keys", "create", "--name", "a")).stdout.trim();
    const second = JSON.parse((await tollgate("keys", "create", "--name", "b", "--json")).stdout) as { id: string };
    await tollgate("accounts", "create", "--name", "two");
    expect(await tollgate("keys", "revoke", second.id, "--account", "two")).toMatchObject({ code: 1 });
    expect((await tollgate("keys", "revoke", first.slice(0, 16))).code).toBe(0);
    expect(await tollgate("keys", "revoke", second.id)).toMatchObject({ code: 0 });
    expect(await tollgate("keys", "revoke", second.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("revoked already"),
    });
    expect(await tollgate("keys", "revoke", "key_x")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no such key"),
    });
    expect((await atTerminal("keys", "list", "--account", "one")).stdout).toMatch(/a .*revoked.*\n.*b .*revoked/);
  });
});

describe("backup", () => {
  it("copies the database into a new file, and overwrites nothing", async () => {
    const { tollgate, folder } = fresh();
    await tollgate("accounts", "create", "--name", "shop");
    const copy = `${folder}/copy.db`;
    expect((await tollgate("backup", copy)).code).toBe(0);
    expect((await tollgate("accounts", "list", "--database", copy)).stdout).toContain("shop");
    expect(await tollgate("backup", copy)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is there already"),
    });
  });

  it.skipIf(noPostgres())("of a Postgres is left to pg_dump; all else works there as with a file", async () => {
    const url = await (await sharedPostgres()).newSchema();
    const tollgate = (...argv: string[]) => run([...argv, "--database", url]);
    expect((await tollgate("accounts", "create", "--name", "shop")).code).toBe(0);
    expect((await tollgate("keys", "create", "--name", "till")).stdout).toMatch(/^tg_test_/);
    expect(await tollgate("backup", "x")).toMatchObject({ code: 1, stderr: expect.stringContaining("pg_dump") });
  });

  it("of what is no database is refused under the option that names it, without its password", async () => {
    const { code, stderr } = await run(["backup", "x", "--database", "mysql://me:hunter2@h/d"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--database\n {4}expected postgres:/)]);
    expect(stderr).not.toContain("hunter2");
  });
});
