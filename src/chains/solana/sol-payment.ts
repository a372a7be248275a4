// A payment in SOL as its payer's own, complete transaction: limit, price, System transfer, a random memo. Signed and not sent:
// whoever is shown it sends it, or nobody does. It is made only once the chain shows that it would succeed. Source: design §6.
import { formatDecimal, MAX_UINT64 } from "../../money.js";
import { type Account, readAccounts } from "./accounts.js";
import { decodeAddress } from "./base58.js";
import { toBase64 } from "./bytes.js";
import { isOnCurve } from "./curve.js";
import { verifySignature } from "./ed25519.js";
import { readRentExemption } from "./native-rent.js";
import { printError } from "./print.js";
import { programAddress } from "./programs.js";
import type { RpcFailure, RpcOptions, SolanaRpc } from "./rpc.js";
import { readTrouble, simulate } from "./simulate.js";
import { createTransferMessage, randomMemo, type TransferParts } from "./transfer.js";
import { readFreshBlockhash } from "./transfer-blockhash.js";
import { readUnitPrice, transferFee, unitLimit } from "./transfer-fees.js";
import { toWire } from "./transfer-message.js";
import type { SolanaSigner } from "./transfer-signer.js";

export interface SolOffer {
  readonly payTo: string;
  /** Lamports. */
  readonly amount: bigint;
}

export interface SolPayment {
  readonly ok: true;
  /** The signed transaction, base64. */
  readonly transaction: string;
  readonly payer: string;
  /** Lamports of the network fee. */
  readonly fee: bigint;
  /** The last block height in which it can land. */
  readonly lastValidBlockHeight: number;
}

export type SolPaymentFailure =
  | RpcFailure
  /** `offer_invalid`: such an offer cannot be paid. `recipient_invalid`: the payee cannot have it. */
  | {
      readonly ok: false;
      readonly code: "offer_invalid" | "recipient_invalid" | "insufficient_funds";
      readonly message: string;
    };

/** Four times what it takes. With the highest unit price, no node can make the fee more than 0.000065 SOL. */
const MOST_UNITS = 60_000;

/**
 * Signs a payment. Never rejects but where the signer does.
 *
 * @example const paid = await createSolPayment(rpc, { payTo, amount: 1_000_000n }, createSolanaSigner(secret), { signal });
 */
export async function createSolPayment(
  rpc: SolanaRpc,
  { payTo, amount }: SolOffer,
  signer: SolanaSigner,
  options: RpcOptions = {},
): Promise<SolPayment | SolPaymentFailure> {
  const payer = signer.address;
  const draft = await draftSolPayment(rpc, { payTo, amount }, payer, options);
  if (!draft.ok) return draft;
  const { message, fee, lastValidBlockHeight } = draft;
  const signature = await signer.sign(new Uint8Array(message));
  // Invariant: a signer that is another one than it says signs nothing that leaves.
  if (!(await verifySignature(decodeAddress(payer)!, message, signature))) {
    throw new Error(`the signature is not one of ${payer}`);
  }
  return { ok: true, transaction: toBase64(toWire(message, [signature])), payer, fee, lastValidBlockHeight };
}

/** A payment before its payer has signed it. */
export interface SolDraft extends Pick<SolPayment, "ok" | "fee" | "lastValidBlockHeight"> {
  readonly message: Uint8Array;
}

