// Start-up checks of an offer in SOL: a payee that can have a key or exists already, and a price that the chain can carry
// to it. The network's own checks are in ready.ts.
import type { ReadinessProblem } from "../../receive/receiver.js";
import { NATIVE, type TransactionRequirement } from "../../requirement.js";
import { type Account, readAccounts } from "./accounts.js";
import { decodeAddress } from "./base58.js";
import type { SolanaChain } from "./chain.js";
import { isOnCurve } from "./curve.js";
import { readRentExemption } from "./native-rent.js";
import { programOf } from "./programs.js";

export type NativeChecked =
  | { readonly ok: true; readonly problems: readonly ReadinessProblem[] }
  | { readonly ok: false; readonly message: string };

/** Checks one offer. Never rejects. */
export async function checkNative(
  { rpc }: Pick<SolanaChain, "rpc">,
  requirement: TransactionRequirement,
  signal: AbortSignal,
): Promise<NativeChecked> {
  const { asset, payTo, network } = requirement;
  if (asset !== NATIVE) {
    const remedy = `offer tokens of ${network} by their mint, without a transaction of the buyer's own`;
    return problem({ check: "asset", expected: "SOL", got: asset, remedy });
  }
  const key = decodeAddress(payTo);
  const bad = (got: string) =>
    problem({
      check: "payTo",
      expected: "an address of the seller",
      got: `${payTo}: ${got}`,
      remedy: `set payTo of ${network} to the address that should receive SOL`,
    });
  if (!key) return bad("no address");
  const [read, rent] = await Promise.all([readAccounts(rpc, [payTo], { signal }), readRentExemption(rpc, { signal })]);
  if (!read.ok) return { ok: false, message: read.message };
  if (!rent.ok) return { ok: false, message: rent.message };
  const [account = null] = read.accounts;
  // What is no point of the curve has no key: only a program could ever move the money on.
  if (!account && !isOnCurve(key)) return bad("no account is there and no key can open one");
  if (account && isToken(account)) return bad("an account of a token program");
  return checkRent(requirement, account?.lamports ?? 0n, rent.lamports);
}

/** Whoever holds nothing is created by the first transfer, which must therefore carry the rent. */
function checkRent({ payTo, amount, network }: TransactionRequirement, held: bigint, rent: bigint): NativeChecked {
  if (held + amount >= rent) return { ok: true, problems: [] };
  return problem({
    check: `price in SOL for ${payTo}`,
    expected: `at least ${rent - held} lamports: a SOL transfer to an address that holds nothing must carry at least ${rent} lamports`,
    got: `${amount} lamports`,
    remedy: `send ${rent - held} lamports to ${payTo} on ${network} once, or raise the price`,
  });
}

function isToken({ owner }: Account): boolean {
  const program = programOf(decodeAddress(owner));
  return program === "token" || program === "token2022";
}

const problem = (one: ReadinessProblem): NativeChecked => ({ ok: true, problems: [one] });
