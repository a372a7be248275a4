// What a payment must know of its token on Solana: from our own table, or from the mint itself where it is not in it. A seller's
// word on decimals or on the program is not needed.
import { readAccounts } from "../chains/solana/accounts.js";
import { readMint } from "../chains/solana/mint.js";
import { programAddress } from "../chains/solana/programs.js";
import type { RpcOptions, SolanaRpc } from "../chains/solana/rpc.js";
import type { Offer } from "./offer.js";

export interface PaidMint {
  readonly ok: true;
  readonly decimals: number;
  readonly tokenProgram: string;
}

/** The token of an offer. Never rejects. */
export async function mintOf(
  rpc: SolanaRpc,
  { asset, token, network }: Pick<Offer, "asset" | "token" | "network">,
  options: RpcOptions,
): Promise<PaidMint | { readonly ok: false; readonly message: string }> {
  // Invariant: a token that we know is what we know of it.
  if (token) {
    return { ok: true, decimals: token.decimals, tokenProgram: token.tokenProgram ?? programAddress("token") };
  }
  const read = await readAccounts(rpc, [asset], options);
  if (!read.ok) return read;
  const account = read.accounts[0] ?? null;
  const mint = account && readMint(account);
  return mint ? { ok: true, ...mint } : { ok: false, message: `no token is at ${asset} on ${network.name}` };
}
