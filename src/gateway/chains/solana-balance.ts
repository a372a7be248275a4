// What an address holds on Solana.
import { readAccounts, readTokenAccount } from "../../chains/solana/accounts.js";
import { programAddress } from "../../chains/solana/programs.js";
import { associatedTokenAddress } from "../../chains/solana/token-account.js";
import { NATIVE } from "../../requirement.js";
import type { Asset } from "../chain.js";
import type { Outcome } from "../errors.js";
import { type SolanaTransferChain, unreachable } from "./solana-chain.js";
import { invalid } from "./words.js";

/** Lamports, or atomic units in the owner's associated token account; 0 where there is none. Never rejects. */
export async function balanceOnSolana(
  chain: SolanaTransferChain,
  owner: string,
  { address: mint, tokenProgram = programAddress("token") }: Asset,
  signal: AbortSignal,
): Promise<Outcome<bigint>> {
  const account = mint === NATIVE ? owner : await associatedTokenAddress(owner, mint, tokenProgram);
  if (account === undefined) return invalid("INVALID_REQUEST", "walletAddress", "expected a Solana address");
  const read = await readAccounts(chain.rpc, [account], { signal });
  if (!read.ok) return unreachable(chain, read);
  const [held = null] = read.accounts;
  if (mint === NATIVE) return { ok: true, value: held?.lamports ?? 0n };
  const token = held?.owner === tokenProgram ? readTokenAccount(held) : undefined;
  const isTheirs = token?.owner === owner && token.mint === mint;
  return { ok: true, value: isTheirs ? token.amount : 0n };
}
