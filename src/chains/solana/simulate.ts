// What the chain would do with a transaction now, and what that means. A simulation saves fees and tells the payer why; the
// rules that protect the money are in the static part.
import * as z from "zod/mini";
import { type Account, accountSchema, toAccount } from "./accounts.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

export type Simulation =
  | {
      readonly ok: true;
      /** How far the node was. */
      readonly slot: number;
      /** Why the chain would refuse it; null where it would succeed. */
      readonly error: unknown;
      /** The accounts asked for as they would be afterwards; empty after an error. */
      readonly accounts: readonly (Account | null)[];
      /** Compute units that it took; undefined where the node does not tell. */
      readonly units: number | undefined;
    }
  | RpcFailure;

const answerSchema = z.object({
  context: z.object({ slot: z.int() }),
  value: z.object({
    // A missing member is no success.
    err: z.custom<unknown>((value) => value !== undefined),
    accounts: z.optional(z.nullable(z.array(accountSchema))),
    unitsConsumed: z.optional(z.nullable(z.int().check(z.nonnegative()))),
  }),
});

export interface SimulationOptions extends RpcOptions {
  /** Also check all signatures. */
  readonly sigVerify: boolean;
  /** Accounts to be shown as they would be afterwards. */
  readonly watch?: readonly string[];
}

/**
 * Simulates a transaction (base64) at `confirmed` with its own blockhash. A blockhash that the node does not know is asked
 * about once more: the buyer's node may be a moment ahead of ours. Never rejects.
 */
export async function simulate(rpc: SolanaRpc, wire: string, options: SimulationOptions): Promise<Simulation> {
  const first = await simulateOnce(rpc, wire, options);
  if (!first.ok || first.error !== "BlockhashNotFound" || options.signal?.aborted) return first;
  await new Promise((resolve) => setTimeout(resolve, BEHIND_MS));
  return simulateOnce(rpc, wire, options);
}

/** A slot. */
const BEHIND_MS = 400;

async function simulateOnce(rpc: SolanaRpc, wire: string, options: SimulationOptions): Promise<Simulation> {
  const { sigVerify, watch = [], ...rest } = options;
  const config = {
    encoding: "base64",
    commitment: "confirmed",
    sigVerify,
    replaceRecentBlockhash: false,
    ...(watch.length > 0 && { accounts: { encoding: "base64", addresses: watch } }),
  };
  const reply = await rpc.call("simulateTransaction", [wire, config], rest);
  if (!reply.ok) return failureOf(reply);
  const parsed = answerSchema.safeParse(reply.result);
  if (!parsed.success) return unreadable;
  const { context, value } = parsed.data;
  const units = value.unitsConsumed ?? undefined;
  if (value.err !== null) return { ok: true, slot: context.slot, error: value.err, accounts: [], units };
  const accounts = (value.accounts ?? []).map(toAccount).filter((account) => account !== undefined);
  return accounts.length === watch.length ? { ok: true, slot: context.slot, error: null, accounts, units } : unreadable;
}

const unreadable: Simulation = {
  ok: false,
  code: "receiver_bad_response",
  message: "the node's simulation cannot be read",
};

/** What a transaction's error is about. */
export type Trouble =
  | { readonly kind: "used" }
  | { readonly kind: "blockhash" }
  /** The fee payer has no lamports for the fee. */
  | { readonly kind: "fee" }
  /** An account would hold less than its rent. */
  | { readonly kind: "rent"; readonly account: number }
  | { readonly kind: "instruction"; readonly index: number; readonly custom: number | undefined }
  | { readonly kind: "other" };

const FEE = new Set(["AccountNotFound", "InsufficientFundsForFee", "InvalidAccountForFee"]);

const instructionError = z.object({
  InstructionError: z.tuple([z.int(), z.union([z.string(), z.looseObject({ Custom: z.optional(z.int()) })])]),
});
const rentError = z.object({ InsufficientFundsForRent: z.object({ account_index: z.int() }) });

/** Reads an error as nodes write it: a word, or an object with one member. */
export function readTrouble(error: unknown): Trouble {
  if (error === "AlreadyProcessed") return { kind: "used" };
  if (error === "BlockhashNotFound") return { kind: "blockhash" };
  if (typeof error === "string" && FEE.has(error)) return { kind: "fee" };
  const rent = rentError.safeParse(error);
  if (rent.success) return { kind: "rent", account: rent.data.InsufficientFundsForRent.account_index };
  const failed = instructionError.safeParse(error);
  if (!failed.success) return { kind: "other" };
  const [index, why] = failed.data.InstructionError;
  return { kind: "instruction", index, custom: typeof why === "string" ? undefined : why.Custom };
}
