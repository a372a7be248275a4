// Builds an account's own transfer as a transaction of type 2 (EIP-1559) that nobody has signed yet: native currency or a token,
// with the reference of a payment at its end. It is simulated, affordable, and priced so that it is good as a payment's proof
// (unsent.ts judges those). Whoever holds the key signs it elsewhere; nothing is sent.
import { isAddressOf } from "../../address.js";
import { MAX_UINT256 } from "../../money.js";
import { NATIVE } from "../../requirement.js";
import type { Block } from "./answers.js";
import { lower } from "./chain.js";
import { DEFAULT_MAX_FEE_PER_GAS, suggestedTip } from "./fees.js";
import { addressWord, type Hex, word } from "./hex.js";
import type { Rpc, RpcOptions } from "./rpc.js";
import type { TransactionFields } from "./transaction.js";
import { askMarket, isRecipientAtFault, type TransferMarket } from "./transfer-market.js";

export interface WantedTransfer {
  readonly from: string;
  readonly to: string;
  /** `native`, or the token's address. */
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** 32 bytes: the SHA-256 of a secret. */
  readonly reference?: Hex;
  /** Wei that the whole transaction gives as its tip; absent = what the node suggests. */
  readonly priorityFee?: bigint;
}

export interface DraftOptions extends RpcOptions {
  /** The account nonce; absent = the sender's next one, those that wait included. */
  readonly nonce?: number;
  /** Wei: above it, gas is not bought. 1,000 gwei. */
  readonly maxFeePerGas?: bigint;
}

export interface Draft {
  readonly ok: true;
  readonly fields: TransactionFields;
  /** Wei that the gas may cost at most. */
  readonly fee: bigint;
  /** The latest block when it was made. */
  readonly head: Block;
}

/**
 * Why there is no draft. `recipient`: the payee cannot be paid so. `refused`: the token refuses it. `expensive`: gas costs more
 * than the limit now. `no_token`: there is no contract at the asset's address.
 */
export type Undrafted =
  | { readonly ok: false; readonly problem: Worded; readonly message: string }
  /** Atomic units of the asset, or for `fees` wei: the native amount and the most that the gas can cost. */
  | { readonly ok: false; readonly problem: "balance" | "fees"; readonly needed: bigint; readonly got: bigint }
  /** Wei: the least or the most that `priorityFee` may be. */
  | { readonly ok: false; readonly problem: "fee_too_low" | "fee_too_high"; readonly limit: bigint };
type Worded = "recipient" | "refused" | "expensive" | "no_token" | "unreachable";

const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

const undrafted = (problem: Worded, message: string): Undrafted => ({ ok: false, problem, message });

/**
 * Drafts a transfer: one request where all is well, a second one where the node names no tip or a token refuses.
 *
 * @example
 * const draft = await draftTransfer(rpc, 84532, { from, to, asset: "native", amount: 10n ** 15n });
 * if (draft.ok) await wallet.signTransaction(draft.fields);
 */
export async function draftTransfer(
  rpc: Rpc,
  chainId: number,
  wanted: WantedTransfer,
  options: DraftOptions = {},
): Promise<Draft | Undrafted> {
  const refused = judgeWords(wanted);
  if (refused) return refused;
  const call = callOf(wanted);
  const market = await askMarket(rpc, wanted, call, options);
  if ("problem" in market) return undrafted(market.problem, market.message);
  if (market.holding < wanted.amount) {
    return { ok: false, problem: "balance", needed: wanted.amount, got: market.holding };
  }
  if (market.simulation.outcome === "reverts") return whenReverted(rpc, wanted, market.simulation.reason, options);
  const gas = withHeadroom(market.gas);
  const priced = await price(rpc, wanted, market, gas, options);
  if ("problem" in priced) return priced;
  const fee = gas * priced.maxFeePerGas;
  const needed = call.value + fee;
  if (market.balance < needed) return { ok: false, problem: "fees", needed, got: market.balance };
  const nonce = BigInt(options.nonce ?? market.nonce);
  const fields = { chainId: BigInt(chainId), nonce, ...priced, gas, ...call };
  return { ok: true, fields, fee, head: market.head };
}

/** What needs no node: a payee that nobody is, and an amount that nobody can have. */
function judgeWords({ to, asset, amount }: WantedTransfer): Undrafted | undefined {
  if (!isAddressOf("evm", to)) {
    return undrafted("recipient", "expected an EVM address (0x and 40 hex digits; check the mixed-case checksum)");
  }
  if (lower(to) === ZERO_ADDRESS) return undrafted("recipient", "the zero address is nobody's: what it gets is lost");
  if (lower(to) === lower(asset)) return undrafted("recipient", "the token's own contract: what it gets is lost");
  return amount > MAX_UINT256 ? undrafted("refused", "no asset has so many units") : undefined;
}

/** The call that moves it: native currency with the reference as calldata, or `transfer(to, amount)` and then the reference. */
export function callOf({
  to,
  asset,
  amount,
  reference = "0x",
}: Omit<WantedTransfer, "from">): Pick<TransactionFields, "to" | "value" | "data"> {
  if (asset === NATIVE) return { to: lower(to), value: amount, data: lower(reference) };
  const data: Hex = `0xa9059cbb${addressWord(to)}${word(amount)}${lower(reference).slice(2)}`;
  return { to: lower(asset), value: 0n, data };
}

/** A quarter more than it needs now: the chain's state may be another one when it is mined, and what is not used costs nothing. */
const withHeadroom = (gas: bigint): bigint => gas + gas / 4n;

/** A contract that takes no native currency is the payee's fault; a token's refusal may be about either side. */
async function whenReverted(rpc: Rpc, wanted: WantedTransfer, reason: string, options: RpcOptions): Promise<Undrafted> {
  if (wanted.asset === NATIVE) return undrafted("recipient", `it is a contract that refuses the payment (${reason})`);
  const isRecipient = await isRecipientAtFault(rpc, wanted, callOf({ ...wanted, to: wanted.from }), options);
  return isRecipient
    ? undrafted("recipient", `the token does not pay to it (${reason})`)
    : undrafted("refused", `the token refuses the transfer (${reason})`);
}

type Price = Pick<TransactionFields, "maxFeePerGas" | "maxPriorityFeePerGas">;

/**
 * Invariant: a proof needs twice the base fee of the block at which it is shown (unsent.ts). The base fee rises by an eighth a
 * block, so two and a half times the present one leaves time to sign it.
 */
async function price(
  rpc: Rpc,
  { priorityFee }: WantedTransfer,
  { head, tip }: TransferMarket,
  gas: bigint,
  { maxFeePerGas: cap = DEFAULT_MAX_FEE_PER_GAS, ...options }: DraftOptions,
): Promise<Price | Undrafted> {
  const base = (head.baseFeePerGas * 5n) / 2n;
  const expensive = undrafted("expensive", `gas costs more than ${cap} wei a unit now`);
  if (base > cap) return expensive;
  if (priorityFee === undefined) {
    const suggested = await suggestedTip(rpc, head.baseFeePerGas, tip, options);
    if (suggested === undefined) return undrafted("unreachable", "the chain gave no readable tip");
    return base + suggested > cap ? expensive : { maxFeePerGas: base + suggested, maxPriorityFeePerGas: suggested };
  }
  const asked = priorityFee / gas;
  if (asked === 0n) return { ok: false, problem: "fee_too_low", limit: gas };
  if (base + asked > cap) return { ok: false, problem: "fee_too_high", limit: (cap - base) * gas };
  return { maxFeePerGas: base + asked, maxPriorityFeePerGas: asked };
}
