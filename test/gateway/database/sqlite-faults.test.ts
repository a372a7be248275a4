// A gateway's SQLite file that is new, backed up, replaced, of a later version, or written by a process that is killed.
import { existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, it, onTestFinished } from "vitest";
import { PaywallConfigError } from "../../../src/errors.js";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import { sqlStore } from "../../../src/store/sql.js";
import { runNode } from "../../support/process.js";
import { newFile } from "./ground.js";
import { NETWORK, newAccount, newPayment, recordOf, SENDER } from "./payments-made.js";
import { idsOf, startWriter } from "./writer.js";

async function open(file: string): Promise<GatewayDatabase> {
  const database = await openDatabase({ file });
  onTestFinished(() => database.close());
  return database;
}
/** The file as another program has it. */
function openRaw(file: string): Database.Database {
  const database = new Database(file, { timeout: 1000 });
  onTestFinished(() => void database.close());
  return database;
}

describe("a gateway's database in SQLite", () => {
  it("is made once by several that open it at the same time, and keeps what it has when it is opened again", async () => {
    const file = newFile();
    const databases = await Promise.all(Array.from({ length: 4 }, () => open(file)));
    const account = await newAccount(databases[0]!);
    await databases[0]!.close();
    const again = await open(file);
    expect(await again.accounts.get(account)).toBeDefined();
    const steps = openRaw(file).prepare("select id from gateway_migrations order by id").all() as { id: number }[];
    expect(steps.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("stands beside the store of a paywall in one file", async () => {
    const file = newFile();
    const store = sqlStore({ file });
    onTestFinished(() => store.close());
    await store.read([]);
    const database = await open(file);
    expect(await database.accounts.get(await newAccount(database))).toBeDefined();
    expect((await store.read(["a"])).entries).toEqual([undefined]);
  });

  it("is left alone where a later version has changed it, and is never in memory", async () => {
    const file = newFile();
    await open(file);
    openRaw(file).exec("insert into gateway_migrations values (99, 0)");
    const refused = await openDatabase({ file }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).toMatch(/database: the database holds a gateway of a later version.*update the package/);
    for (const none of ["", ":memory:", "file::memory:?cache=shared"]) {
      await expect(openDatabase({ file: none })).rejects.toThrow("expected the path of a file");
    }
  });

  it("can be read by its owner alone, and so can a backup", async () => {
    const file = newFile();
    const database = await open(file);
    await database.backup(`${file}.copy`);
    for (const one of [file, `${file}-wal`, `${file}.copy`]) expect(statSync(one).mode & 0o077).toBe(0);
  });

  it("takes no lock away from those who have it open already: another process that ends leaves their log alone", async () => {
    const file = newFile();
    const [database] = [await open(file), await open(file)];
    const script = `
      const Database = require(process.argv[1]);
      const database = new Database(process.argv[2]);
      database.exec("pragma journal_mode = wal");
      console.log(JSON.stringify(database.prepare("select count(*) as found from gateway_accounts").all()));
      database.close();`;
    const lookElsewhere = async () => {
      const { stdout } = await runNode(["-e", script, createRequire(import.meta.url).resolve("libsql"), file]);
      return JSON.parse(stdout) as unknown;
    };
    for (let found = 1; found < 4; found += 1) {
      await newAccount(database);
      expect(await lookElsewhere()).toEqual([{ found }]);
      expect(existsSync(`${file}-wal`)).toBe(true);
    }
  });

  it("is backed up while it is written, as of one moment, into a new file only", async () => {
    const file = newFile();
    const database = await open(file);
    const account = await newAccount(database);
    const insert = () => database.payments.insert(newPayment(account));
    const before = await Promise.all(Array.from({ length: 20 }, insert));
    const [during] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, insert)),
      database.backup(`${file}.copy`),
    ]);
    const copy = await open(`${file}.copy`);
    for (const made of before.map(recordOf)) expect(await copy.payments.get(made.id)).toEqual(made);
    const kept = await Promise.all(during.map(recordOf).map(({ id }) => copy.payments.get(id)));
    expect(await copy.events.latest(account)).toBe(20 + kept.filter(Boolean).length);
    await expect(database.backup(`${file}.copy`)).rejects.toThrow("overwrites nothing");
    await expect(database.backup(file)).rejects.toThrow("overwrites nothing");
    await expect(database.backup(join(file, "inside"))).rejects.toThrow();
    expect(recordOf(await insert()).account).toBe(account);
  });

  it("goes on after a statement has failed, and nothing of that transaction is there", async () => {
    const file = newFile();
    const database = await open(file);
    const account = await newAccount(database);
    const raw = openRaw(file);
    raw.exec("create trigger stop before update on gateway_accounts begin select raise(abort, 'stopped'); end");
    const nonce = { network: NETWORK, address: SENDER, next: 0 };
    await expect(
      database.payments.insert(newPayment(account, { idempotency: "i", proofId: "p" }), { nonce }),
    ).rejects.toThrow("stopped");
    raw.exec("drop trigger stop");
    expect(await database.payments.byIdempotency("i")).toBeUndefined();
    expect(await database.payments.byProof("p")).toBeUndefined();
    expect(await database.nonces.take(NETWORK, SENDER, 0)).toBe(0);
    const made = recordOf(await database.payments.insert(newPayment(account, { idempotency: "i", proofId: "p" })));
    expect(await database.payments.historyOf(made.id)).toHaveLength(1);
    expect(await database.events.latest(account)).toBe(1);
  });

  it("makes another key where the public part of one is taken already", async () => {
    const file = newFile();
    const database = await open(file);
    const account = await newAccount(database);
    const raw = openRaw(file);
    // The first two are refused as a row that is there already is.
    raw.exec(`create table tried (prefix text);
      create trigger taken before insert on gateway_keys when (select count(*) from tried) < 2
      begin insert into tried values (new.prefix); select raise(ignore); end`);
    const made = { account, name: "k", mode: "test", plan: "standard", scopes: [] } as const;
    const { key } = await database.keys.create(made);
    expect(await database.keys.list(account)).toEqual([key]);
    const tried = raw.prepare("select prefix from tried").all() as { prefix: string }[];
    expect(new Set([...tried.map(({ prefix }) => prefix), key.prefix]).size).toBe(3);
  });

  it("refuses all work where its file was replaced: another one does not know what was paid", async () => {
    const file = newFile();
    const database = await open(file);
    const account = await newAccount(database);
    for (const end of ["", "-wal", "-shm"]) renameSync(file + end, `${file}.old${end}`);
    await expect(database.payments.insert(newPayment(account))).rejects.toThrow("has been replaced");
    writeFileSync(file, "");
    await expect(database.payments.insert(newPayment(account))).rejects.toThrow("has been replaced");
  });

  it("rejects where it was closed, and where it is asked in the middle of its own transaction", async () => {
    const database = await open(newFile());
    const account = await newAccount(database);
    const complete = async () => {
      await database.payments.get("pay_1");
      return newPayment(account);
    };
    await expect(database.payments.insert(newPayment(account), { complete })).rejects.toThrow("its own transaction");
    expect(recordOf(await database.payments.insert(newPayment(account))).version).toBe(1);
    await database.close();
    await expect(database.ping()).rejects.toThrow("closed");
  });

  it("has everything that was answered, and nothing by halves, when the process that wrote it is killed", async () => {
    const file = newFile();
    const database = await open(file);
    const account = await newAccount(database);
    const writer = await startWriter({ file }, account);
    // This process writes too, with nonces of the same sender.
    const own = [];
    while (idsOf(writer).length < 30) own.push(await database.nonces.take(NETWORK, SENDER, 0));
    await writer.kill();
    const answered = await Promise.all(idsOf(writer).map((id) => database.payments.get(id)));
    expect(answered.every((payment) => payment?.status === "submitted")).toBe(true);
    const all = await database.payments.page(account, "test", SENDER, { type: "all", limit: 100_000, offset: 0 });
    const nonces = all.payments.map(({ signature }) => Number(signature?.slice("nonce ".length)));
    expect(new Set([...nonces, ...own]).size).toBe(nonces.length + own.length);
    const steps = all.payments.flatMap(({ history }) => history.length);
    expect(steps.every((count) => count > 0)).toBe(true);
    expect(await database.events.latest(account)).toBe(steps.reduce((sum, count) => sum + count, 0));
  });
});
