// All accounts that a message names, those of its lookup tables included, in the order of its indexes.
import { AddressLookupTableAccount, type VersionedMessage } from "@solana/web3.js";
import type { AccountState } from "./svm.js";

export interface AccountKeys {
  /** Static keys, then loaded writable ones, then loaded read-only ones. */
  readonly all: readonly string[];
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly isWritable: (index: number) => boolean;
}

/** An entry of a table that cannot be read is left out: the machine refuses such a transaction itself. */
export function accountKeysOf(
  message: VersionedMessage,
  account: (address: string) => AccountState | null,
): AccountKeys {
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const lookup of message.addressTableLookups) {
    const table = account(lookup.accountKey.toBase58());
    if (table === null || table.data.length < 56) continue;
    const { addresses } = AddressLookupTableAccount.deserialize(table.data);
    const pick = (indexes: readonly number[]) => indexes.flatMap((index) => addresses[index]?.toBase58() ?? []);
    writable.push(...pick(lookup.writableIndexes));
    readonly.push(...pick(lookup.readonlyIndexes));
  }
  const fixed = message.staticAccountKeys.map((key) => key.toBase58());
  return {
    all: [...fixed, ...writable, ...readonly],
    loaded: { writable, readonly },
    isWritable: (index) => message.isAccountWritable(index),
  };
}
