// POST /transaction/send: a transfer that its caller signs and broadcasts. The gateway never sees a key; it remembers what it
// built, by a reference that only this transaction carries, and watches it arrive. Source: gateway-spec, design §7.
import { createHash, randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Caller } from "../caller.js";
import type { BuiltTransfer } from "../chain.js";
import type { NewPayment } from "../database/database.js";
import type { Engine } from "../engine.js";
import { fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import type { BuildAnswer, BuildSendRequest } from "../schemas/index.js";
import { assetName, readAmount, readTerms, type Terms, toNumber } from "../terms.js";
import { estimatedConfirmation } from "./estimate.js";
import { readRecipient } from "./recipient.js";

export { estimatedConfirmation } from "./estimate.js";

/** What only the creating answer and its idempotent repeat show. */
const sealedSchema = z.object({ transaction: z.string(), secret: z.string() });
type Sealed = z.infer<typeof sealedSchema>;

/** The engine's `buildSend`. Reserves nothing and needs no hosted wallet: the caller's own money moves, by the caller's hand. */
export function createBuildSend(parts: Pick<GatewayParts, "database" | "networks" | "now">): Engine["buildSend"] {
  const { payments } = parts.database;
  return async (caller, request) => {
    const { idempotency } = caller;
    const made = idempotency && (await payments.byIdempotency(idempotency.id));
    if (made) return repeat(parts, caller, made);
    const read = readBuild(parts, caller, request);
    if (!read.ok) return read;
    const { terms, recipient, amount, priorityFee } = read.value;

    // 32 random bytes; only their hash stands on the chain, so that only who has this answer can show the payment as his.
    const secret = randomBytes(32);
    const reference = `0x${createHash("sha256").update(secret).digest("hex")}` as const;
    const transfer = { from: terms.address, to: recipient, asset: terms.asset, amount, reference };
    const built = await terms.network.transfers.build(
      { ...transfer, ...(priorityFee !== undefined && { priorityFee }) },
      { signal: caller.signal },
    );
    if (!built.ok) return built;

    const sealed = { transaction: toBase64(built.value.unsigned), secret: `0x${secret.toString("hex")}` };
    const inserted = await payments.insert(newPayment(caller, request, read.value, built.value, sealed, parts.now()));
    if (inserted.outcome === "ok") return answer(terms.network, inserted.payment, sealed);
    if (inserted.outcome === "repeated") return repeat(parts, caller, inserted.payment);
    return fault("INTERNAL_ERROR", "the built payment could not be recorded");
  };
}

interface Build {
  readonly terms: Terms;
  readonly recipient: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Atomic units of the native currency. */
  readonly priorityFee: bigint | undefined;
}

function readBuild(
  { networks }: Pick<GatewayParts, "networks">,
  { key }: Caller,
  request: BuildSendRequest,
): Outcome<Build> {
  const terms = readTerms(networks, key.mode, request);
  if (!terms.ok) return terms;
  const { network, asset } = terms.value;
  const recipient = readRecipient(terms.value, request.recipientAddress);
  if (!recipient.ok) return recipient;
  const amount = readAmount("amount", request.amount, asset);
  if (!amount.ok) return amount;
  const given = request.priorityFee;
  const priorityFee = given === undefined ? undefined : readAmount("priorityFee", given, network.assets[0]);
  if (priorityFee && !priorityFee.ok) return priorityFee;
  const value = {
    terms: terms.value,
    recipient: recipient.value,
    amount: amount.value,
    priorityFee: priorityFee?.value,
  };
  return { ok: true, value };
}

/** Where the caller can repeat the request, what the answer alone shows is kept under the caller's key. */
function newPayment(
  { key, idempotency }: Caller,
  { resource, metadata }: BuildSendRequest,
  { terms: { network, asset, address }, recipient, amount }: Build,
  { expiresAt, pursuit }: BuiltTransfer,
  sealed: Sealed,
  now: number,
): NewPayment {
  return {
    account: key.account,
    mode: key.mode,
    type: "sent",
    flow: "build_send",
    status: "created",
    network: network.network.id,
    asset: asset.address,
    amount,
    sender: address,
    recipient,
    signature: null,
    // What it may cost is not what it has cost: the watcher writes that once the chain has taken it.
    fee: null,
    resource: resource ?? null,
    metadata: metadata ?? null,
    expiresAt,
    proofId: null,
    wallet: null,
    idempotency: idempotency?.id ?? null,
    sealed: idempotency?.seal(JSON.stringify(sealed)) ?? null,
    pursuit,
    dueAt: now + Math.max(network.network.blockMs, 1_000),
  };
}

/** The same answer to the same request, from the record that it made. */
async function repeat(
  { networks }: Pick<GatewayParts, "networks">,
  { idempotency, key }: Caller,
  payment: Payment,
): Promise<Outcome<BuildAnswer>> {
  const network = networks.find(payment.network);
  const opened = payment.sealed === null ? undefined : idempotency?.open(payment.sealed);
  if (!network || opened === undefined || payment.account !== key.account) {
    return fault("INTERNAL_ERROR", "the answer to this request cannot be given again", { paymentId: payment.id });
  }
  return answer(network, payment, sealedSchema.parse(JSON.parse(opened)));
}

function answer(network: Terms["network"], payment: Payment, { transaction, secret }: Sealed): Outcome<BuildAnswer> {
  const { pursuit, asset, amount } = payment;
  const known = network.assets.find(({ address }) => address === asset);
  if (!known || (pursuit.kind !== "evm" && pursuit.kind !== "solana")) {
    return fault("INTERNAL_ERROR", "the answer to this request cannot be given again", { paymentId: payment.id });
  }
  const value: BuildAnswer = {
    success: true,
    paymentId: payment.id,
    status: payment.status,
    transaction,
    signatureRequired: true,
    network: payment.network,
    asset: assetName(network, asset),
    amount: toNumber(amount, known.decimals),
    amountAtomic: amount.toString(),
    sender: payment.sender,
    recipient: payment.recipient,
    lastValidBlockHeight: pursuit.lastValidBlockHeight,
    expiresAt: payment.expiresAt === null ? null : Math.floor(payment.expiresAt / 1000),
    secret,
    estimatedConfirmation: estimatedConfirmation(network),
  };
  return { ok: true, value };
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
