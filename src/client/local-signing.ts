// With what local transactions are signed and sent: the caller's account and his own node. Every problem in one PaywallConfigError,
// without a key or a URL in it.
import * as z from "zod/mini";
import type { SolanaSigner } from "../chains/solana/transfer-signer.js";
import { createProblems, type Problems } from "../config-problems.js";
import { reportIssues, whole } from "../config-schema.js";
import { checksumAddress } from "../networks.js";
import { listOf, url } from "../receive/local-schema.js";
import { type EvmAccount, type EvmSigner, type EvmWalletClient, readEvmAccount } from "./evm-account.js";
import { readSolanaKey, type SolanaKey } from "./solana-key.js";

/** An account and a node, and what a call may take. */
export interface LocalSigning {
  /** As `evmWallet` takes it on EVM, as `solanaWallet` does on Solana. Its key is used here and nowhere else. */
  readonly account: EvmAccount | EvmWalletClient | SolanaKey;
  /** Your own node, or several of which one may fail. What is signed is for the chain that it is of. */
  readonly rpcUrl: string | string[];
  /**
   * The most that the chain may take for it, in its own currency: `"0.0005 ETH"`. Where it is left out: on EVM three times what
   * your own node makes of it, on Solana 0.0001 SOL; with a `priorityFee` that and no more.
   */
  readonly maxFee?: string | undefined;
  /** Milliseconds for all of it, 120,000; what has landed late gets one second more, for the gateway's record of it. */
  readonly timeoutMs?: number | undefined;
  /**
   * The same key and order come to the same transaction: it can land once. In this process a gateway that gives another one is
   * refused; in the next one its word is believed. Random where left out.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ends it before anything is sent; after that it ends the waiting only. */
  readonly signal?: AbortSignal | undefined;
}

const schema = z.strictObject({
  account: z.unknown(),
  rpcUrl: listOf(url, "RPC URL"),
  maxFee: z.optional(z.string('expected text such as "0.0005 ETH"')),
  timeoutMs: z.optional(whole(1_000, 3_600_000, "whole milliseconds")),
  idempotencyKey: z.optional(
    z.string("expected text").check(z.regex(/^[\x21-\x7e]{1,255}$/, "expected 1 to 255 visible ASCII characters")),
  ),
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, "expected an AbortSignal")),
});

export interface Signing extends Pick<LocalSigning, "maxFee" | "idempotencyKey" | "signal"> {
  readonly urls: readonly string[];
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  readonly signer: OwnSigner;
  /** Checksummed on EVM. */
  readonly address: string;
}

export type OwnSigner =
  | { readonly family: "evm"; readonly evm: EvmSigner }
  | { readonly family: "solana"; readonly solana: SolanaSigner };

const DEFAULT_MS = 120_000;

/** Accounts of EVM sign typed data; keys of Solana do not, and are often text. */
export const familyOf = (account: unknown): "evm" | "solana" =>
  typeof account === "object" && account !== null && "signTypedData" in account ? "evm" : "solana";

/** `of`: how the function is called. */
export function readSigning(of: string, input: LocalSigning, family: "evm" | "solana"): Signing {
  const problems = createProblems("signing");
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const pathOf = (path: readonly PropertyKey[]) => [of, ...path.map(String)].join(".");
    reportIssues(parsed.error.issues, input, { pathOf, known: () => Object.keys(schema.shape) }, problems);
  }
  const account: unknown = typeof input === "object" && input !== null ? input.account : undefined;
  const signer = readAccount(account, family, {
    ...problems,
    // The readers know them under the names of the wallets.
    add: (_, code, message) => problems.add(`${of}.account`, code, message),
  });
  problems.throwIfAny();
  if (!parsed.success || !signer) throw new TypeError("what cannot be read is a problem");
  const { rpcUrl, timeoutMs = DEFAULT_MS, maxFee, idempotencyKey, signal } = parsed.data;
  const address = signer.family === "evm" ? checksumAddress(signer.evm.address) : signer.solana.address;
  return {
    ...{ maxFee, idempotencyKey, signal, signer, address },
    urls: [rpcUrl].flat(),
    deadlineAt: Date.now() + timeoutMs,
  };
}

function readAccount(account: unknown, family: "evm" | "solana", problems: Problems): OwnSigner | undefined {
  if (family === "solana") {
    const solana = readSolanaKey(account as SolanaKey, problems);
    return solana && { family, solana };
  }
  const evm = readEvmAccount(account as EvmAccount, problems);
  if (evm && !evm.signTransaction) problems.add("", "invalid", "the account signs no transactions");
  return evm && { family, evm };
}
