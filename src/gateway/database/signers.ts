// Wallets that sign in to the dashboard and sign for what widens what money can do there. To show by a key that a wallet is one's
// own does not make it one of them: that key may be held by a server that only receives.
import { proveAddress } from "./accounts.js";
import { spellAddress } from "./address.js";
import type { GatewayConnection } from "./connection.js";
import type { GatewayWork } from "./tables.js";

export interface ProvenAddress {
  /** EVM in lower case. */
  readonly address: string;
  readonly provenAt: number;
  readonly signsIn: boolean;
}

/** Whoever holds a key that only receives can show any number of wallets to be the account's. */
const MAX_LISTED = 200;

export interface Signers {
  /** Addresses that the account has shown to be its own: those that sign, then the oldest, up to 200. */
  list(account: string): Promise<readonly ProvenAddress[]>;
  /** False = another account has shown that the address is its own. */
  add(account: string, address: string): Promise<boolean>;
  /** It stays the account's own, and signs for nothing any more. */
  remove(account: string, address: string): Promise<void>;
  /** The account that this address signs for. */
  accountOf(address: string): Promise<string | undefined>;
}

export function createSigners({ read, write }: GatewayConnection): Signers {
  const mark = (account: string, address: string, signsIn: 0 | 1) =>
    write(async (db, now) => {
      if (signsIn === 1 && !(await proveAddress(db, account, address, now))) return false;
      const marked = await db
        .updateTable("gateway_addresses")
        .set({ signs_in: signsIn })
        .where("address", "=", spellAddress(address))
        .where("account", "=", account)
        .executeTakeFirstOrThrow();
      return marked.numUpdatedRows === 1n;
    });
  return {
    async list(account) {
      const rows = await read((db) =>
        db
          .selectFrom("gateway_addresses")
          .select(["address", "proven_at", "signs_in"])
          .where("account", "=", account)
          .orderBy("signs_in", "desc")
          .orderBy("proven_at")
          .orderBy("address")
          .limit(MAX_LISTED)
          .execute(),
      );
      return rows.map((row) => ({
        address: row.address,
        provenAt: Number(row.proven_at),
        signsIn: Number(row.signs_in) === 1,
      }));
    },
    add: (account, address) => mark(account, address, 1),
    remove: async (account, address) => void (await mark(account, address, 0)),
    async accountOf(address) {
      const row = await read((db) =>
        db
          .selectFrom("gateway_addresses")
          .select("account")
          .where("address", "=", spellAddress(address))
          .where("signs_in", "=", 1)
          .executeTakeFirst(),
      );
      return row?.account;
    },
  };
}

/** Does this address sign for the account? It stays so until the transaction ends. */
export async function signsFor(db: GatewayWork, account: string, address: string, locks: boolean): Promise<boolean> {
  const row = await db
    .selectFrom("gateway_addresses")
    .select("address")
    .where("address", "=", spellAddress(address))
    .where("account", "=", account)
    .where("signs_in", "=", 1)
    .$if(locks, (query) => query.forShare())
    .executeTakeFirst();
  return row !== undefined;
}
