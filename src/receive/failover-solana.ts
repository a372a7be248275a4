// Whose payment a token payment on Solana is: its transaction names the fee payer, and only who holds that key can complete it.
import type { BoundProof } from "../proof.js";
import { isSpl, namedFeePayer, withFeePayer } from "./facilitator-solana.js";
import type { Member } from "./failover-member.js";

export interface Owned {
  readonly members: readonly Member[];
  readonly proof: BoundProof;
  /** `false`: nobody here can complete it, whoever says so. */
  readonly isOwned: boolean;
}

/**
 * The members that may take the proof, in order, with the proof as they know it. The offer at hand may name another one's fee
 * payer by now: what was signed decides.
 */
export async function ownersOf(members: readonly Member[], proof: BoundProof): Promise<Owned> {
  const serving = members.filter(({ serves }) => serves(proof.requirement));
  if (!isSpl(proof)) return { members: serving, proof, isOwned: true };
  const named = await namedFeePayer(proof);
  if (named === undefined) return { members: serving, proof, isOwned: false };
  const { network } = proof.requirement;
  const owner = serving.find(
    ({ receiver }) => receiver.feePayer?.(network) === named || receiver.takesFeePayer?.(network, named),
  );
  if (owner) return { members: [owner], proof: withFeePayer(proof, named), isOwned: true };
  // Somebody whose keys are not known yet may be the one.
  const isOpen = serving.some(({ receiver }) => receiver.feePayer?.(network) === undefined);
  return { members: isOpen ? [] : serving, proof, isOwned: false };
}

/** Who is to be offered: the first that takes payments now, else the first that has a key at all. */
export function offeredFeePayer(members: readonly Member[], network: string): string | undefined {
  const known = members.filter(
    (one) => one.serves({ network, method: "spl" }) && one.receiver.feePayer?.(network) !== undefined,
  );
  const up = known.find((one) => one.isChecked(network) && !one.verifying.isOpen() && !one.settling.isOpen());
  return (up ?? known[0])?.receiver.feePayer?.(network);
}
