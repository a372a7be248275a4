// Reads the parameters of RPC calls: positions and one object of settings, each checked before it is used.
import * as z from "zod/mini";
import { fromBase58 } from "./encoding.js";
import { COMMITMENTS, type Commitment, type Ledger } from "./ledger.js";
import { invalidParams, RPC_CODES, RpcError } from "./rpc-error.js";

const config = z.object({
  commitment: z.optional(z.enum(COMMITMENTS)),
  preflightCommitment: z.optional(z.enum(COMMITMENTS)),
  minContextSlot: z.optional(z.number()),
  encoding: z.optional(z.enum(["base58", "base64", "json", "jsonParsed"])),
  dataSlice: z.optional(z.object({ offset: z.number(), length: z.number() })),
  searchTransactionHistory: z.optional(z.boolean()),
  maxSupportedTransactionVersion: z.optional(z.number()),
  transactionDetails: z.optional(z.enum(["full", "signatures", "none", "accounts"])),
  skipPreflight: z.optional(z.boolean()),
  maxRetries: z.optional(z.nullable(z.number())),
  sigVerify: z.optional(z.boolean()),
  replaceRecentBlockhash: z.optional(z.boolean()),
  innerInstructions: z.optional(z.boolean()),
  accounts: z.optional(z.object({ encoding: z.optional(z.string()), addresses: z.array(z.string()) })),
  limit: z.optional(z.number()),
  before: z.optional(z.string()),
  until: z.optional(z.string()),
  enableReceivedNotification: z.optional(z.boolean()),
});
export type Config = z.infer<typeof config>;

export type Params = readonly unknown[];

/** The settings object at a position; `{}` where it is absent. */
export function configAt(params: Params, index: number): Config {
  const { success, data, error } = config.safeParse(params[index] ?? {});
  if (!success) throw invalidParams(z.prettifyError(error));
  return data;
}

export function textAt(params: Params, index: number): string {
  const value = params[index];
  if (typeof value !== "string") throw invalidParams(`expected a string at position ${index}`);
  return value;
}

export function numberAt(params: Params, index: number): number {
  const value = params[index];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`expected an integer at position ${index}`);
  }
  return value;
}

export const addressAt = (params: Params, index: number): string => asAddress(textAt(params, index));

/** The address itself. */
export function asAddress(text: string): string {
  if (fromBase58(text)?.length !== 32) throw invalidParams("WrongSize");
  return text;
}

export function addressesAt(params: Params, index: number): readonly string[] {
  const { success, data } = z.array(z.string()).safeParse(params[index]);
  if (!success) throw invalidParams(`expected addresses at position ${index}`);
  return data.map(asAddress);
}

/** A node's default is `finalized`. Refuses where the level has not seen the slot that the caller has. */
export function levelOf(ledger: Ledger, { commitment = "finalized", minContextSlot }: Config): Commitment {
  const contextSlot = ledger.slot(commitment);
  if (minContextSlot !== undefined && contextSlot < BigInt(minContextSlot)) {
    throw new RpcError(RPC_CODES.minContextSlot, "Minimum context slot has not been reached", { contextSlot });
  }
  return commitment;
}
