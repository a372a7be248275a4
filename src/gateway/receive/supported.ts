// `GET /supported`: what a seller's server may offer through this gateway. Only what it settles at its own cost: a buyer's own
// transaction is taken too, but a kind cannot say so, and published servers would read it as an offer of tokens.
import type { SupportedResponse } from "../../wire/facilitator.js";
import type { GatewayNetwork } from "../chain.js";
import type { GatewayNetworks } from "../parts.js";

type Kind = SupportedResponse["kinds"][number];

/** Every kind under its name in version 2 and, where version 1 has one, in version 1. Source: protocol §2.3. */
export function listSupported({ all }: Pick<GatewayNetworks, "all">): SupportedResponse {
  const served = all.filter(settlesTokens);
  const feePayers = served.map(feePayerOf).filter((address) => address !== undefined);
  return {
    kinds: served.flatMap(kindsOf),
    extensions: [],
    // By family, as published servers look them up. Who sends a settlement on EVM is no part of any offer.
    signers: feePayers.length === 0 ? {} : { "solana:*": [...new Set(feePayers)] },
  };
}

/** A token that is paid for by a signature. */
function settlesTokens(one: GatewayNetwork): boolean {
  if (!one.sponsors) return false;
  if (one.network.family === "evm") return one.assets.some(({ domain }) => domain !== undefined);
  return one.assets.length > 1 && feePayerOf(one) !== undefined;
}

function kindsOf(one: GatewayNetwork): readonly Kind[] {
  const { id, v1Name } = one.network;
  const feePayer = feePayerOf(one);
  const extra = feePayer === undefined ? {} : { extra: { feePayer } };
  const kind = (x402Version: 1 | 2, network: string): Kind => ({ x402Version, scheme: "exact", network, ...extra });
  return [kind(2, id), ...(v1Name === undefined ? [] : [kind(1, v1Name)])];
}

const feePayerOf = ({ receiver, network }: GatewayNetwork): string | undefined => receiver.feePayer?.(network.id);
