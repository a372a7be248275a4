// @x402/svm for both protocol versions, on a node of the test's own: `registerExactSvmScheme` would take none.
import { ExactSvmScheme } from "@x402/svm";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/client";
import { toSigner } from "./_keys.mjs";

export async function toSchemes({ secretKey, rpcUrl }) {
  const signer = await toSigner(secretKey);
  return [
    { network: "solana:*", client: new ExactSvmScheme(signer, { rpcUrl }) },
    { network: "solana-devnet", client: new ExactSvmSchemeV1(signer, { rpcUrl }), x402Version: 1 },
  ];
}
