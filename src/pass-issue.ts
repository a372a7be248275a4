// Sells a pass: with the first delivery of a paid answer, and anew with every delivery to whoever shows the retry key.
import type { Context } from "./context.js";
import { sha256 } from "./hash.js";
import { digestOfPlace, newToken, tokenHeaders } from "./pass-token.js";
import { NO_PASS } from "./passage.js";
import { storePass } from "./passes.js";
import type { HeaderList } from "./request.js";
import type { Sale } from "./sale.js";
import type { ProofRecord } from "./store/record.js";

export type Issue = (
  context: Context,
  sale: Sale,
  record: ProofRecord,
  /** The answer has been delivered before, so that its pass was issued with it. */
  delivered?: boolean,
) => Promise<HeaderList>;

/**
 * Stores a pass and gives the headers that carry it. Invariant: a paid proof is public, so it alone never replaces a token that
 * its buyer may hold; the retry key does.
 */
export const issue: Issue = async ({ commits }, { passage, print, proof }, record, delivered = false) => {
  if (!passage) return NO_PASS;
  const token = newToken();
  const place = await digestOfPlace(passage);
  const { network, asset, payTo, amount, received, payer, transaction } = record.trace;
  // The paid answer is the first use.
  const uses = passage.uses === undefined ? undefined : passage.uses - 1;
  const sold = { proofId: proof.id, network, asset, payTo, amount, received, payer, transaction, place, uses };
  const stored = await storePass(
    commits,
    { ...sold, token: await sha256(token), ms: passage.ms },
    { first: !delivered, anew: print.retryKey !== null && print.retryKey === record.print.retryKey },
  );
  return stored ? tokenHeaders(token, passage, place, stored.endsAt - stored.now) : NO_PASS;
};
