// Why a wallet on Solana cannot be paid in a token, where the chain has refused: no transfer opens an account for it.
import { readAccounts, readTokenAccount } from "../../chains/solana/accounts.js";
import type { SolanaRpc } from "../../chains/solana/rpc.js";
import { associatedTokenAddress } from "../../chains/solana/token-account.js";
import { TOKEN_PROGRAM } from "../../networks.js";
import { NATIVE } from "../../requirement.js";
import { type Fault, fault } from "../errors.js";
import type { Wanted } from "./requirement.js";

/** INVALID_RECIPIENT where the token account does not exist or is frozen; undefined where it can be paid, or nobody knows. */
export async function judgeTokenAccount(
  { network, asset, payTo }: Wanted,
  options: { readonly signal: AbortSignal },
): Promise<Fault | undefined> {
  const { rpc } = network.transfers;
  if (network.network.family !== "solana" || asset.address === NATIVE || !isSolana(rpc)) return undefined;
  const account = await associatedTokenAddress(payTo, asset.address, asset.tokenProgram ?? TOKEN_PROGRAM);
  const read = account === undefined ? undefined : await readAccounts(rpc, [account], options);
  if (!read?.ok) return undefined;
  const [found] = read.accounts;
  const token = found && readTokenAccount(found);
  if (token && !token.frozen) return undefined;
  const message = token
    ? `the token account of ${payTo} for ${asset.symbol} is frozen`
    : `${payTo} has no token account for ${asset.symbol}: its owner opens one first`;
  return fault("INVALID_RECIPIENT", `walletAddress: ${message}`, { details: [{ path: "walletAddress", message }] });
}

const isSolana = (rpc: object): rpc is SolanaRpc => "call" in rpc;
