// Whether a token that the operator lists is on the chain at all, what he says of it, and arrives whole.
import { type Account, readAccounts } from "../../chains/solana/accounts.js";
import { judgeMint } from "../../chains/solana/mint.js";
import { tokenByAddress } from "../../networks.js";
import type { Asset } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import { notOnChain } from "./words.js";

/** INVALID_REQUEST for `asset`, with the assets that are there: to ask again helps nobody. Never rejects. */
export async function noMint(chain: SolanaTransferChain, missing: Asset, signal: AbortSignal): Promise<Fault> {
  const others = chain.tokens.filter(({ address }) => address !== missing.address);
  const addresses = others.map(({ address }) => address);
  const read = addresses.length === 0 ? undefined : await readAccounts(chain.rpc, addresses, { signal });
  // Of one that cannot be asked for nothing is promised.
  const isThere = (_: unknown, at: number) => read?.ok === true && read.accounts[at] != null;
  return notOnChain(chain, missing, others.filter(isThere));
}

/** The operator's mistake or the issuer's doing, never the caller's: the log says what, the answer only that. */
export function judgeAsset(
  { network, allowed, logger }: SolanaTransferChain,
  { address, decimals, tokenProgram, symbol }: Asset,
  mint: Account | null,
  epoch: number,
): Fault | undefined {
  const terms = {
    listed: tokenByAddress(network, address) !== undefined,
    allowed: allowed.get(address) ?? [],
    epoch,
  };
  const extra = { decimals, ...(tokenProgram !== undefined && { tokenProgram }) };
  const problems = judgeMint(mint, { asset: address, network: network.id, extra }, terms);
  if (problems.length === 0) return undefined;
  logger.error({ network: network.id, asset: address, problems }, "a token of this gateway cannot be sent");
  return fault("UNAVAILABLE", `${symbol} cannot be sent on ${network.name} now; nothing was done`);
}
