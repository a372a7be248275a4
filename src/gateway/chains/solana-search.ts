// Finds a transfer that its sender signed elsewhere: no id of it is known, only who sends it and the reference in its memo.
// A memo can be copied, so what bears it must also move what was built. A wallet may have added guards, another priority or
// a newer blockhash before it signed: those do not matter.
import { encodeBase58 } from "../../chains/solana/base58.js";
import { type FetchedTransaction, fetchTransaction } from "../../chains/solana/fetch.js";
import { type Entry, type Find, readPage, unproven } from "../../chains/solana/history.js";
import { readLayout } from "../../chains/solana/layout.js";
import { readNativeLayout } from "../../chains/solana/native-layout.js";
import { programAddress } from "../../chains/solana/programs.js";
import { associatedTokenAddress } from "../../chains/solana/token-account.js";
import type { Transaction } from "../../chains/solana/transaction.js";
import { MAX_UINT64 } from "../../money.js";
import { NATIVE } from "../../requirement.js";
import type { SolanaPursuit } from "../payment.js";

/** Transactions with the memo whose bytes are looked at: more than one is rare, many are somebody's game. */
const MOST_FETCHED = 20;

/** A search of the sender's transactions for what a pursuit is after: a successful one before one that failed. */
export function findByMemo(pursuit: SolanaPursuit): Find {
  return async (rpc, trace, options, search) => {
    const broken = (message: string) => ({ ...unproven(message), searched: false });
    // Invariant: a search for nothing in particular finds nothing, and that shows nothing.
    if (pursuit.reference === null || !pursuit.moves) return broken("nothing is known by which to find the transfer");
    const page = await readPage(rpc, trace, { ...options, ...search });
    if (!page.ok) return broken(page.message);
    const candidates = page.entries.filter((entry) => mayBear(entry, pursuit.reference));
    const some = candidates.slice(0, MOST_FETCHED);
    const fetched = await Promise.all(some.map(({ signature }) => fetchTransaction(rpc, signature, options)));
    const found: FetchedTransaction[] = [];
    for (const one of fetched) if (one.ok && (await isTransferOf(one.decoded, pursuit))) found.push(one);
    const best = found.find(({ error }) => error === null) ?? found[0];
    if (best) return best;
    if (fetched.some(({ ok }) => !ok)) return broken("a transaction of the sender cannot be read");
    if (!page.last || candidates.length > MOST_FETCHED) return broken("the sender has too many transactions");
    return { ...unproven("none of the sender's transactions is the transfer"), searched: true };
  };
}

/** Nodes show memos beside the ids; one that does not leaves the bytes to be looked at. */
const mayBear = ({ memo }: Entry, reference: string | null): boolean =>
  reference !== null && (memo === undefined || memo?.includes(reference) === true);

/** No limits: what its sender pays for it is his affair. */
const NO_CAPS = { maxComputeUnits: 2 ** 32, maxUnitPrice: MAX_UINT64, maxTotalFeeLamports: MAX_UINT64 };

/** Whether a transaction of the chain is the transfer that was built: paid for and sent by the sender, with memo and amount. */
export async function isTransferOf(transaction: Transaction, pursuit: SolanaPursuit): Promise<boolean> {
  const { sender, reference, moves } = pursuit;
  const { keys, lookups } = transaction;
  // Invariant: without lookups every index of an instruction is one of a key (the decoder's rule).
  if (!moves || reference === null || lookups.length > 0) return false;
  const addressAt = (index: number) => encodeBase58(keys[index]!);
  if (addressAt(0) !== sender) return false;
  const layout = moves.asset === NATIVE ? readNativeLayout(transaction) : readLayout(transaction, NO_CAPS);
  if (!layout.ok || !layout.memos.some((memo) => new TextDecoder().decode(memo) === reference)) return false;
  if ("lamports" in layout) return addressAt(layout.recipient) === moves.to && `${layout.lamports}` === moves.amount;
  const { tokenProgram, transfer, destination, authority } = layout;
  const expected = await associatedTokenAddress(moves.to, moves.asset, programAddress(tokenProgram));
  // Safe because the account is derived from the mint, and the program compares the two.
  return authority === 0 && addressAt(destination) === expected && `${transfer.amount}` === moves.amount;
}
