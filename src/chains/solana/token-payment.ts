// A token payment for a seller's offer, as a published buyer makes it: limit, price, TransferChecked, memo; signed by the
// payer, with the seller's slot left empty (protocol §4.1, §4.2). Nothing is sent: the seller settles it, or nobody does.
import { MAX_UINT64 } from "../../money.js";
import { readAccounts, readTokenAccount } from "./accounts.js";
import { decodeAddress } from "./base58.js";
import { toBase64 } from "./bytes.js";
import { verifySignature } from "./ed25519.js";
import { printError } from "./print.js";
import { programAddress } from "./programs.js";
import type { RpcFailure, RpcOptions, SolanaRpc } from "./rpc.js";
import { simulate } from "./simulate.js";
import { DEFAULT_CAPS } from "./terms.js";
import { messageHash } from "./transaction.js";
import { createTransferMessage, randomMemo, type TransferParts, tokenAccountsOf } from "./transfer.js";
import { readFreshBlockhash } from "./transfer-blockhash.js";
import { toWire } from "./transfer-message.js";
import type { SolanaSigner } from "./transfer-signer.js";

/** One offer of a seller, `exact` on Solana. */
export interface TokenOffer {
  /** Whose signature is missing, who pays the network fee. */
  readonly feePayer: string;
  readonly mint: string;
  readonly decimals: number;
  /** The classic program where it is absent. */
  readonly tokenProgram?: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Owner of the account that is paid. */
  readonly payTo: string;
  /** The seller's own words, verbatim; absent = random digits; null = none, as facilitators of x402 1.x demand (protocol §4.3). */
  readonly memo?: string | null;
}

export interface TokenPayment {
  readonly ok: true;
  /** The partially signed transaction, base64: the payload's `transaction`. */
  readonly transaction: string;
  readonly payer: string;
  /** SHA-256 of the message, hex: what the payment is known by (`Identity.key`, a trace's `nonce`). */
  readonly messageHash: string;
  /** What bounds its life: a trace's `expiry`. */
  readonly expiry: { readonly slot: number; readonly lastValidBlockHeight: number };
}

/** A payment before its payer has signed it. */
export interface TokenDraft extends Pick<TokenPayment, "ok" | "expiry"> {
  readonly message: Uint8Array;
}

export type TokenPaymentFailure =
  | RpcFailure
  /** `offer_invalid`: such an offer cannot be paid. `recipient_invalid`: the seller's account cannot receive. */
  | {
      readonly ok: false;
      readonly code: "offer_invalid" | "recipient_invalid" | "insufficient_funds";
      readonly message: string;
    };

/** As published buyers of v2 set it, unless the memo or the token takes more. */
const UNITS = 20_000;
const UNIT_PRICE = 1n;
const UNITS_SPREAD = 10_000;
/** Micro-lamports. */
const PRICE_SPREAD = 4_096;
const MAX_MEMO_BYTES = 256;

/**
 * Signs a payment for an offer, once the chain shows that it would succeed. Never rejects but where the signer does.
 *
 * @example const paid = await createTokenPayment(rpc, offer, createSolanaSigner(secret), { signal });
 */
export async function createTokenPayment(
  rpc: SolanaRpc,
  offer: TokenOffer,
  signer: SolanaSigner,
  options: RpcOptions = {},
): Promise<TokenPayment | TokenPaymentFailure> {
  const payer = signer.address;
  const draft = await draftTokenPayment(rpc, offer, payer, options);
  if (!draft.ok) return draft;
  const { message, expiry } = draft;
  const signature = await signer.sign(new Uint8Array(message));
  // Invariant: a signer that is another one than it says signs nothing that leaves.
  if (!(await verifySignature(decodeAddress(payer)!, message, signature))) {
    throw new Error(`the signature is not one of ${payer}`);
  }
  return {
    ok: true,
    transaction: toBase64(toWire(message, [undefined, signature])),
    payer,
    messageHash: await messageHash(message),
    expiry,
  };
}

/** The message of a payment that nobody has signed. Never rejects. */
export async function draftTokenPayment(
  rpc: SolanaRpc,
  offer: TokenOffer,
  payer: string,
  options: RpcOptions = {},
): Promise<TokenDraft | TokenPaymentFailure> {
  const problem = findProblem(offer, payer);
  if (problem !== undefined) return failure("offer_invalid", problem);
  const [fresh, poor] = await Promise.all([
    readFreshBlockhash(rpc, options),
    judgeAccounts(rpc, offer, payer, options),
  ]);
  if (!fresh.ok) return fresh;
  if (poor) return poor;
  const parts: TransferParts = {
    from: payer,
    to: offer.payTo,
    token: { mint: offer.mint, decimals: offer.decimals, tokenProgram: offer.tokenProgram },
    amount: offer.amount,
    memo: offer.memo === undefined ? randomMemo() : offer.memo,
    blockhash: fresh.blockhash,
    feePayer: offer.feePayer,
    units: DEFAULT_CAPS.maxComputeUnits,
    unitPrice: UNIT_PRICE,
  };
  const measured = await measure(rpc, parts, options);
  if (!measured.ok) return measured;
  const message = await createTransferMessage({ ...parts, ...tellApart(parts, measured.units) });
  const { slot, lastValidBlockHeight } = fresh;
  return { ok: true, message, expiry: { slot, lastValidBlockHeight } };
}

