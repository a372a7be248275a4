// Everything that the chain is asked before a transfer is built, in one round of calls: whose accounts are there, the
// newest blockhash, how far the chain is, and what an account must hold to exist.
import * as z from "zod/mini";
import { type Account, readAccounts } from "../../chains/solana/accounts.js";
import { readRentExemption } from "../../chains/solana/native-rent.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "../../chains/solana/rpc.js";
import { type FreshBlockhash, readFreshBlockhash } from "../../chains/solana/transfer-blockhash.js";
import { readUnitPrice } from "../../chains/solana/transfer-fees.js";

/** The accounts of a transfer, by address. */
export interface TransferAddresses {
  readonly from: string;
  readonly to: string;
  readonly token?: { readonly mint: string; readonly source: string; readonly destination: string };
}

export interface TransferState {
  readonly ok: true;
  readonly sender: Account | null;
  readonly recipient: Account | null;
  /** Absent for SOL. */
  readonly token?: Readonly<Record<"mint" | "source" | "destination", Account | null>>;
  readonly fresh: FreshBlockhash;
  readonly blockHeight: number;
  readonly epoch: number;
  /** Lamports without which an account that holds no data cannot exist. */
  readonly rent: bigint;
  /** Micro-lamports a unit, by what was paid lately. */
  readonly unitPrice: bigint;
}

const epochSchema = z.object({ epoch: z.int(), blockHeight: z.int() });

/** Reads the state at `confirmed`. Never rejects. */
export async function readTransferState(
  rpc: SolanaRpc,
  { from, to, token }: TransferAddresses,
  options: RpcOptions,
): Promise<TransferState | RpcFailure> {
  const addresses = token ? [from, to, token.mint, token.source, token.destination] : [from, to];
  const written = token ? [from, token.source, token.destination] : [from, to];
  const [read, fresh, epoch, rent, unitPrice] = await Promise.all([
    readAccounts(rpc, addresses, options),
    readFreshBlockhash(rpc, options),
    rpc.call("getEpochInfo", [{ commitment: "confirmed" }], options),
    readRentExemption(rpc, options),
    readUnitPrice(rpc, written, options),
  ]);
  if (!read.ok) return read;
  if (!fresh.ok) return fresh;
  if (!epoch.ok) return failureOf(epoch);
  if (!rent.ok) return rent;
  const info = epochSchema.safeParse(epoch.result);
  if (!info.success) return { ok: false, code: "receiver_bad_response", message: "the node's epoch cannot be read" };
  const [sender = null, recipient = null, mint = null, source = null, destination = null] = read.accounts;
  return {
    ok: true,
    sender,
    recipient,
    ...(token && { token: { mint, source, destination } }),
    fresh,
    ...info.data,
    rent: rent.lamports,
    unitPrice,
  };
}
