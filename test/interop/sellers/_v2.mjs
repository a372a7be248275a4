// What the published servers of protocol v2 are told: their routes, and who settles.
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { ExactSvmScheme } from "@x402/svm/exact/server";

export const BASE_SEPOLIA = "eip155:84532";
export const SOLANA_DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

export function v2Terms({ facilitatorUrl: url, createAuthHeaders, evm, solana, price }) {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url, createAuthHeaders }))
    .register(BASE_SEPOLIA, new ExactEvmScheme())
    .register(SOLANA_DEVNET, new ExactSvmScheme());
  const accept = (network, payTo) => ({ accepts: { scheme: "exact", price, network, payTo }, description: "goods" });
  return { server, routes: { "/evm": accept(BASE_SEPOLIA, evm), "/solana": accept(SOLANA_DEVNET, solana) } };
}
