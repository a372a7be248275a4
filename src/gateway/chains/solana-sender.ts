// Whether a sender on Solana has what a transfer takes: the amount, the network fee, and afterwards nothing or enough to
// exist. Every refusal names what is needed and what is there.
import { readTokenAccount } from "../../chains/solana/accounts.js";
import { programAddress } from "../../chains/solana/programs.js";
import type { Transfer } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import type { TransferState } from "./solana-state.js";
import { invalid, inWords } from "./words.js";

/** Whether transfers of this address are signed by a key at all. */
export function judgeSender({ from }: Transfer, { sender }: TransferState): Fault | undefined {
  if (!sender || (sender.owner === programAddress("system") && sender.data.length === 0)) return undefined;
  return invalid("INVALID_REQUEST", "walletAddress", `${from} is an account of the program ${sender.owner}, no wallet`);
}

/** Whether the sender's SOL suffices. `fee`: lamports of the network fee, priority included. */
export function judgeSol(
  { network: { native } }: SolanaTransferChain,
  { from, amount, asset }: Transfer,
  { sender, rent, token }: TransferState,
  fee: bigint,
): Fault | undefined {
  const held = sender?.lamports ?? 0n;
  const moved = token ? 0n : amount;
  const left = held - moved - fee;
  const has = `${from} holds ${inWords(held, native)}`;
  const cost = `${inWords(fee, native)} of network fees`;
  const parts = token ? cost : `${inWords(moved, asset)} and ${cost}`;
  if (left < 0n) return insufficient(`needs ${inWords(moved + fee, native)} (${parts}); ${has}`);
  if (left === 0n || left >= rent) return undefined;
  // The chain takes no fee from an account that would then be too small to exist.
  const needed = inWords(moved + fee + rent, native);
  return insufficient(`needs ${needed} (${parts}, and ${inWords(rent, native)} that an account must keep); ${has}`);
}

/** Whether the sender's tokens suffice, and may be moved. */
export function judgeTokens(
  { from, asset, amount }: Transfer,
  { token }: TransferState,
  program: string,
): Fault | undefined {
  const account = token?.source?.owner === program ? readTokenAccount(token.source) : undefined;
  const held = account?.owner === from && account.mint === asset.address ? account.amount : 0n;
  if (held < amount) return insufficient(`needs ${inWords(amount, asset)}; ${from} holds ${inWords(held, asset)}`);
  if (!account?.frozen) return undefined;
  return invalid("INVALID_REQUEST", "walletAddress", `the token account of ${from} for ${asset.symbol} is frozen`);
}

export const insufficient = (message: string): Fault => fault("INSUFFICIENT_BALANCE", `the payment ${message}`);
