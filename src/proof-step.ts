// From a payment header to a sale: decode, match, bind. A proof that does not fit today's price is first looked up: who has
// paid, or may have, is never sent a new bill because the price has changed since.
import type { Context } from "./context.js";
import type { ErrorCode } from "./errors.js";
import { networkFromWire } from "./networks.js";
import type { Offers } from "./offers.js";
import { printRequest } from "./print.js";
import { bindProof, type DecodedProof, decodeProof, matchOffers } from "./proof.js";
import { answerFromRecord } from "./record-answer.js";
import { refusal, refuseProof } from "./refusal-step.js";
import { judgeRepeat } from "./repeat.js";
import type { Answer, PaywallRequest, Verdict } from "./request.js";
import type { Requirement } from "./requirement.js";
import { judgeSale, MAX_LOOKS } from "./sale-step.js";
import type { Terms } from "./settings.js";
import type { ProofTrace } from "./store/record.js";

export interface PaymentHeaders {
  readonly v1: string | undefined;
  readonly v2: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** A request with a payment header on a priced route. */
export interface Asked {
  readonly offers: Offers;
  readonly terms: Terms;
  readonly url: string;
  readonly headers: PaymentHeaders;
}

export async function judgeProof(context: Context, request: PaywallRequest, asked: Asked): Promise<Verdict> {
  const { offers, terms, url, headers } = asked;
  const version = headers.v2 === undefined ? 1 : 2;
  const decoded = decodeProof(headers);
  if (!decoded.ok) return refuseProof(context, request, { offers, url, version }, decoded);
  const { proof } = decoded;
  const matched = matchOffers(proof, offers.requirements);
  if (!matched.ok) {
    const earlier = await answerEarlier(context, request, proof, asked);
    return earlier ?? refuseProof(context, request, { offers, url, version }, matched);
  }
  const resource = { url, description: terms.description, mimeType: terms.mimeType };
  let print: ReturnType<typeof printRequest> | undefined;
  const read = () => {
    print ??= printRequest(request, proof.retryKey, context);
    return print;
  };
  // A v1 proof names no asset: it is for the offer whose token domain its signature covers.
  let verdict: Verdict | undefined;
  for (const requirement of matched.requirements) {
    const bound = await bindProof(proof, requirement);
    const sold = await judgeSale(
      context,
      request,
      { proof: bound, versions: proof.versions, offers, terms, resource },
      read,
    );
    verdict = sold.verdict;
    if (sold.fits) break;
  }
  return verdict ?? refuseProof(context, request, { offers, url, version }, { code: "offer_mismatch" });
}

/** The route has no valid price for this request now; a proof that has paid for it is answered all the same. */
export async function judgeUnpriced(
  context: Context,
  request: PaywallRequest,
  { terms, url, headers }: Omit<Asked, "offers">,
  refused: { readonly answer: Answer; readonly code: ErrorCode },
): Promise<Verdict> {
  const decoded = decodeProof(headers);
  // Where a row of the table asks for offers there are none to give, so the refusal of the price stands in their place.
  const challenge = { required: () => refused.answer, refused: () => refused.answer };
  const offers: Offers = { requirements: [], networks: terms.networks, challenge };
  const earlier = decoded.ok
    ? await answerEarlier(context, request, decoded.proof, { offers, terms, url, headers })
    : undefined;
  return earlier ?? refusal(context, request, refused.answer, refused.code);
}

/** What the store knows of this very proof, where that is more than a run without a charge; undefined = nothing. */
async function answerEarlier(
  context: Context,
  request: PaywallRequest,
  decoded: DecodedProof,
  { offers, terms, url }: Asked,
): Promise<Verdict | undefined> {
  const resource = { url, description: terms.description, mimeType: terms.mimeType };
  for (const place of placesOf(decoded, offers, terms)) {
    const proof = await bindProof(decoded, place);
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const found = await context.claims.peek(proof.id);
      const { record } = found;
      // Invariant: an equal digest counts as verified; nothing is told to any other.
      if (!record || record.digest !== proof.digest) break;
      const print = await printRequest(request, decoded.retryKey, context);
      const { kind } = judgeRepeat(record, print, found.now);
      if (kind === "run" || kind === "expired") break;
      const bound = { ...proof, requirement: requirementOf(record.trace, place) };
      const sale = { proof: bound, print, versions: decoded.versions, offers, terms, resource };
      const answer = await answerFromRecord(context, sale, { ...found, record });
      if (answer === "run") break;
      if (answer !== "again") return answer;
    }
  }
  return undefined;
}

/** Where the proof may have been spent, as requirements without a price: v2 names the asset, v1 only the network. */
function placesOf({ payload }: DecodedProof, { requirements }: Offers, terms: Terms): readonly Requirement[] {
  const named = payload.x402Version === 2 ? payload.accepted.network : payload.network;
  const network = networkFromWire(payload.x402Version, named);
  if (!network) return [];
  const own = requirements.filter((offer) => offer.network === network.id).map(({ asset }) => asset);
  const listed = terms.networks.filter(({ id }) => id === network.id).flatMap(({ tokens }) => tokens);
  const assets =
    payload.x402Version === 2 ? [payload.accepted.asset] : [...own, ...listed.map(({ address }) => address)];
  return [...new Set(assets)].map((asset) => ({
    scheme: "exact",
    network: network.id,
    asset,
    amount: 0n,
    payTo: "",
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
    extra: { name: "", version: "" },
  }));
}

const requirementOf = ({ asset, payTo, amount }: ProofTrace, place: Requirement): Requirement => ({
  ...place,
  asset,
  payTo,
  amount: BigInt(amount),
});