const failure = (code: Exclude<TokenPaymentFailure, RpcFailure>["code"], message: string) =>
  ({ ok: false, code, message }) as const;

/**
 * Two equal payments within one blockhash would be one transaction. Where no memo tells them apart, limit and price do: 40 million
 * pairs, at a cost of 123 lamports to the fee payer at most.
 */
function tellApart({ memo }: TransferParts, units: number): Pick<TransferParts, "units" | "unitPrice"> {
  if (memo !== null) return { units, unitPrice: UNIT_PRICE };
  const [more = 0, price = 0] = crypto.getRandomValues(new Uint32Array(2));
  return { units: units + (more % UNITS_SPREAD), unitPrice: UNIT_PRICE + BigInt(price % PRICE_SPREAD) };
}

/** What no chain need be asked for. Each would make a payment that the seller refuses, or one that pays nobody. */
function findProblem(offer: TokenOffer, payer: string): string | undefined {
  const { feePayer, mint, payTo, tokenProgram = programAddress("token"), amount } = offer;
  const memo = offer.memo ?? "";
  for (const [name, address] of Object.entries({ feePayer, mint, payTo, tokenProgram, payer })) {
    if (!decodeAddress(address)) return `${name} must be a Solana address`;
  }
  if (tokenProgram !== programAddress("token") && tokenProgram !== programAddress("token2022")) {
    return `expected one of the two token programs, got ${tokenProgram}`;
  }
  // The payer must be the second signer: who pays the fee as well would sign for two.
  if (feePayer === payer) return "the fee payer must be the seller's, not the payer";
  if (payTo === payer) return "the seller must be somebody else than the payer";
  if (!Number.isInteger(offer.decimals) || offer.decimals < 0 || offer.decimals > 255) return "decimals must be a byte";
  if (amount <= 0n || amount > MAX_UINT64) return "the amount must be above 0 and fit 64 bits";
  const length = new TextEncoder().encode(memo).length;
  return length > MAX_MEMO_BYTES ? `a memo has at most ${MAX_MEMO_BYTES} bytes, got ${length}` : undefined;
}

/** The money is there, and the seller can have it. */
async function judgeAccounts(
  rpc: SolanaRpc,
  { payTo, amount, ...token }: TokenOffer,
  payer: string,
  options: RpcOptions,
): Promise<TokenPaymentFailure | undefined> {
  const program = token.tokenProgram ?? programAddress("token");
  const { source, destination } = await tokenAccountsOf({ from: payer, to: payTo, token });
  const read = await readAccounts(rpc, [source, destination], options);
  if (!read.ok) return read;
  const [paying, paid] = read.accounts.map((account) =>
    account?.owner === program ? readTokenAccount(account) : undefined,
  );
  const held = paying?.owner === payer && paying.mint === token.mint ? paying.amount : 0n;
  if (held < amount)
    return failure("insufficient_funds", `expected ${amount} of ${token.mint}, ${payer} holds ${held}`);
  if (paid?.owner === payTo && paid.mint === token.mint && !paid.frozen) return undefined;
  return failure("recipient_invalid", `${payTo} has no token account for ${token.mint} that can receive`);
}

/** The units of the unsigned payment: the usual limit where it suffices, else what it takes and a fifth. */
async function measure(
  rpc: SolanaRpc,
  parts: TransferParts,
  options: RpcOptions,
): Promise<{ readonly ok: true; readonly units: number } | TokenPaymentFailure> {
  const wire = toBase64(toWire(await createTransferMessage(parts)));
  const simulation = await simulate(rpc, wire, { ...options, sigVerify: false });
  if (!simulation.ok) return simulation;
  if (simulation.error !== null) {
    return failure("offer_invalid", `the chain would refuse the payment: ${printError(simulation.error)}`);
  }
  const { units = UNITS } = simulation;
  // No facilitator's usual cap is passed: what needs more is refused by it and not by the chain.
  return { ok: true, units: Math.max(UNITS, Math.min(Math.ceil(units * 1.2), DEFAULT_CAPS.maxComputeUnits)) };
}
