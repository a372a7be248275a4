// From a challenge to a signed proof that is kept and counted, and has not left yet: choose, ask for approval, reserve, sign,
// inspect, keep. Whatever fails on the way takes the money out of the count again, unless the wallet may have moved it by itself.
import { unlessAborted } from "./abort.js";
import { type Buyer, type PaidCall, stored } from "./buyer.js";
import { bareUrl, headersOf } from "./call-request.js";
import { chooseOffer } from "./choose.js";
import { toPaymentHeaders } from "./envelope.js";
import { BuyerError, type BuyerErrorFacts } from "./errors.js";
import { hostOf } from "./host-name.js";
import { findMismatch } from "./inspect.js";
import type { Challenge, Offer } from "./offer.js";
import { formatPrice } from "./price-text.js";
import type { Purchase } from "./purchase.js";
import { callersKey, randomId, retryKeyHeader } from "./retry-key.js";
import type { Cost } from "./settings.js";
import type { Limit, PendingProof } from "./store.js";
import type { Signed, SignRequest, Wallet } from "./wallet.js";

export interface SignedProof {
  readonly proof: PendingProof;
  /** Once the call that sends it has ended. */
  readonly close: () => void;
}

interface Order {
  readonly call: PaidCall;
  /** Who asked for the money. */
  readonly place: URL;
  readonly challenge: Challenge;
}

/** @throws BuyerError, or the reason of an aborted signal; then nothing has left */
export async function signOffer(buyer: Buyer, order: Order): Promise<SignedProof> {
  const { call, place, challenge } = order;
  const { settings, observer, proofs } = buyer;
  const [url, host] = [bareUrl(place), hostOf(place)];
  const choice = await unlessAborted(chooseOffer(settings, challenge, { url, host, signal: call.signal }), call.signal);
  if (!choice.ok) {
    const error = new BuyerError(choice.code, { url, ...choice.facts });
    if (choice.code === "over_cap")
      observer.event({ type: "stopped", code: choice.code, host, message: error.message });
    throw error;
  }
  await approve(buyer, order, choice.offer);

  const own = callersKey(headersOf(call));
  // A caller may give one key to two calls at one time; their proofs are two all the same.
  const isOwn = own !== undefined && proofs.begin(own);
  const id = isOwn ? own : randomId();
  if (!isOwn) proofs.begin(id);
  try {
    // And to two purchases one after the other: each of them counts.
    const spendId = isOwn ? `${id}.${randomId()}` : id;
    return await reserveAndSign(buyer, order, { ...choice, id, spendId });
  } catch (error) {
    proofs.end(id);
    throw error;
  }
}

interface Chosen {
  readonly offer: Offer;
  readonly wallet: Wallet;
  readonly cost: Cost;
  readonly id: string;
  readonly spendId: string;
}

async function reserveAndSign(buyer: Buyer, order: Order, chosen: Chosen): Promise<SignedProof> {
  const { settings, observer } = buyer;
  const { offer, wallet, cost, id, spendId } = chosen;
  const [url, host] = [bareUrl(order.place), hostOf(order.place)];
  const purchase = draftPurchase(order, offer, id, settings.now());
  observer.event({ type: "chosen", purchase });
  const spend = { id: spendId, host, unit: cost.unit, amount: cost.amount, at: purchase.at };
  const reserved = await stored(url, () => settings.store.reserve(spend, settings.budget.limitsOf(cost, host)));
  if (!reserved.ok) {
    const error = overBudget(url, cost, reserved);
    observer.event({ type: "stopped", code: "over_budget", host, message: error.message });
    throw error;
  }
  try {
    return await sign(buyer, order, { offer, wallet, purchase });
  } catch (error) {
    // Invariant: only what provably never left is taken back. If the store fails now, it stays counted.
    if (!mayHaveMoved(wallet, error)) await settings.store.release(spendId).catch(() => {});
    else await settings.store.record(purchase).catch(() => {});
    throw error instanceof StillKept ? error.cause : error;
  }
}

async function approve({ settings }: Buyer, { call, place, challenge }: Order, offer: Offer): Promise<void> {
  if (!settings.approve) return;
  const url = bareUrl(place);
  const price = formatPrice(offer);
  const { description } = challenge;
  const request = { url, method: call.method, host: hostOf(place), offer, price, description };
  const asked = Promise.resolve(request).then(settings.approve);
  const approved = await unlessAborted(asked, call.signal).catch((cause: unknown) => {
    call.signal?.throwIfAborted();
    throw new BuyerError("not_approved", { url, price }, { cause });
  });
  if (approved !== true) throw new BuyerError("not_approved", { url, price });
}

