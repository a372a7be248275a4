// One call, step by step: a proof that is pending for the request goes out first; else the request is asked as it came, and only
// its 402 is paid for. Every other answer, and every byte of the request, is the caller's own.
import { unlessAborted } from "./abort.js";
import { type CallBody, openBody, type SentBody } from "./body.js";
import { drainBody } from "./bounded-body.js";
import type { Buyer, PaidCall } from "./buyer.js";
import { stored } from "./buyer.js";
import { bareUrl, type CallRequest, type FetchInit, type FetchInput, readCall } from "./call-request.js";
import { readChallenge } from "./challenge.js";
import { BuyerError } from "./errors.js";
import { hostOf } from "./host-name.js";
import { findPlaceFault, placeOf } from "./place.js";
import { requestKeyOf, targetOf } from "./request-key.js";
import { sendProof } from "./send-proof.js";
import { signOffer } from "./sign-offer.js";

/** @throws what the inner fetch throws, BuyerError, or the reason of an aborted signal */
export async function call(buyer: Buyer, input: FetchInput, init: FetchInit | undefined): Promise<Response> {
  const { settings } = buyer;
  const read = readCall(input, init);
  if (read === undefined || read.signal?.aborted) return settings.fetch(input, init);
  const target = targetOf(read.method, read.url.href);
  const pending = await unlessAborted(buyer.proofs.mayHave(target), read.signal);
  const body = openBody(read, settings.maxBodyBytes);
  try {
    if (pending) {
      const answer = await sendPending(buyer, read, target, body);
      if (answer) return answer;
    }
    const response = await settings.fetch(body.input, body.init);
    return response.status === 402 ? await payFor(buyer, read, target, body, response) : response;
  } finally {
    body.drop();
  }
}

/** The answer to a proof that an earlier call left; undefined where there is none, or none that is worth sending. */
async function sendPending(
  buyer: Buyer,
  read: CallRequest,
  target: string,
  body: CallBody,
): Promise<Response | undefined> {
  const sent = await unlessAborted(body.read(), read.signal);
  if (sent === "lost") return undefined;
  const call: PaidCall = { ...read, target, key: await keyOf(read, sent) };
  // A store that fails here stands in the way of no free answer: before anything is signed it is asked again.
  return takePending(buyer, call, sent).catch((error: unknown) => {
    if (error instanceof BuyerError && error.code === "store_failed") return undefined;
    throw error;
  });
}

async function takePending(buyer: Buyer, call: PaidCall, body: SentBody | "none"): Promise<Response | undefined> {
  const { proofs, settings } = buyer;
  const taken = stored(bareUrl(call.url), () => proofs.take(call.key));
  const proof = await unlessAborted(taken, call.signal, (late) => late && proofs.end(late.purchase.id));
  if (!proof) return undefined;
  try {
    call.signal?.throwIfAborted();
    const fault = findPlaceFault(new URL(proof.purchase.url), settings);
    if (fault) throw fault;
    const answer = await sendProof(buyer, { call, body, proof, earlier: true });
    return answer === "expired" ? undefined : answer;
  } finally {
    proofs.end(proof.purchase.id);
  }
}

async function payFor(
  buyer: Buyer,
  read: CallRequest,
  target: string,
  body: CallBody,
  response: Response,
): Promise<Response> {
  const { settings, proofs } = buyer;
  try {
    const sent = await unlessAborted(body.read(), read.signal);
    const place = placeOf(read, response, sent !== "none");
    if (place instanceof BuyerError) throw place;
    const fault = findPlaceFault(place, settings);
    if (fault) throw fault;
    const url = bareUrl(place);
    if (sent === "lost") throw new BuyerError("body_not_repeatable", { url, status: 402 });
    const challenge = await readChallenge(response, { signal: read.signal });
    const call: PaidCall = { ...read, target, key: await keyOf(read, sent) };

    // Asked of the store itself: another process may have left one, or another paying fetch.
    const answer = await takePending(buyer, call, sent);
    if (answer) return answer;

    checkBreaker(buyer, place);
    if (!challenge.ok) throw new BuyerError(challenge.code, { url, reason: challenge.reason, status: 402 });
    const signed = await signOffer(buyer, { call, place, challenge: challenge.challenge });
    try {
      const paid = await sendProof(buyer, { call, body: sent, proof: signed.proof, earlier: false });
      // Only a proof of an earlier call is ever replaced.
      if (paid === "expired") throw new BuyerError("payment_refused", { url, purchase: signed.proof.purchase });
      return paid;
    } finally {
      proofs.end(signed.proof.purchase.id);
      signed.close();
    }
  } finally {
    // Whatever became of it, an unread 402 would hold its connection.
    if (!response.bodyUsed) void drainBody(response);
  }
}

const keyOf = (call: CallRequest, body: SentBody | "none"): Promise<string> =>
  requestKeyOf(call, body === "none" ? undefined : body.bytes);

function checkBreaker({ breaker, observer }: Buyer, place: URL): void {
  const host = hostOf(place);
  const until = breaker.stoppedUntil(host);
  if (until === undefined) return;
  const error = new BuyerError("host_stopped", {
    url: bareUrl(place),
    expected: `no payment before ${new Date(until).toISOString()}`,
  });
  observer.event({ type: "stopped", code: "host_stopped", host, message: error.message });
  throw error;
}
