// A payment that the seller sends to the chain: a proof signed for exactly his offer, handed to the caller and not broadcast.
// What it moves is reserved until the proof has been used or has finally expired unused. Source: design §7.
import { formatDecimal } from "../../money.js";
import type { ChainExpiry } from "../../store/record.js";
import type { PaymentPayload } from "../../wire/payload.js";
import type { Caller } from "../caller.js";
import type { TransferSigner } from "../chain.js";
import { fault, type Outcome } from "../errors.js";
import type { Custody, GatewayParts } from "../parts.js";
import { KeyNotOpened } from "../wallets/signers.js";
import { signAuthorization } from "./authorization.js";
import type { ReadOffer } from "./offer.js";
import type { Order } from "./order.js";
import { newRetryKey, type Shown, toPaymentProof } from "./proof.js";
import { keyNotOpened, writePayment } from "./record.js";
import { signTokenPayment } from "./token.js";
import { traceOf } from "./trace.js";
import type { Begun } from "./transfer.js";

/** An order with the offer that it pays. */
export type OfferedOrder = Order & { readonly offer: ReadOffer };

/** What was signed for an offer. */
export interface SignedPromise {
  readonly payload: PaymentPayload["payload"];
  /** Epoch milliseconds from which it is of no use any more, as far as clocks can tell. */
  readonly expiresAt: number;
  /** Solana: what bounds its life for certain. */
  readonly expiry: ChainExpiry | null;
}

/** The chain is asked about a proof for so long. */
const SIGN_MS = 10_000;

/** Signs and writes. Faults: INSUFFICIENT_BALANCE, FORBIDDEN over a limit, UNAVAILABLE. */
export async function beginPromise(
  parts: Pick<GatewayParts, "database" | "logger" | "now">,
  custody: Custody,
  caller: Caller,
  order: OfferedOrder,
): Promise<Outcome<Begun>> {
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(SIGN_MS)]);
  const funds = await checkFunds(order, signal);
  if (!funds.ok) return funds;
  const { network, wallet, offer, resource } = order;
  const signed = await sign(parts, custody.signer(wallet), order, signal);
  if (!signed.ok) return signed;
  const { payload, expiresAt, expiry } = signed.value;
  const header = toPaymentProof({ network: network.network, offer, resource, retryKey: newRetryKey() }, payload);
  const trace = await traceOf(header, order, expiresAt, expiry);
  const shown: Shown = { kind: "proof", header };
  const written = await writePayment(parts, caller, order, { pursuit: { kind: "proof", trace }, shown, expiresAt });
  return written.ok ? { ok: true, value: { ...written.value, shown } } : written;
}

/** A proof that cannot be settled would cost whoever shows it his answer. */
async function checkFunds({ network, asset, wallet, amount }: Order, signal: AbortSignal): Promise<Outcome<undefined>> {
  const held = await network.transfers.balance(wallet.address, asset, signal);
  if (!held.ok) return held;
  if (held.value >= amount) return { ok: true, value: undefined };
  const [needed, got] = [amount, held.value].map((units) => `${formatDecimal(units, asset.decimals)} ${asset.symbol}`);
  return fault("INSUFFICIENT_BALANCE", `the wallet needs ${needed} and has ${got}`);
}

async function sign(
  { logger, now }: Pick<GatewayParts, "logger" | "now">,
  signer: TransferSigner,
  order: OfferedOrder,
  signal: AbortSignal,
): Promise<Outcome<SignedPromise>> {
  try {
    if (order.offer.method === "spl") return await signTokenPayment(signer, order, now(), signal);
    return { ok: true, value: await signAuthorization(signer, order, now()) };
  } catch (error) {
    if (error instanceof KeyNotOpened) return keyNotOpened(logger, order.wallet, error);
    throw error;
  }
}