function draftPurchase({ call, place }: Order, offer: Offer, id: string, at: number): Purchase {
  const native = offer.token === undefined && offer.asset === "native" ? offer.network.native : undefined;
  return {
    id,
    status: "reserved",
    method: call.method,
    url: bareUrl(place),
    host: hostOf(place),
    network: offer.network.id,
    asset: offer.asset,
    symbol: offer.token?.symbol ?? native?.symbol,
    decimals: offer.token?.decimals ?? native?.decimals,
    amount: offer.amount,
    price: formatPrice(offer),
    payTo: offer.payTo,
    payer: undefined,
    at,
    transaction: undefined,
    httpStatus: undefined,
    served: false,
  };
}

function overBudget(url: string, cost: Cost, refused: { readonly limit: Limit; readonly spent: bigint }): BuyerError {
  const { limit, spent } = refused;
  return new BuyerError("over_budget", {
    url,
    expected: `at most ${cost.format(limit.amount)} by ${limit.name}`,
    got: `${cost.format(cost.amount)} beside the ${cost.format(spent)} that are spent`,
  });
}

interface Reserved {
  readonly offer: Offer;
  readonly wallet: Wallet;
  readonly purchase: Purchase;
}

async function sign(buyer: Buyer, { call, place, challenge }: Order, reserved: Reserved): Promise<SignedProof> {
  const { settings, observer } = buyer;
  const { offer, wallet, purchase: draft } = reserved;
  const { signal } = call;
  const url = bareUrl(place);
  signal?.throwIfAborted();
  const validUntil = settings.now() + settings.maxValidityMs;
  const request: SignRequest = { resource: place.href, retryKey: draft.id, validUntil, signal };
  const facts = factsOf(wallet, url, draft);
  const signed = await askWallet(wallet, offer, request, facts);
  const close = once(signed.close);
  try {
    const { payload, payer, expiresAt } = signed;
    // Invariant: what leaves is the offer that was held against the caps, and nothing beside it.
    const mismatch = await findMismatch(offer, payload, { payer, expiresAt, validUntil, now: settings.now() });
    if (mismatch !== undefined) throw new BuyerError("signed_wrong", { ...facts, reason: mismatch });
    signal?.throwIfAborted();
    const purchase: Purchase = { ...draft, status: "sent", payer };
    observer.event({ type: "signed", purchase: { ...draft, payer } });
    const headers = {
      ...toPaymentHeaders({ challenge, offer, payload, retryKey: draft.id }),
      ...retryKeyHeader(draft.id, place, challenge, headersOf(call)),
    };
    const proof = { request: call.key, headers, expiresAt, purchase };
    // Invariant: it is kept before it is sent, or an answer that is lost would lose the proof too.
    await keep(buyer, call, proof, url);
    return { proof, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function keep({ settings, proofs }: Buyer, call: PaidCall, proof: PendingProof, url: string): Promise<void> {
  try {
    await stored(url, () => proofs.keep(proof, call.target));
    // The last chance to leave no trace: what is recorded counts as sent.
    call.signal?.throwIfAborted();
    await stored(url, () => settings.store.record(proof.purchase));
  } catch (cause) {
    // A proof that is kept will be sent some day: only if it is surely gone may its money leave the count.
    await proofs.forget(proof, call.target).catch(() => {
      throw new StillKept(cause);
    });
    throw cause;
  }
}

/** The proof could not be taken out of the store again. */
class StillKept extends Error {
  constructor(cause: unknown) {
    super("the proof is still kept", { cause });
  }
}

type Ok = Signed & { readonly ok: true };

async function askWallet(wallet: Wallet, offer: Offer, request: SignRequest, facts: BuyerErrorFacts): Promise<Ok> {
  const { signal } = request;
  const signing = Promise.resolve(offer).then((wanted) => wallet.sign(wanted, request));
  const signed = await unlessAborted(signing, signal, (late) => late.ok && late.close?.()).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new BuyerError("signing_failed", { ...facts, reason: String(cause).slice(0, 200) }, { cause });
  });
  if (signed.ok) return signed;
  const money = signed.code === "insufficient_funds" || signed.sent === false ? "none" : facts.money;
  throw new BuyerError(signed.code, { ...facts, ...(money && { money }), reason: signed.message });
}

/** Whether money may have moved, and the purchase where it may. */
const factsOf = ({ sends }: Wallet, url: string, purchase: Purchase): BuyerErrorFacts =>
  sends ? { url, money: "unknown", purchase } : { url, money: "none" };

/** A wallet that sends by itself says so where it sent nothing; its `insufficient_funds` always means that. */
function mayHaveMoved({ sends }: Wallet, error: unknown): boolean {
  if (error instanceof StillKept) return true;
  return sends === true && !(error instanceof BuyerError && error.facts.money === "none");
}

function once(task: (() => void) | undefined): () => void {
  let left = task;
  return () => {
    const run = left;
    left = undefined;
    try {
      run?.();
    } catch {
      // Its own affair: goods that were paid for are not lost over it.
    }
  };
}
