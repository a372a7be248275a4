// What a fee payer should hold, and a look at whether it does: a settlement by itself reads no balance of it.
import { SETTLEMENTS } from "../gas.js";
import { readAccounts } from "./accounts.js";
import type { Caps, SolanaChain } from "./chain.js";

/** What an account without data must hold to exist. */
const RENT_EXEMPT_LAMPORTS = 890_880n;

/** Lamports for some payments at the highest fee. */
export const needsOf = ({ maxTotalFeeLamports }: Caps): bigint =>
  RENT_EXEMPT_LAMPORTS + SETTLEMENTS * maxTotalFeeLamports;

/** Looks at what a settler holds, where it is time to. Nothing waits for it. */
export function watchGas({ network, rpc, caps, gas }: SolanaChain, settler: string): void {
  const of = { network, settler };
  if (!gas?.asks(of)) return;
  void readAccounts(rpc, [settler]).then(
    (read) => read.ok && gas.seen(of, read.accounts[0]?.lamports ?? 0n, needsOf(caps)),
    // Safe because it is asked again with a later settlement.
    () => undefined,
  );
}
