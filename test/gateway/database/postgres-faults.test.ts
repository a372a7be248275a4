// A gateway's Postgres that breaks transactions off, cuts connections, starts anew or is set up otherwise. The faults happen in
// the server itself.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PaywallConfigError } from "../../../src/errors.js";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import { sqlStore } from "../../../src/store/sql.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import {
  NETWORK,
  newAccount,
  newPayment,
  newReceived,
  newWallet,
  RECIPIENT,
  recordOf,
  SENDER,
} from "./payments-made.js";
import { idsOf, startWriter } from "./writer.js";

let server: PostgresServer;

async function open(url: string): Promise<GatewayDatabase> {
  const database = await openDatabase({ url });
  onTestFinished(() => database.close());
  return database;
}
/** Makes the server itself do `body` for the first `times` events that are written: the last thing in a transaction. */
const sabotage = (url: string, times: number, body: string) =>
  server.query(
    `create sequence sabotaged;
     create function sabotage() returns trigger language plpgsql as $$
     begin if nextval('sabotaged') <= ${times} then ${body} end if; return new; end $$;
     create trigger sabotage before insert on gateway_events for each row execute function sabotage()`,
    url,
  );
const nonce = { network: NETWORK, address: SENDER, next: 4 };

describe.skipIf(noPostgres())("a gateway's database in PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it("is made once by several that open it at the same time, and keeps what it has when it is opened again", async () => {
    const url = await server.newSchema();
    const databases = await Promise.all(Array.from({ length: 6 }, () => open(url)));
    const account = await newAccount(databases[0]!);
    const again = await open(url);
    expect(await again.accounts.get(account)).toBeDefined();
    expect(await server.query("select id from gateway_migrations order by id", url)).toEqual([
      { id: 1 },
      { id: 2 },
      { id: 3 },
      { id: 4 },
      { id: 5 },
      { id: 6 },
    ]);
    await server.query("insert into gateway_migrations values (99, 0)", url);
    const refused = await openDatabase({ url }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).toMatch(/database: the database holds a gateway of a later version.*update the package/);
  });

  it("stands beside the store of a paywall in one schema", async () => {
    const url = await server.newSchema();
    const store = sqlStore({ url });
    onTestFinished(() => store.close());
    await Promise.all([store.read([]), open(url)]);
    expect((await store.read(["a"])).entries).toEqual([undefined]);
  });

  it.each(["40001", "40P01", "55P03"])("tries an insertion again that the server broke off with %s", async (code) => {
    const url = await server.newSchema();
    const database = await open(url);
    const account = await newAccount(database);
    await newWallet(database, account);
    await sabotage(url, 3, `raise exception 'broken off' using errcode = '${code}';`);
    const taken: unknown[] = [];
    const complete = async (given: number | undefined) => {
      taken.push(given);
      return { ...newPayment(account), signature: `0x${given}` };
    };
    const spend = { wallet: `wal_${account.slice(4)}`, network: NETWORK, asset: "native", amount: 1_000n };
    const made = recordOf(await database.payments.insert(newPayment(account), { nonce, spend, complete }));
    // It was signed four times, always with the nonce that was undone; one of them is the record.
    expect(taken).toEqual([4, 4, 4, 4]);
    expect(made.signature).toBe("0x4");
    const rows =
      "select (select count(*) from gateway_payments) as payments, (select count(*) from gateway_spending) as spent";
    expect(await server.query(rows, url)).toEqual([{ payments: "1", spent: "1" }]);
    expect((await database.payments.change(made, "submitted", {}))?.version).toBe(2);
    expect(await database.events.latest(account)).toBe(2);
  });

  it("gives up where the server breaks it off for ever, and nothing is written", async () => {
    const url = await server.newSchema();
    const database = await open(url);
    const account = await newAccount(database);
    const before = recordOf(await database.payments.insert(newPayment(account)));
    await sabotage(url, 1000, "raise exception 'broken off' using errcode = '40001';");
    await expect(database.payments.insert(newPayment(account, { proofId: "p" }), { nonce })).rejects.toThrow(
      "broken off",
    );
    await expect(database.payments.change(before, "submitted", {})).rejects.toThrow("broken off");
    expect(await database.payments.get(before.id)).toEqual(before);
    expect(await database.payments.byProof("p")).toBeUndefined();
    expect(await database.nonces.take(NETWORK, SENDER, 4)).toBe(4);
  });

  it("has undone everything where the connection is cut in the middle, and works on the next one", async () => {
    const url = await server.newSchema();
    const database = await open(url);
    const account = await newAccount(database);
    await sabotage(url, 1, "perform pg_terminate_backend(pg_backend_pid());");
    const made = newReceived(account, { proofId: "p", idempotency: "i" });
    await expect(database.payments.insert(made, { nonce })).rejects.toThrow();
    expect(await database.payments.byIdempotency("i")).toBeUndefined();
    expect(await database.nonces.take(NETWORK, SENDER, 4)).toBe(4);
    const payment = recordOf(await database.payments.insert(made));
    expect(await database.events.latest(account)).toBe(1);
    expect(await database.payments.byProof("p")).toEqual(payment);
  });

  it("is the same after the server has started anew", async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const database = await open(own.url);
    const account = await newAccount(database);
    const payment = recordOf(await database.payments.insert(newPayment(account)));
    await own.kill();
    await expect(database.ping()).rejects.toThrow();
    await own.restart();
    await expect
      .poll(
        () =>
          database.ping().then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    expect(await database.payments.get(payment.id)).toEqual(payment);
  });

  it("works where transactions are serializable by default, and waits for the disk where it usually does not", async () => {
    const url = await server.newSchema();
    const settings = "-c default_transaction_isolation=serializable -c synchronous_commit=off";
    const odd = `${url}${encodeURIComponent(` ${settings}`)}`;
    const [database, another] = [await open(odd), await open(odd)];
    await server.query(
      `create table seen (setting text); create function see() returns trigger language plpgsql as
       $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
       create trigger see before insert on gateway_payments for each row execute function see()`,
      url,
    );
    const account = await newAccount(database);
    const wallet = await newWallet(database, account);
    const spend = { wallet, network: NETWORK, asset: "native", amount: 500n };
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        (at % 2 ? database : another).payments.insert(newPayment(account, { idempotency: `${at % 8}` }), {
          nonce,
          spend,
        }),
      ),
    );
    const counts = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
    expect(counts("ok")).toBe(5);
    expect(counts("repeated") + counts("over_limit")).toBe(19);
    const seen = await server.query("select distinct setting from seen", url);
    expect(seen).toEqual([{ setting: "on" }]);
  });

  it("never waits in a circle, whatever two instances do to the same payments, wallets and nonces", async () => {
    const url = await server.newSchema();
    const both = [await open(url), await open(url)];
    const account = await newAccount(both[0]!);
    const wallet = await newWallet(both[0]!, account, { perDay: 1_000_000n });
    const deadlocks = "select sum(deadlocks) as found from pg_stat_database";
    const before = await server.query(deadlocks);
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const database = both[at % 2]!;
        const spend = { wallet, network: NETWORK, asset: "native", amount: 1n };
        const made = newPayment(account, { idempotency: `${at % 20}`, proofId: `p${at % 15}`, dueAt: 0 });
        const result = await database.payments.insert(made, { nonce, spend });
        if (result.outcome === "over_limit") throw new Error("the limit is far away");
        await database.payments.takeDue(3, 1);
        const latest = await database.payments.get(result.payment.id);
        if (latest?.status === "created") await database.payments.change(latest, at % 3 ? "submitted" : "failed", {});
        await database.nonces.giveBack(NETWORK, SENDER, at % 7);
      }),
    );
    const { payments } = await both[0]!.payments.page(account, "test", SENDER, { type: "all", limit: 500, offset: 0 });
    const steps = payments.reduce((sum, { history }) => sum + history.length, 0);
    expect(await both[0]!.events.latest(account)).toBe(steps);
    // What a connection has counted is sure to be told when it ends.
    for (const database of both) await database.close();
    const connected = "select 1 from pg_stat_activity where application_name = 'tollgate'";
    await expect.poll(() => server.query(connected)).toEqual([]);
    expect(await server.query(deadlocks)).toEqual(before);
  });

  it("lets no wallet in while the others are sealed anew: its key would stay under the old passphrase", async () => {
    const url = await server.newSchema();
    const [database, another] = [await open(url), await open(url)];
    const accounts = [await newAccount(database), await newAccount(database)];
    await database.wallets.createVault({ salt: "old", check: "old" });
    await newWallet(database, accounts[0]!);
    const stranger = new pg.Client(url);
    await stranger.connect();
    onTestFinished(() => stranger.end());
    await stranger.query("begin");
    await stranger.query("select * from gateway_wallets for update");
    const waiting = async () => {
      const rows = await server.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length;
    };
    const sealing = database.wallets.resealAll({ salt: "new", check: "new" }, () => "new key");
    await expect.poll(waiting).toBe(1);
    const facts = {
      mode: "test",
      family: "evm",
      address: RECIPIENT,
      name: "late",
      sealedKey: "k",
      limits: [],
    } as const;
    let vault: unknown = "not lodged yet";
    const lodging = another.wallets.create({ ...facts, id: "wal_late", account: accounts[1]! }).then(async (wallet) => {
      vault = await another.wallets.readVault();
      return wallet;
    });
    await expect.poll(async () => (await waiting()) === 2 || vault !== "not lodged yet").toBe(true);
    expect(vault).toBe("not lodged yet");
    await stranger.query("rollback");
    expect(await sealing).toBe(1);
    expect(await lodging).toMatchObject({ id: "wal_late" });
    expect(vault).toEqual({ salt: "new", check: "new" });
  });

  it("is backed up by its own program, as the refusal says", async () => {
    const database = await open(await server.newSchema());
    await expect(database.backup("copy.db")).rejects.toThrow("pg_dump");
  });

  it("has everything that was answered, and nothing by halves, when the process that wrote it is killed", async () => {
    const url = await server.newSchema();
    const database = await open(url);
    const account = await newAccount(database);
    const writers = await Promise.all([startWriter({ url }, account), startWriter({ url }, account)]);
    await expect.poll(() => writers.every((writer) => idsOf(writer).length > 20), { timeout: 20_000 }).toBe(true);
    for (const writer of writers) await writer.kill();
    const ids = writers.flatMap(idsOf);
    const answered = await Promise.all(ids.map((id) => database.payments.get(id)));
    expect(answered.every((payment) => payment?.status === "submitted")).toBe(true);
    const all = await database.payments.page(account, "test", SENDER, { type: "all", limit: 1000, offset: 0 });
    expect(new Set(all.payments.map(({ signature }) => signature)).size).toBe(all.total);
    const steps = all.payments.reduce((sum, { history }) => sum + history.length, 0);
    expect(await database.events.latest(account)).toBe(steps);
  });
});
