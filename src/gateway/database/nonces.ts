// Account nonces of keys that several processes send with. Whatever the chain's nodes say, a nonce has one holder:
//
//   below floor        seen by the chain, as its highest answer of late says; nothing is kept of them
//   from floor on      a row = taken; no row = free (never taken, or given back)
//
// Invariant: `take` gives the lowest free one, so no gap stays while somebody sends. A node that lags behind names a lower `next`
// than another has: the floor stays where it is, unless a reorganisation has taken used nonces back, or nobody has seen it so high
// for two minutes (the chain has dropped what waited). And a nonce that was taken two minutes ago, and that the chain does not know
// of, counts as given back: its holder has died, or finds out that another transaction has its nonce and numbers its own anew.
import type { UpdateObject } from "kysely";
import { isTakenBack, type Seen, withUsed } from "../../chains/evm/nonces.js";
import { spellAddress } from "./address.js";
import type { GatewayConnection } from "./connection.js";
import type { AccountNonces } from "./database.js";
import type { GatewayTables, GatewayWork } from "./tables.js";

const LOST_MS = 2 * 60_000;
/** At most so many are named at once. */
const MAX_GAPS = 100;

interface Sender {
  readonly network: string;
  readonly address: string;
}

interface SenderState {
  readonly floor: number;
  readonly floorAt: number;
  /** Until which nonce all were used in blocks up to that one, and when that was heard of. */
  readonly seen: Seen;
}

/** Of a node that tells no block only time shows that it is not behind. */
const NO_BLOCK = -1n;

/** Invariant: one key has one row, however its address is written. */
const senderOf = (network: string, address: string): Sender => ({ network, address: spellAddress(address) });

/** @throws RangeError for a nonce that is no whole number from 0. */
export function createNonces(connection: GatewayConnection): AccountNonces {
  return {
    take: (network, address, next, block) =>
      connection.write((db) => takeNonce(connection, db, { network, address, next, block })),
    giveBack: (network, address, nonce) =>
      connection.write(async (db) => {
        const sender = senderOf(network, address);
        await lockSender(db, sender, 0);
        await db
          .deleteFrom("gateway_nonces")
          .where("network", "=", sender.network)
          .where("address", "=", sender.address)
          .where("nonce", "=", checkNonce(nonce))
          .execute();
      }),
    done: (network, address, nonce, block) =>
      connection.write(async (db, now) => {
        const sender = senderOf(network, address);
        const { floor, seen } = await lockSender(db, sender, 0);
        // A chain that has used a nonce has used all before it.
        if (checkNonce(nonce) >= floor) await raiseFloor(connection, db, sender, nonce + 1);
        const news = withUsed(seen, nonce, block, now);
        if (!news) return;
        await updateSender(db, sender, { used: news.used, block: Number(news.block), block_at: news.at });
      }),
    gaps: (network, address) => connection.read((db) => gapsOf(db, senderOf(network, address))),
  };
}

/** A nonce for a transaction that is made in this database transaction: taken with it, or not at all. */
export async function takeNonce(
  connection: GatewayConnection,
  db: GatewayWork,
  { network, address, next, block }: Sender & { readonly next: number; readonly block?: bigint | undefined },
): Promise<number> {
  const sender = senderOf(network, address);
  checkNonce(next);
  const { floor, floorAt, seen } = await lockSender(db, sender, next);
  const now = await timeNow(connection, db);
  // Invariant: nonces that a reorganisation took back are used anew, or all that comes later waits for them.
  const takenBack = isTakenBack({ count: next, block: block ?? NO_BLOCK }, seen, now);
  if (takenBack) await updateSender(db, sender, { used: next });
  const from = takenBack || next >= floor || now - floorAt > LOST_MS ? next : floor;
  if (from !== floor || next === floor) await raiseFloor(connection, db, sender, from);
  const rows = await db
    .selectFrom("gateway_nonces")
    .select(["nonce", "taken_at"])
    .where("network", "=", sender.network)
    .where("address", "=", sender.address)
    .where("nonce", ">=", from)
    .execute();
  const held = new Set(rows.filter((row) => now - Number(row.taken_at) <= LOST_MS).map((row) => Number(row.nonce)));
  let nonce = from;
  while (held.has(nonce)) nonce += 1;
  await db
    .insertInto("gateway_nonces")
    .values({ ...sender, nonce, taken_at: now })
    .onConflict((on) => on.columns(["network", "address", "nonce"]).doUpdateSet({ taken_at: now }))
    .execute();
  return nonce;
}

/** The sender's row, made where there is none, and locked until the transaction ends. */
async function lockSender(db: GatewayWork, { network, address }: Sender, floor: number): Promise<SenderState> {
  const row = await db
    .insertInto("gateway_senders")
    .values({ network, address, floor, floor_at: 0 })
    .onConflict((on) => on.columns(["network", "address"]).doUpdateSet({ network }))
    .returning(["floor", "floor_at", "used", "block", "block_at"])
    .executeTakeFirstOrThrow();
  const seen = { used: Number(row.used), block: BigInt(row.block), at: Number(row.block_at) };
  return { floor: Number(row.floor), floorAt: Number(row.floor_at), seen };
}

const updateSender = (
  db: GatewayWork,
  { network, address }: Sender,
  change: UpdateObject<GatewayTables, "gateway_senders">,
) =>
  db.updateTable("gateway_senders").set(change).where("network", "=", network).where("address", "=", address).execute();

/** Sets the floor (down, too, where the caller has decided so) and forgets what is below it. */
async function raiseFloor({ now }: GatewayConnection, db: GatewayWork, sender: Sender, floor: number): Promise<void> {
  const { network, address } = sender;
  await updateSender(db, sender, { floor, floor_at: now() });
  await db
    .deleteFrom("gateway_nonces")
    .where("network", "=", network)
    .where("address", "=", address)
    .where("nonce", "<", floor)
    .execute();
}

/** Read once the sender is ours: others were waited for. */
async function timeNow({ sql, now }: GatewayConnection, db: GatewayWork): Promise<number> {
  const { rows } = await sql<{ now: number | string }>`select ${now()} as now`.execute(db);
  return Number(rows[0]?.now);
}

async function gapsOf(db: Pick<GatewayWork, "selectFrom">, { network, address }: Sender): Promise<readonly number[]> {
  const sender = await db
    .selectFrom("gateway_senders")
    .select("floor")
    .where("network", "=", network)
    .where("address", "=", address)
    .executeTakeFirst();
  if (sender === undefined) return [];
  const rows = await db
    .selectFrom("gateway_nonces")
    .select("nonce")
    .where("network", "=", network)
    .where("address", "=", address)
    .execute();
  const taken = new Set(rows.map((row) => Number(row.nonce)));
  const last = Math.max(-1, ...taken);
  const gaps: number[] = [];
  for (let nonce = Number(sender.floor); nonce < last && gaps.length < MAX_GAPS; nonce += 1) {
    if (!taken.has(nonce)) gaps.push(nonce);
  }
  return gaps;
}

function checkNonce(nonce: number): number {
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new RangeError("an account nonce is a whole number from 0");
  return nonce;
}
