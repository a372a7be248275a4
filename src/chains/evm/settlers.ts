// The keys that pay gas on one network: taken in turn, the unfunded and the faulty rest for a while. Keys stay inside the
// accounts; nothing here logs or returns one.
import type { Fees } from "./fees.js";
import { type Hex, isHex } from "./hex.js";
import { createNonces, type NonceSource, type Nonces } from "./nonces.js";

/** What a settler signs. Wei. */
export type GasTransaction = Fees & {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
};

/** Whoever signs transactions: every viem account that holds its key, or an object of the same form (a KMS, an HSM). */
export interface SettlerAccount {
  readonly address: Hex;
  signTransaction(transaction: GasTransaction): Promise<Hex>;
}

export interface Settler {
  readonly address: Hex;
  readonly nonces: NonceSource;
  sign(transaction: GasTransaction): Promise<Hex>;
  /** Wei that settlements under way may still burn. */
  reserved: bigint;
  /** Epoch milliseconds until which others go first. */
  restsUntil: number;
}

export interface Settlers {
  readonly all: readonly Settler[];
  /** Simulations for verification come from this one. */
  readonly first: Settler;
  /** All of them, the one whose turn it is first and those that rest last. */
  turn(now: number): readonly Settler[];
}

/** How long an unfunded or faulty settler goes last. */
export const REST_MS = 30_000;

/** Gives the nonces of a settler, by address. */
export type NoncesOf = (address: Hex) => NonceSource;

// Invariant: one allocator per chain node and address in this process, so that two receivers with one key do not collide.
// The node is part of the key because two local chains may share a chain id.
const allocators = new Map<string, Nonces>();

function noncesOf(chainId: number, node: string, address: Hex): Nonces {
  const key = `${chainId}|${node}|${address.toLowerCase()}`;
  const nonces = allocators.get(key) ?? createNonces();
  allocators.set(key, nonces);
  return nonces;
}

/** `shared`: where the nonces come from when other processes send with the same keys; absent = this process counts alone. */
export function createSettlers(
  accounts: readonly SettlerAccount[],
  chainId: number,
  node: string,
  shared?: NoncesOf,
): Settlers {
  const all = accounts.map((account): Settler => {
    const { address } = account;
    return {
      address,
      nonces: shared?.(address) ?? noncesOf(chainId, node, address),
      sign: (transaction) => account.signTransaction(transaction),
      reserved: 0n,
      restsUntil: 0,
    };
  });
  const [first] = all;
  if (!first) throw new RangeError("a network needs at least one settler");
  let turn = 0;
  return {
    all,
    first,
    turn(now) {
      const start = turn++ % all.length;
      const order = [...all.slice(start), ...all.slice(0, start)];
      return [...order.filter((one) => one.restsUntil <= now), ...order.filter((one) => one.restsUntil > now)];
    },
  };
}

/** Says which package is missing, in a sentence for the seller. */
export const MISSING_VIEM = "Settling on EVM chains needs the package viem: npm install viem";

/**
 * Accounts of keys and of accounts as given. viem is loaded only where a key has to become an account.
 * Rejects with MISSING_VIEM, or with a sentence that does not hold the key.
 */
export async function toAccounts(settlers: readonly (Hex | SettlerAccount)[]): Promise<SettlerAccount[]> {
  const accounts: SettlerAccount[] = [];
  for (const settler of settlers) {
    if (typeof settler !== "string") accounts.push(settler);
    else accounts.push(await fromKey(settler));
  }
  return accounts;
}

async function fromKey(key: Hex): Promise<SettlerAccount> {
  const { privateKeyToAccount } = await import("viem/accounts").catch((cause: unknown) => {
    throw new Error(MISSING_VIEM, { cause });
  });
  // No cause here: the library's message would show the key.
  if (!isHex(key, 32)) throw new Error("A settler key must be 0x and 64 hex digits");
  try {
    return privateKeyToAccount(key);
  } catch {
    throw new Error("A settler key is not a valid secp256k1 key: it is zero or too large");
  }
}
