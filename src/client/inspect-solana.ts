// What a Solana wallet signed, against the offer: a token payment whose fee payer is the seller's, or a transfer of SOL of the
// buyer's own. Read by the same rules as a seller reads it, and then exactly the price and nothing else that costs the payer.
// Source: protocol §4.3; design §6.
import { feeLamports, readComputeLimit, readComputePrice } from "../chains/solana/instructions.js";
import { opens } from "../chains/solana/native-reference.js";
import { verifyNativeStatic } from "../chains/solana/native-static.js";
import { programOf } from "../chains/solana/programs.js";
import type { Refused } from "../chains/solana/reasons.js";
import { DEFAULT_CAPS } from "../chains/solana/terms.js";
import { decodeTransaction, type Transaction } from "../chains/solana/transaction.js";
import { verifyStatic } from "../chains/solana/verify-static.js";
import { TOKEN_PROGRAM } from "../networks.js";
import { describeIssue } from "../wire/issue.js";
import { transactionPayload } from "../wire/payload.js";
import type { SignedFacts } from "./inspect.js";
import type { Offer } from "./offer.js";

/** Lamports that a transfer of one's own may cost beside its amount: 0.001 SOL. */
const MAX_FEE_LAMPORTS = 1_000_000n;
/** What the chain grants a transaction that names no limit, at most. */
const MOST_UNITS = 1_400_000;

export async function findSplMismatch(
  offer: Offer,
  payload: object,
  { payer }: Required<SignedFacts>,
): Promise<string | undefined> {
  const read = readPayload(payload);
  if (!read.ok) return read.problem;
  const { feePayer, memo } = offer.extra;
  if (typeof feePayer !== "string") return "the offer names no fee payer";
  const verified = await verifyStatic(read.text, {
    network: offer.network.id,
    mint: offer.asset,
    payTo: offer.payTo,
    amount: offer.amount,
    feePayer,
    ourSigners: [feePayer],
    ...(typeof memo === "string" && { memo }),
    ...DEFAULT_CAPS,
  });
  if (!verified.ok) return describe(verified);
  if (verified.payer !== payer) return `expected the money to be ${payer}'s, got ${verified.payer}`;
  const program = tokenProgramOf(offer);
  return program === undefined || verified.tokenProgram === program
    ? undefined
    : `expected the token program ${program}, got ${verified.tokenProgram}`;
}

/** Undefined where nobody says which of the two it is: the chain knows, and another one moves nothing. */
function tokenProgramOf({ token, extra }: Offer): string | undefined {
  if (token) return token.tokenProgram ?? TOKEN_PROGRAM;
  return typeof extra.tokenProgram === "string" ? extra.tokenProgram : undefined;
}

export async function findNativeMismatch(
  { payTo, amount }: Offer,
  payload: object,
  { payer }: Required<SignedFacts>,
): Promise<string | undefined> {
  const read = readPayload(payload);
  if (!read.ok) return read.problem;
  const verified = await verifyNativeStatic(read.text, { payTo, amount });
  if (!verified.ok) return describe(verified);
  if (verified.payer !== payer) return `expected it signed by ${payer}, got ${verified.payer}`;
  // Invariant: exactly the price.
  if (verified.lamports !== amount) return `expected a transfer of ${amount} lamports, got ${verified.lamports}`;
  const fee = feeOf(read.transaction);
  if (!(fee <= MAX_FEE_LAMPORTS)) return `its fee is ${fee} lamports where at most ${MAX_FEE_LAMPORTS} are allowed`;
  const { secret } = read;
  return secret === undefined || (await opens(secret, verified.references))
    ? undefined
    : "it carries no hash of the secret beside it";
}

type ReadPayload =
  | { readonly ok: true; readonly text: string; readonly secret: string | undefined; readonly transaction: Transaction }
  | { readonly ok: false; readonly problem: string };

/** Invariant: bytes, never an id: what an id stands for cannot be seen here. */
function readPayload(payload: object): ReadPayload {
  const parsed = transactionPayload.safeParse(payload);
  if (!parsed.success) return { ok: false, problem: describeIssue(parsed.error) };
  const { transaction: text, secret } = parsed.data;
  const decoded = decodeTransaction(text);
  if (!decoded.ok) return { ok: false, problem: `expected the bytes of a transaction, got ${decoded.problem}` };
  const { transaction } = decoded;
  if (transaction.instructions.some((one) => isMemory(transaction, one))) {
    return { ok: false, problem: "it makes or closes an account of Lighthouse, for which the payer would pay" };
  }
  return { ok: true, text, secret: secret ?? undefined, transaction };
}

/** Lighthouse's first two instructions write and close accounts at the payer's cost; all others only assert. */
const isMemory = ({ keys }: Transaction, { program, data }: Transaction["instructions"][number]): boolean =>
  programOf(keys[program]) === "lighthouse" && !((data[0] ?? 0) >= 2);

function feeOf({ header, keys, instructions }: Transaction): bigint {
  const budget = instructions.filter(({ program }) => programOf(keys[program]) === "computeBudget");
  const units = budget.map(({ data }) => readComputeLimit(data)).find((found) => found !== undefined) ?? MOST_UNITS;
  const unitPrice = budget.map(({ data }) => readComputePrice(data)).find((found) => found !== undefined) ?? 0n;
  return feeLamports({ signatures: header.requiredSignatures, units, unitPrice });
}

const describe = ({ reason, expected, got }: Refused): string =>
  [reason.replaceAll("_", " "), expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(", ");
