// `@faremeter/middleware`: both protocol versions; it settles before the handler runs.
import { express } from "@faremeter/middleware";
import { startExpress } from "./_express.mjs";
import { BASE_SEPOLIA, SOLANA_DEVNET } from "./_v2.mjs";

const USDC = {
  [BASE_SEPOLIA]: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  [SOLANA_DEVNET]: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
};

export async function start({ facilitatorUrl, authorization, evm, solana, ...shop }) {
  const ask = async (path, body) => {
    const headers = { "Content-Type": "application/json", ...authorization };
    const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(`${facilitatorUrl}${path}`, init)).json();
  };
  const { kinds } = await ask("/supported");
  const request = (requirements, payment) => ({
    x402Version: 2,
    paymentPayload: payment,
    paymentRequirements: requirements,
  });
  /** One chain's offers, settled by the facilitator over its HTTP API. */
  const handler = (network, extra) => ({
    capabilities: { schemes: ["exact"], networks: [network], assets: [USDC[network]] },
    schemes: ["exact"],
    getRequirements: async ({ accepts }) =>
      accepts
        .filter((one) => one.network === network)
        .map((one) => ({ ...one, maxTimeoutSeconds: 60, extra: { ...one.extra, ...extra } })),
    handleVerify: async (requirements, payment) =>
      requirements.network === network ? ask("/verify", request(requirements, payment)) : null,
    handleSettle: async (requirements, payment) =>
      requirements.network === network ? ask("/settle", request(requirements, payment)) : null,
  });
  const feePayer = kinds.find(({ network, x402Version }) => network === SOLANA_DEVNET && x402Version === 2)?.extra;
  const sell = (network, recipient) => ({ amount: "10000", asset: USDC[network], recipient, network, description: "" });
  const middleware = (network, recipient, extra) =>
    express.createMiddleware({
      x402Handlers: [handler(network, extra)],
      pricing: [sell(network, recipient)],
      supportedVersions: { x402v1: true, x402v2: true },
    });
  const onEvm = await middleware(BASE_SEPOLIA, evm, { name: "USDC", version: "2" });
  const onSolana = await middleware(SOLANA_DEVNET, solana, feePayer);
  return startExpress(shop, (req, res, next) => (req.path === "/evm" ? onEvm : onSolana)(req, res, next));
}