/** The message of a payment that nobody has signed. Never rejects. */
export async function draftSolPayment(
  rpc: SolanaRpc,
  { payTo, amount }: SolOffer,
  payer: string,
  options: RpcOptions = {},
): Promise<SolDraft | SolPaymentFailure> {
  if (!decodeAddress(payer) || !decodeAddress(payTo))
    return failure("offer_invalid", "payer and payee must be Solana addresses");
  if (payTo === payer) return failure("offer_invalid", "the payee must be somebody else than the payer");
  if (amount <= 0n || amount > MAX_UINT64)
    return failure("offer_invalid", "the amount must be above 0 and fit 64 bits");
  const [fresh, read, rent, unitPrice] = await Promise.all([
    readFreshBlockhash(rpc, options),
    readAccounts(rpc, [payer, payTo], options),
    readRentExemption(rpc, options),
    readUnitPrice(rpc, [payer, payTo], options),
  ]);
  if (!fresh.ok) return fresh;
  if (!read.ok) return read;
  if (!rent.ok) return rent;
  const [sender = null, recipient = null] = read.accounts;
  const unpayable = judgePayee({ payTo, amount }, recipient, rent.lamports);
  if (unpayable) return unpayable;
  const purse = { payer, amount, sender, rent: rent.lamports };
  const poor = judgePurse(purse, transferFee(0, 0n));
  if (poor) return poor;

  const draft = { from: payer, to: payTo, amount, memo: randomMemo(), blockhash: fresh.blockhash };
  const measured = await measure(rpc, { ...draft, units: MOST_UNITS, unitPrice: 0n }, options);
  if (!measured.ok) return measured;
  const { units } = measured;
  const fee = transferFee(units, unitPrice);
  const tooPoor = judgePurse(purse, fee);
  if (tooPoor) return tooPoor;
  const message = await createTransferMessage({ ...draft, units, unitPrice });
  return { ok: true, message, fee, lastValidBlockHeight: fresh.lastValidBlockHeight };
}

const failure = (code: Exclude<SolPaymentFailure, RpcFailure>["code"], message: string) =>
  ({ ok: false, code, message }) as const;

const sol = (lamports: bigint): string => `${formatDecimal(lamports, 9)} SOL`;

/** An address that holds nothing must get what it needs to exist, and somebody must be able to have its key. */
function judgePayee({ payTo, amount }: SolOffer, account: Account | null, rent: bigint): SolPaymentFailure | undefined {
  const held = account?.lamports ?? 0n;
  if (held + amount < rent) {
    const [has, least, price] = [held, rent, amount].map(sol);
    return failure(
      "recipient_invalid",
      `${payTo} holds ${has} and must hold at least ${least} to exist, which a payment of ${price} does not reach`,
    );
  }
  const key = decodeAddress(payTo);
  if (account || (key && isOnCurve(key))) return undefined;
  return failure("recipient_invalid", `no account is at ${payTo} and no key can open one`);
}

interface Purse {
  readonly payer: string;
  readonly amount: bigint;
  readonly sender: Account | null;
  readonly rent: bigint;
}

/** The amount and the fee are there, and afterwards nothing or enough to exist. */
function judgePurse({ payer, amount, sender, rent }: Purse, fee: bigint): SolPaymentFailure | undefined {
  if (sender && (sender.owner !== programAddress("system") || sender.data.length > 0)) {
    return failure("offer_invalid", `${payer} is an account of a program, no wallet`);
  }
  const held = sender?.lamports ?? 0n;
  const left = held - amount - fee;
  if (left === 0n || left >= rent) return undefined;
  // The chain takes no fee from an account that would then be too small to exist.
  const needed = sol(amount + fee + (left < 0n ? 0n : rent));
  const keep = left < 0n ? "" : `, ${sol(rent)} that an account must keep among it`;
  return failure("insufficient_funds", `needs ${needed}${keep}; ${payer} holds ${sol(held)}`);
}

/** The compute units of the unsigned payment and a fifth; or why the chain would refuse it. */
async function measure(
  rpc: SolanaRpc,
  parts: TransferParts,
  options: RpcOptions,
): Promise<{ readonly ok: true; readonly units: number } | SolPaymentFailure> {
  const wire = toBase64(toWire(await createTransferMessage(parts)));
  const simulation = await simulate(rpc, wire, { ...options, sigVerify: false });
  if (!simulation.ok) return simulation;
  const { error, units = MOST_UNITS } = simulation;
  if (error === null) return { ok: true, units: Math.min(unitLimit(units), MOST_UNITS) };
  const trouble = readTrouble(error);
  const words = `the chain would refuse the payment: ${printError(error)}`;
  if (trouble.kind === "fee") return failure("insufficient_funds", words);
  return failure(trouble.kind === "rent" ? "recipient_invalid" : "offer_invalid", words);
}
