// A store that comes back empty has forgotten what was bought, and a node that is some blocks behind has not seen it yet. Both at once:
// the same proof is granted once and debited once, and whoever has paid gets no second bill.
import { describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "../../src/store/redis.js";
import { sqlStore } from "../../src/store/sql.js";
import { createSandbox, readChallenge, signPayment } from "../../src/testing/index.js";
import { openWire } from "../rig/wire.js";
import { noPostgres, startPostgres } from "../support/postgres.js";
import { noRedis, startRedis } from "../support/redis.js";
import { type Fault, fault, startScriptedRpc } from "../support/scripted-rpc.js";
import { type Got, send, startSeller } from "./seller.js";

const KEY = "retry-key-0123456789";
const HOUR_MS = 3_600_000;

/** Stores that can be emptied, and that look as if they had remembered for an hour: blocks tell time in whole seconds. */
const STORES = [
  {
    name: "Redis",
    absent: noRedis,
    async open() {
      const server = await startRedis();
      const store = redisStore({ url: server.url });
      const { now } = await store.read([]);
      await server.command("HSET", "{tollgate}:meta", "since", String(now - HOUR_MS));
      return { store, stop: () => server.stop(), empty: () => server.restart() };
    },
  },
  {
    name: "a replica of Redis that lacks the last writes",
    absent: noRedis,
    async open() {
      const first = await startRedis();
      const replica = await startRedis(["--replicaof", `127.0.0.1 ${first.port}`]);
      const wire = await openWire(first.url);
      const store = redisStore({ url: wire.url });
      const { now } = await store.read([]);
      await first.command("HSET", "{tollgate}:meta", "since", String(now - HOUR_MS));
      const copied = () => replica.command("HGET", "{tollgate}:meta", "since");
      await expect.poll(copied, { timeout: 20_000 }).toBe(String(now - HOUR_MS));
      // From here on it is behind; it is promoted at its primary's end.
      await replica.command("REPLICAOF", "NO", "ONE");
      return {
        store,
        async stop() {
          await wire.close();
          await Promise.all([first.stop(), replica.stop()]);
        },
        async empty() {
          await first.kill();
          wire.turnTo(replica.url);
        },
      };
    },
  },
  {
    name: "PostgreSQL",
    absent: noPostgres,
    async open() {
      const server = await startPostgres();
      const url = await server.newSchema();
      const store = sqlStore({ url });
      await store.read([]);
      await server.query(`update tollgate_meta set since = since - ${HOUR_MS}`, url);
      return {
        store,
        stop: () => server.stop(),
        async empty() {
          await server.query(
            "drop table tollgate_meta, tollgate_entries, tollgate_members, tollgate_migrations; drop sequence tollgate_version",
            url,
          );
        },
      };
    },
  },
  {
    name: "a standby of PostgreSQL that lacks the last writes",
    absent: noPostgres,
    async open() {
      const server = await startPostgres();
      const url = await server.newSchema();
      const store = sqlStore({ url });
      await store.read([]);
      await server.query(`update tollgate_meta set since = since - ${HOUR_MS}`, url);
      // From here on it is behind.
      await server.makeStandby();
      return { store, stop: () => server.stop(), empty: () => server.failOver() };
    },
  },
] as const;

type Kind = (typeof STORES)[number];

async function openWorld(kind: Kind) {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  const { store, stop, empty } = await kind.open();
  onTestFinished(stop);
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  onTestFinished(() => rpc.close());
  const account = await sandbox.newBuyer();
  // As a node that is behind knows the buyer, too.
  await sandbox.chain.mine(8);
  const { payTo, network } = sandbox;
  const receive = sandbox.receive({ rpcUrl: rpc.url });
  const seller = await startSeller("Express 5", { payTo, network, receive, store, handlerTimeoutMs: 5_000 });
  onTestFinished(() => seller.close());
  await seller.ready();
  const challenge = await readChallenge(await fetch(`${seller.url}/report`), 2);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("no offer");
  const payment = await signPayment({ account, offer, version: 2, challenge, retryKey: KEY });
  const buy = async (): Promise<Got> => {
    const got = await send(`${seller.url}/report`, { headers: payment.headers });
    if (!got) throw new Error("the connection was cut");
    return got;
  };
  const debits = async () => (await sandbox.token.transfers({ to: payTo })).length;
  return { sandbox, rpc, seller, store, empty, buy, debits };
}

describe.each(STORES)("a store in $name that comes back without what was written", (kind) => {
  const skipped = kind.absent();

  it.skipIf(skipped)("while the node has not seen yet what was bought", { timeout: 60_000 }, async () => {
    const { sandbox, rpc, empty, buy, debits, seller, store } = await openWorld(kind);
    expect((await buy()).body).toBe("the goods");
    // Blocks tell whole seconds: what is to be older than the new memory is so by two of them.
    const mined = (await sandbox.chain.time()) * 1_000;
    await expect.poll(() => Date.now() - mined).toBeGreaterThan(2_000);
    await empty();
    await expect
      .poll(
        () =>
          store.read([]).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    // Behind until something new is sent: what a node says after that is of the whole chain.
    let isBehind = true;
    const behind: Fault = (context) => {
      if (context.call.method === "eth_sendRawTransaction") isBehind = false;
      return isBehind ? fault.stale(5)(context) : fault.pass()(context);
    };
    rpc.script("*", behind, Number.POSITIVE_INFINITY);
    const got = await buy();
    expect([got.status, got.json.code]).toEqual([409, "payment_too_old"]);
    expect(got.headers["payment-required"]).toBeUndefined();
    // And again, by a node that has seen it, and by whatever looks in the background.
    expect(await buy()).toMatchObject({ status: 409, json: { code: "payment_too_old" } });
    expect([seller.runs.length, await debits()]).toEqual([2, 1]);
  });
});
