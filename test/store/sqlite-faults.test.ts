// A SQLite file that is full, busy, replaced, opened by a process that is killed, or given what it cannot hold.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import { checkParameters } from "../../src/store/sql/sqlite.js";
import { type SqliteFile, sqlStore } from "../../src/store/sql.js";
import type { Store, Write } from "../../src/store/store.js";
import { startNode } from "../support/process.js";

const FAR = 3_600_000;

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "a shop's.db");
}
function storeIn(file: string, more: Partial<SqliteFile> = {}): Store {
  const store = sqlStore({ file, ...more });
  onTestFinished(() => store.close());
  return store;
}
/** The file as another process has it. */
function open(file: string): Database.Database {
  const database = new Database(file, { timeout: 1000 });
  onTestFinished(() => void database.close());
  return database;
}
const write = async (store: Store, key: string, version: number, more: Partial<Write> = {}) => {
  const { now } = await store.read([]);
  return store.commit({ writes: [{ key, version, value: "x".repeat(2000), expiresAt: now + FAR, ...more }] });
};

it.each([true, undefined, new Date(), {}, [], 1.5, 2 ** 53, Number.NaN, Symbol("s"), () => 1])(
  "never hands libsql %s, which would end the process or come back as something else",
  (value) => {
    expect(() => checkParameters(["a", value])).toThrow(/^a parameter of the database is a \w+ that it cannot hold/);
  },
);

it("hands libsql text, whole numbers, bytes and null", () => {
  const fine = ["a", 0, -1, Number.MAX_SAFE_INTEGER, new Uint8Array([1]), null];
  expect(checkParameters(fine)).toBe(fine);
});

it("has every commit on the disk, in a log that readers do not wait for", async () => {
  const file = newFile();
  const store = storeIn(file);
  await write(store, "a", 0);
  const other = open(file);
  expect(other.prepare("pragma journal_mode").all()).toEqual([{ journal_mode: "wal" }]);
  other.exec("begin immediate");
  expect((await store.read(["a"])).entries[0]).toBeDefined();
  other.exec("rollback");
});

it("says what to look at where the file cannot be opened, and is opened once its folder stands", async () => {
  const folder = join(newFile(), "..", "payments");
  const store = storeIn(join(folder, "shop.db"));
  await expect(store.read([])).rejects.toThrow("its folder has to exist, and this process has to be allowed to write");
  mkdirSync(folder);
  expect(await write(store, "a", 0)).toBe("ok");
});

it("refuses new payments beyond its size, and goes on with those that it has", async () => {
  const store = storeIn(newFile(), { maxBytes: 200_000 });
  let written = 0;
  while (written < 500 && (await write(store, `k${written}`, 0)) === "ok") written += 1;
  expect(written).toBeGreaterThan(10);
  expect(written).toBeLessThan(200);
  expect(await write(store, "new", 0)).toBe("full");
  expect((await store.read(["new"])).entries).toEqual([undefined]);
  const [entry] = (await store.read(["k0"])).entries;
  expect(await write(store, "k0", entry?.version ?? 0)).toBe("ok");
  expect(await write(store, "transaction", 0, { always: true })).toBe("ok");
  expect(await write(store, "answer", 0, { evictable: true })).toBe("ok");
});

it("waits for another process's commit without holding up its own, and gives up in the end", async () => {
  const file = newFile();
  const store = storeIn(file, { timeoutMs: 2000 });
  await write(store, "a", 0);
  const other = open(file);
  other.exec("begin immediate");
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 5);
  await expect(write(store, "b", 0)).rejects.toThrow(/locked|did not answer/);
  clearInterval(turn);
  expect(turns).toBeGreaterThan(5);
  const waiting = write(storeIn(file), "b", 0);
  other.exec("commit");
  expect(await waiting).toBe("ok");
});

it("notices that its file was replaced, and remembers from then on", async () => {
  const file = newFile();
  const store = storeIn(file);
  await write(store, "a", 0);
  const before = await store.read(["a"]);
  for (const end of ["", "-wal", "-shm"]) renameSync(file + end, `${file}.old${end}`);
  await expect(store.commit({ writes: [] })).rejects.toThrow("has been replaced");
  const after = await store.read(["a"]);
  expect(after.entries).toEqual([undefined]);
  expect(after.since).toBeGreaterThan(before.since);
});

it("goes on after a statement has failed", async () => {
  const file = newFile();
  const store = storeIn(file);
  await write(store, "a", 0);
  const other = open(file);
  other.exec("create trigger stop before insert on tollgate_entries begin select raise(abort, 'stopped'); end");
  await expect(write(store, "b", 0)).rejects.toThrow("stopped");
  other.exec("drop trigger stop");
  expect(await write(store, "b", 0)).toBe("ok");
  expect((await store.read(["a", "b"])).entries.every(Boolean)).toBe(true);
});

it("has lost nothing that was answered when the process that wrote it is killed", async () => {
  const file = newFile();
  const script = `
    import { sqlStore } from "tollgate/store/sql";
    const store = sqlStore({ file: ${JSON.stringify(file)} });
    for (let at = 0; ; at += 1) {
      const { now } = await store.read([]);
      const result = await store.commit({ writes: [{ key: "k" + at, version: 0, value: at, expiresAt: now + 3600000 }] });
      console.log(result, at);
    }`;
  const child = await startNode(["--input-type=module", "-e", script]);
  const store = storeIn(file);
  await expect.poll(() => store.read(["k50"]).then(({ entries }) => entries[0]), { timeout: 20_000 }).toBeDefined();
  await child.kill();
  const answered = child
    .output()
    .trim()
    .split("\n")
    .filter((line) => /^ok \d+$/.test(line)).length;
  expect(answered).toBeGreaterThan(49);
  const keys = Array.from({ length: answered }, (_, at) => `k${at}`);
  const { entries } = await store.read(keys);
  expect(entries.map((entry) => entry?.value)).toEqual(keys.map((_, at) => at));
});

it("leaves a file alone that a later version has changed, or that is none of a database", async () => {
  const file = newFile();
  const store = storeIn(file);
  await store.read([]);
  open(file).exec("insert into tollgate_migrations values (99, 0)");
  const refused = await storeIn(file)
    .ready?.()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PaywallConfigError);
  for (const none of ["", ":memory:", "file::memory:?cache=shared"]) {
    expect(() => sqlStore({ file: none })).toThrow("expected the path of a file");
  }
  await expect(storeIn(join(file, "inside.db")).read([])).rejects.toThrow();
});
