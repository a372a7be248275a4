// From a payment header to a sale: decode, match, identify, bind. A proof that does not fit today's price is first looked up: who has
// paid, or may have, is never sent a new bill because the price has changed since.
import type { Context } from "./context.js";
import type { ErrorCode } from "./errors.js";
import { identifyProof, isAuthorization, isTransaction } from "./identify.js";
import { type Network, networkFromWire } from "./networks.js";
import type { Offers } from "./offers.js";
import type { Passage } from "./passage.js";
import { printRequest } from "./print.js";
import { type BoundProof, bindAuthorization, type DecodedProof, decodeProof, matchOffers } from "./proof.js";
import { answerFromRecord } from "./record-answer.js";
import { type Refusal, refusal, refuseProof } from "./refusal-step.js";
import { judgeRepeat } from "./repeat.js";
import type { Answer, PaywallRequest, Verdict } from "./request.js";
import { NATIVE } from "./requirement.js";
import { judgeSale, MAX_LOOKS } from "./sale-step.js";
import type { Terms } from "./settings.js";
import type { PaymentPayload } from "./wire/payload.js";

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
  /** Where the route sells a pass beside its answer. */
  readonly passage?: Passage | undefined;
}

export async function judgeProof(context: Context, request: PaywallRequest, asked: Asked): Promise<Verdict> {
  const { offers, terms, url, headers, passage } = asked;
  const version = headers.v2 === undefined ? 1 : 2;
  const refuse = (failure: Refusal) => refuseProof(context, request, { offers, url, version }, failure);
  const decoded = decodeProof(headers);
  if (!decoded.ok) return refuse(decoded);
  const { proof } = decoded;
  const matched = matchOffers(proof, offers.requirements);
  if (!matched.ok) {
    const earlier = await answerEarlier(context, request, proof, asked);
    return earlier ?? refuse(matched);
  }
  const resource = { url, description: terms.description, mimeType: terms.mimeType };
  let print: ReturnType<typeof printRequest> | undefined;
  const read = () => {
    print ??= printRequest(request, proof.retryKey, context);
    return print;
  };
  const sell = (bound: BoundProof) =>
    judgeSale(context, request, { proof: bound, versions: proof.versions, offers, terms, resource, passage }, read);
  if (isTransaction(proof)) {
    const bound = await identifyProof(context, proof, matched.requirements);
    return bound.ok ? (await sell(bound.proof)).verdict : refuse(bound);
  }
  // A v1 proof names no asset: it is for the offer whose token domain its signature covers.
  let verdict: Verdict | undefined;
  for (const requirement of matched.requirements) {
    if (requirement.method !== "eip3009" || !isAuthorization(proof)) continue;
    const sold = await sell(await bindAuthorization(proof, requirement));
    verdict = sold.verdict;
    if (sold.fits) break;
  }
  return verdict ?? refuse({ code: "offer_mismatch" });
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
  { offers, terms, url, passage }: Asked,
): Promise<Verdict | undefined> {
  const resource = { url, description: terms.description, mimeType: terms.mimeType };
  for (const proof of await earlierProofs(context, decoded, offers, terms)) {
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const found = await context.claims.peek(proof.id);
      const { record } = found;
      // Invariant: an equal digest counts as verified; nothing is told to any other.
      if (!record || record.digest !== proof.digest) break;
      const print = await printRequest(request, decoded.retryKey, context);
      const { kind } = judgeRepeat(record, print, found.now);
      if (kind === "run" || kind === "expired") break;
      const sale = { proof, print, versions: decoded.versions, offers, terms, resource, passage };
      const answer = await answerFromRecord(context, sale, { ...found, record });
      if (answer === "run") break;
      if (answer !== "again") return answer;
    }
  }
  return undefined;
}

/** The proof as it would have been bound where it may have been spent, without the terms of that sale. */
async function earlierProofs(
  context: Context,
  decoded: DecodedProof,
  offers: Offers,
  terms: Terms,
): Promise<readonly BoundProof[]> {
  const { payload } = decoded;
  const named = payload.x402Version === 2 ? payload.accepted.network : payload.network;
  const network = networkFromWire(payload.x402Version, named);
  if (!network) return [];
  const place = {
    scheme: "exact",
    network: network.id,
    amount: 0n,
    payTo: "",
    maxTimeoutSeconds: terms.maxTimeoutSeconds,
  } as const;
  if (isTransaction(decoded)) {
    const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
    const sold = { ...place, asset: NATIVE, method: "transaction", extra, confirmations: 1 } as const;
    const bound = await identifyProof(context, decoded, [sold]);
    return bound.ok ? [bound.proof] : [];
  }
  if (!isAuthorization(decoded)) return [];
  const requirements = assetsOf(payload, network, offers, terms).map((asset) => ({
    ...place,
    asset,
    method: "eip3009" as const,
    extra: { name: "", version: "" },
  }));
  return Promise.all(requirements.map((requirement) => bindAuthorization(decoded, requirement)));
}

/** Assets that an authorization may be over: v2 names it, v1 only the network. */
function assetsOf(payload: PaymentPayload, network: Network, offers: Offers, terms: Terms): readonly string[] {
  if (payload.x402Version === 2) return [payload.accepted.asset];
  const own = offers.requirements.filter((offer) => offer.network === network.id).map(({ asset }) => asset);
  const listed = terms.networks.filter(({ id }) => id === network.id).flatMap(({ tokens }) => tokens);
  return [...new Set([...own, ...listed.map(({ address }) => address)])];
}
