// Real proofs for tests of receivers: signed by the test buyer, decoded, matched and bound by the paywall's own code.
import { privateKeyToAccount } from "viem/accounts";
import { isAuthorization } from "../../src/identify.js";
import {
  type AuthorizationProof,
  type BoundProof,
  bindAuthorization,
  decodeProof,
  matchOffers,
} from "../../src/proof.js";
import type { Trace } from "../../src/receive/receiver.js";
import type { Eip3009Requirement, Resource } from "../../src/requirement.js";
import { type Signer, type SignPaymentOptions, signPayment } from "../../src/testing/index.js";

export const REQUIREMENT: Eip3009Requirement = {
  scheme: "exact",
  method: "eip3009",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  amount: 10_000n,
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};

export const RESOURCE: Resource = {
  url: "https://shop.example/report",
  description: "A report",
  mimeType: "text/plain",
};

/** The first well-known development account. */
export const PAYER = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

/** A proof for the requirement, with a new nonce each time. */
export async function makeProof(
  options: Partial<Pick<SignPaymentOptions, "version" | "overrides" | "signature" | "domain">> & {
    readonly account?: Signer;
    readonly requirement?: Eip3009Requirement;
  } = {},
): Promise<AuthorizationProof> {
  const { account = PAYER, requirement = REQUIREMENT, version = 2, ...signing } = options;
  const offer = {
    ...requirement,
    asset: hex(requirement.asset),
    payTo: hex(requirement.payTo),
    extra: { ...requirement.extra },
  };
  const { value } = await signPayment({ account, offer, version, ...signing });
  const decoded = decodeProof({
    v1: version === 1 ? value : undefined,
    v2: version === 2 ? value : undefined,
    idempotencyKey: undefined,
  });
  if (!decoded.ok) throw new Error(`the proof of the test cannot be read: ${decoded.got}`);
  const matched = matchOffers(decoded.proof, [requirement]);
  // A test of a receiver may want fields that the guard would have refused before.
  if (!matched.ok && !signing.overrides) throw new Error(`the proof of the test has no offer: ${matched.got}`);
  const { proof } = decoded;
  if (!isAuthorization(proof)) throw new Error("the proof of the test is no authorization");
  return bindAuthorization(proof, requirement);
}

export function traceOf(proof: BoundProof, transaction: string | null = null): Trace {
  const { id, requirement, payer, nonce, validBefore } = proof;
  const { network, asset, payTo, method } = requirement;
  const amount = requirement.amount.toString();
  const [expiry, received] = [null, null];
  return {
    proofId: id,
    network,
    asset,
    payer,
    payTo,
    amount,
    method,
    nonce,
    validBefore,
    transaction,
    expiry,
    received,
  };
}

const hex = (address: string) => address as `0x${string}`;
