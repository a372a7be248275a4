// For which token an authorization may have been signed: the EIP-712 domains that its offer and our own table allow, and those
// of every other network of the table, for the signer who was on the wrong chain.
import type { TokenDomain } from "../../chains/evm/typed-data.js";
import { NETWORKS, type Network, type Token } from "../../networks.js";
import { textAt } from "./findings.js";
import type { Terms } from "./offer.js";

export interface Candidate {
  readonly domain: TokenDomain;
  /** `USDC on base-sepolia` */
  readonly label: string;
  readonly token: Token | undefined;
  /** What should have been signed instead. */
  readonly problem?: string;
}

/** The domains under which a signature is to be looked for, the right one first. */
export function candidatesOf({ network, asset, token, extra }: Terms): Candidate[] {
  if (network?.chainId === undefined) return [];
  // Version 1 names no asset: any token of the network may be meant.
  if (asset === undefined) return network.tokens.flatMap((one) => ofTable(network, one));
  const right = token ? ofTable(network, token) : [];
  const [name, version] = [textAt(extra, "name"), textAt(extra, "version")];
  if (name === undefined || version === undefined || asset === "native") return right;
  const domain = { name, version, chainId: network.chainId, asset };
  const written = `the domain "${name.slice(0, 60)}", version "${version.slice(0, 20)}" on ${network.name}`;
  if (right.length === 0) return [{ domain, label: written, token }];
  const same = right.every(({ domain: own }) => own.name === name && own.version === version);
  const problem = `a signature under the token's own domain, "${token?.domain?.name}", version "${token?.domain?.version}"`;
  return same ? right : [...right, { domain, label: written, token, problem }];
}

function ofTable(network: Network, token: Token): Candidate[] {
  const { chainId } = network;
  if (chainId === undefined || !token.domain || token.transferMethod !== "eip3009") return [];
  const domain = { ...token.domain, chainId, asset: token.address };
  return [{ domain, label: `${token.symbol} on ${network.name}`, token }];
}

/** The token of another network for which it was signed; undefined where it is none of the table. */
export async function elsewhere(
  { network, asset }: Terms,
  isSigned: (domain: TokenDomain) => Promise<boolean>,
): Promise<string | undefined> {
  for (const other of NETWORKS) {
    for (const token of other.tokens) {
      if (other.id === network?.id && (asset === undefined || token.address === asset)) continue;
      for (const { domain, label } of ofTable(other, token)) if (await isSigned(domain)) return label;
    }
  }
  return undefined;
}
