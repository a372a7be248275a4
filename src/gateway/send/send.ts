// POST /payment/send: pays from a hosted wallet and gives the proof that opens the resource at the seller. A payment moves
// money at most once, whatever crashes and however often it is asked for: what leaves was written first, and a repeat takes up
// the record that its first run has made. Source: gateway-spec, design §7.
import type { Caller } from "../caller.js";
import type { GatewayNetwork } from "../chain.js";
import type { Engine } from "../engine.js";
import { fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import type { SendAnswer, SendRequest } from "../schemas/index.js";
import { toOutcome } from "./answer.js";
import { isSending, sendFirst } from "./broadcast.js";
import type { ReadOffer } from "./offer.js";
import { findWallet, mayOpen, notOpened, type Order, readWanted, type Wanted } from "./order.js";
import { beginPromise, type OfferedOrder } from "./promise.js";
import { parseShown, type Shown } from "./proof.js";
import { neverAllowed } from "./record.js";
import { repairSent } from "./repair.js";
import { beginTransfer } from "./transfer.js";

/** An answer waits for the chain at most so long. */
const LONGEST_WAIT_MS = 30_000;

/**
 * The engine's `send`. A transfer that the chain has not confirmed in time is answered as `pending` with its proof: the seller
 * waits for the chain as well, and the repeat of the request tells how it went.
 */
export function createSend(parts: GatewayParts): Engine["send"] {
  const { database, custody } = parts;
  return async function send(caller, request) {
    const { idempotency } = caller;
    const earlier = idempotency && (await database.payments.byIdempotency(idempotency.id));
    if (earlier) return resume(parts, caller, request, earlier);
    const wanted = readWanted(parts.networks, caller, request);
    if (!wanted.ok) return wanted;
    const wallet = await findWallet(parts, caller, wanted.value.sender);
    if (!wallet.ok) return wallet;
    if (!custody) return LOCKED;
    const order: Order = { ...wanted.value, wallet: wallet.value };
    // What no chain can change is told before one is asked; the transaction that writes the payment judges again.
    const refused = neverAllowed(order);
    if (refused) return refused;
    const begun = hasPromise(order)
      ? await beginPromise(parts, custody, caller, order)
      : await beginTransfer(parts, custody, caller, order);
    if (!begun.ok) return begun;
    const { payment, repeated, shown } = begun.value;
    // Another run of this very request was faster.
    if (repeated) return resume(parts, caller, request, payment);
    // Invariant: from here on the client may go, and the payment goes on.
    const sent = isSending(payment) ? await sendFirst(parts, order.network, payment) : payment;
    return finish(parts, order.network, sent, order.offer, shown);
  };
}

/** The same request again helps nobody before the operator has done something. */
const LOCKED = fault("UNAVAILABLE", "this gateway was started without the passphrase of its hosted wallets", {
  action: "Ask the operator to start the gateway with TOLLGATE_WALLET_PASSPHRASE",
  retryable: false,
});

/** Is it the seller who sends it to the chain? */
const hasPromise = (order: Order): order is OfferedOrder =>
  order.offer !== undefined && order.offer.method !== "transaction";

/**
 * Takes up what an earlier run of the same request has begun, wherever it ended. Invariant: it builds nothing new; what is
 * missing is the rest of the way of the one payment that was written.
 */
async function resume(
  parts: GatewayParts,
  caller: Caller,
  request: SendRequest,
  payment: Payment,
): Promise<Outcome<SendAnswer>> {
  const { key, idempotency } = caller;
  // The same Idempotency-Key, but not the same rights: another API key of the account may not see this wallet's proof.
  const isOwn = payment.account === key.account && payment.mode === key.mode;
  if (!isOwn || payment.wallet === null || !mayOpen(key, payment.wallet)) return notOpened();
  const wanted = readWanted(parts.networks, caller, request);
  if (!wanted.ok) return wanted;
  // Requests are remembered for a day and payments for ever: the payment of a request long ago is not what is asked for now.
  if (!isWanted(payment, wanted.value)) {
    return fault("CONFLICT", "this Idempotency-Key has made another payment: another request needs another key");
  }
  const { network, offer } = wanted.value;
  const opened = payment.sealed === null ? undefined : idempotency?.open(payment.sealed);
  const shown = opened === undefined ? undefined : parseShown(opened);
  return finish(parts, network, await repairSent(parts, payment), offer, shown);
}

const isWanted = (payment: Payment, { network, asset, sender, recipient, amount }: Wanted): boolean =>
  payment.network === network.network.id &&
  payment.asset === asset.address &&
  payment.sender === sender &&
  payment.recipient === recipient &&
  payment.amount === amount;

async function finish(
  parts: GatewayParts,
  network: GatewayNetwork,
  payment: Payment,
  offer: ReadOffer | undefined,
  shown: Shown | undefined,
): Promise<Outcome<SendAnswer>> {
  if (!isSending(payment)) return toOutcome(payment, network, offer, shown);
  const waitMs = Math.min(network.network.settleMs, LONGEST_WAIT_MS);
  return toOutcome(await parts.watcher.wait(payment, parts.now() + waitMs), network, offer, shown);
}
