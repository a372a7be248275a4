// One payment in both versions: the vector of protocol §3.1 and the offers of §2.1.
import { findNetwork } from "../../src/networks.js";
import type { Eip3009Requirement, Resource } from "../../src/requirement.js";

const found = findNetwork("base-sepolia");
if (!found) throw new Error("no Base Sepolia");
export const network = found;

export const requirement: Eip3009Requirement = {
  scheme: "exact",
  method: "eip3009",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  amount: 10_000n,
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
};

export const resource: Resource = {
  url: "https://shop.example/report?id=7",
  description: "One report",
  mimeType: "application/json",
};

export const offerV2 = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
};

export const offerV1 = {
  scheme: "exact",
  network: "base-sepolia",
  maxAmountRequired: "10000",
  resource: "https://shop.example/report?id=7",
  description: "One report",
  mimeType: "application/json",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 300,
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  extra: { name: "USDC", version: "2" },
};

export const inner = {
  signature:
    "0xbc72909f94e2cebee2d4b1375df79e97871474f959804e254bef016d0dca67f576cd8a65a6505cc16668db796372ed51e1bbf10efe7988803ab21ad1a2e697a01c",
  authorization: {
    from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    value: "10000",
    validAfter: "0",
    validBefore: "1893456000",
    nonce: `0x${"11".repeat(32)}`,
  },
};

export const paymentV1 = { x402Version: 1, scheme: "exact", network: "base-sepolia", payload: inner };
export const paymentV2 = { x402Version: 2, accepted: offerV2, resource, payload: inner };
