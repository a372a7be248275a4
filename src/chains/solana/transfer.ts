// A transfer of SOL or of a token as one v0 message: compute limit, compute price, the transfer, a memo. Whoever signs it
// and whoever pays its network fee may be two. Says nothing about whether the chain would take it.
import { decodeAddress } from "./base58.js";
import { toHex } from "./bytes.js";
import { programAddress } from "./programs.js";
import { associatedTokenAddress } from "./token-account.js";
import {
  callComputeLimit,
  callComputePrice,
  callMemo,
  callSystemTransfer,
  callTransferChecked,
} from "./transfer-calls.js";
import { type Call, compileMessage } from "./transfer-message.js";

/** A token that is moved between associated token accounts. */
export interface TransferToken {
  readonly mint: string;
  readonly decimals: number;
  /** The classic program where it is absent. */
  readonly tokenProgram?: string | undefined;
}

export interface TransferParts {
  /** Whose money it is, who signs; base58. */
  readonly from: string;
  /** The recipient; of a token account its owner. */
  readonly to: string;
  /** Absent = SOL. */
  readonly token?: TransferToken;
  /** Atomic units, or lamports. */
  readonly amount: bigint;
  /** Makes two equal transfers two transactions: a reference, or random digits. Null = none, and something else tells them apart. */
  readonly memo: string | null;
  /** Base58. */
  readonly blockhash: string;
  /** Compute unit limit. */
  readonly units: number;
  /** Micro-lamports a unit. */
  readonly unitPrice: bigint;
  /** Who pays the network fee and signs first; absent = the sender. */
  readonly feePayer?: string;
}

/**
 * The message of a transfer.
 *
 * @throws RangeError where an address is none or a number does not fit.
 * @example
 * const message = await createTransferMessage({ from, to, amount: 1_000_000n, memo, blockhash, units: 30_000, unitPrice: 0n });
 * toWire(message); // the unsigned transaction
 */
export async function createTransferMessage(parts: TransferParts): Promise<Uint8Array> {
  const { from, feePayer = from, blockhash, units, unitPrice, memo } = parts;
  const calls = [callComputeLimit(units), callComputePrice(unitPrice), await callMove(parts)];
  if (memo !== null) calls.push(callMemo(memo));
  return compileMessage({
    feePayer: keyOf(feePayer, "feePayer"),
    blockhash: keyOf(blockhash, "blockhash"),
    calls,
  });
}

async function callMove({ from, to, token, amount }: TransferParts): Promise<Call> {
  const [sender, recipient] = [keyOf(from, "from"), keyOf(to, "to")];
  if (!token) return callSystemTransfer(sender, recipient, amount);
  const accounts = await tokenAccountsOf({ from, to, token });
  return callTransferChecked({
    program: keyOf(token.tokenProgram ?? programAddress("token"), "tokenProgram"),
    source: keyOf(accounts.source, "the source"),
    mint: keyOf(token.mint, "mint"),
    destination: keyOf(accounts.destination, "the destination"),
    authority: sender,
    amount,
    decimals: token.decimals,
  });
}

/**
 * The associated token accounts between which a token moves, base58.
 *
 * @throws RangeError where an address is none.
 */
export async function tokenAccountsOf({
  from,
  to,
  token,
}: Pick<TransferParts, "from" | "to"> & { token: TransferToken }) {
  const program = token.tokenProgram ?? programAddress("token");
  const [source, destination] = await Promise.all([
    associatedTokenAddress(from, token.mint, program),
    associatedTokenAddress(to, token.mint, program),
  ]);
  if (source === undefined || destination === undefined) throw new RangeError("a token account cannot be derived");
  return { source, destination };
}

function keyOf(address: string, what: string): Uint8Array {
  const key = decodeAddress(address);
  if (!key) throw new RangeError(`${what} must be base58 of 32 bytes`);
  return key;
}

/** 16 random bytes in hex: a memo that no other transfer has. Too short to be taken for the reference of a secret. */
export const randomMemo = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));
