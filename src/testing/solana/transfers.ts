// What money has moved on the chain, read from what each transaction did to balances and not from what it says: the oracle
// of payment tests.
import type { Landed, Ledger } from "./ledger.js";
import { associatedAccount, readTokenAccount } from "./programs.js";
import type { AccountState, Svm } from "./svm.js";

/** Money that one transaction moved between two owners. */
export interface SolanaTransfer {
  readonly from: string;
  readonly to: string;
  /** Atomic units, or lamports. */
  readonly value: bigint;
  readonly transaction: string;
  readonly slot: bigint;
}

/** One of the two at least. */
export type TransferFilter =
  | { readonly to: string; readonly from?: string }
  | { readonly from: string; readonly to?: string };

/** Stands for SOL where a mint could stand. */
export const SOL = "native";

/**
 * Transfers of a mint, or of SOL, oldest first; failed transactions move nothing. A transaction counts once, from its largest
 * loser to its largest winner; with SOL the network fee is part of what the payer loses and never of `value`.
 */
export function transfersOf(ledger: Ledger, svm: Svm, asset: string, filter: TransferFilter): SolanaTransfer[] {
  const owner = "to" in filter && filter.to !== undefined ? filter.to : filter.from;
  if (owner === undefined) throw new RangeError("Name who received or who paid");
  const seen = ledger.history(asset === SOL ? owner : accountOf(svm, owner, asset));
  return [...seen]
    .reverse()
    .flatMap((landed) => transferIn(landed, asset) ?? [])
    .filter(({ from, to }) => (filter.from ?? from) === from && (filter.to ?? to) === to);
}

function accountOf(svm: Svm, owner: string, mint: string): string {
  const program = svm.account(mint)?.owner;
  if (program === undefined) throw new RangeError(`There is no mint at ${mint}`);
  return associatedAccount(owner, mint, program);
}

function transferIn(landed: Landed, asset: string): SolanaTransfer | undefined {
  if (landed.execution.err !== null) return undefined;
  const changes = [...changesOf(landed, asset)].sort(([, one], [, other]) => (one < other ? -1 : one > other ? 1 : 0));
  const [loser, winner] = [changes[0], changes.at(-1)];
  if (!loser || !winner || loser[1] >= 0n || winner[1] <= 0n) return undefined;
  const { transaction, slot } = landed;
  return { from: loser[0], to: winner[0], value: winner[1], transaction: transaction.id, slot };
}

/** By how much each owner's holdings grew. */
function changesOf({ keys, before, after }: Landed, asset: string): Map<string, bigint> {
  const changes = new Map<string, bigint>();
  const add = (owner: string, value: bigint) => changes.set(owner, (changes.get(owner) ?? 0n) + value);
  keys.all.forEach((address, index) => {
    const states = [before[index] ?? null, after[index] ?? null] as const;
    if (asset === SOL) {
      add(address, (states[1]?.lamports ?? 0n) - (states[0]?.lamports ?? 0n));
      return;
    }
    const [held, holds] = states.map((state) => holdingsOf(state, asset));
    if (held) add(held.owner, -held.amount);
    if (holds) add(holds.owner, holds.amount);
  });
  return changes;
}

function holdingsOf(state: AccountState | null, mint: string) {
  const token = readTokenAccount(state);
  return token?.mint === mint ? token : undefined;
}
