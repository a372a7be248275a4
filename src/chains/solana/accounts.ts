// Accounts as an RPC answer carries them, and what a token account holds. Reads bytes; judges nothing.
import * as z from "zod/mini";
import { encodeBase58 } from "./base58.js";
import { fromBase64 } from "./bytes.js";
import { findExtension } from "./extensions.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

export interface Account {
  /** The program that owns it, base58. */
  readonly owner: string;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

const u64 = z.int().check(z.nonnegative());

/** An account in base64; null where there is none. */
export const accountSchema = z.nullable(
  z.object({ owner: z.string(), lamports: z.int(), data: z.tuple([z.string(), z.literal("base64")]) }),
);

export function toAccount(account: z.infer<typeof accountSchema>): Account | null | undefined {
  if (!account) return null;
  const data = fromBase64(account.data[0]);
  return data && { owner: account.owner, lamports: BigInt(account.lamports), data };
}

const answerSchema = z.object({ context: z.object({ slot: u64 }), value: z.array(accountSchema) });

export type Accounts =
  | { readonly ok: true; readonly slot: number; readonly accounts: readonly (Account | null)[] }
  | RpcFailure;

/** Accounts at `confirmed`, in the order asked; null where there is none. Never rejects. */
export async function readAccounts(
  rpc: SolanaRpc,
  addresses: readonly string[],
  options: RpcOptions = {},
): Promise<Accounts> {
  const config = { encoding: "base64", commitment: "confirmed" };
  const reply = await rpc.call("getMultipleAccounts", [addresses, config], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = answerSchema.safeParse(reply.result);
  const accounts = parsed.success ? parsed.data.value.map(toAccount) : [];
  const whole = accounts.filter((account) => account !== undefined);
  if (!parsed.success || whole.length !== addresses.length) {
    return { ok: false, code: "receiver_bad_response", message: "the node's accounts cannot be read" };
  }
  return { ok: true, slot: parsed.data.context.slot, accounts: whole };
}

export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly frozen: boolean;
  /** What a token with a transfer fee has kept back from this account. */
  readonly withheld: bigint;
}

const ACCOUNT_SIZE = 165;
const STATE_AT = 108;
const FROZEN = 2;

/** The token account in these bytes; undefined where they are none that is in use. */
export function readTokenAccount({ data }: Pick<Account, "data">): TokenAccount | undefined {
  const state = data[STATE_AT];
  if (data.length < ACCOUNT_SIZE || !state) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const fee = findExtension(data, "transferFeeAmount");
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(32, 64)),
    amount: view.getBigUint64(64, true),
    frozen: state === FROZEN,
    withheld: fee?.length === 8 ? new DataView(fee.buffer, fee.byteOffset, 8).getBigUint64(0, true) : 0n,
  };
}
