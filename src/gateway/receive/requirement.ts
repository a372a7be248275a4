// The requirement that a proof is judged by: our own, made of what the request asks for and of this gateway's configuration.
// Nothing of a proof enters it but which of the asset's ways to pay it uses, and how long it may stay valid.
import type { Inner } from "../../proof.js";
import { NATIVE, type Requirement } from "../../requirement.js";
import type { Asset, GatewayNetwork } from "../chain.js";
import { type Fault, invalidField, type Outcome } from "../errors.js";
import { badProof } from "./proof-value.js";

/** What is to come: from the request and the configuration alone. */
export interface Wanted {
  readonly network: GatewayNetwork;
  readonly asset: Asset;
  /** Checksummed on EVM. */
  readonly payTo: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** An offer may ask for so much time at most, and a proof of version 1, which echoes none, has all of it. */
export const MAX_TIMEOUT_SECONDS = 86_400;

/**
 * @param feePayer who pays the network fee of a token payment on Solana: this gateway, unless somebody else settles it
 */
export function createRequirement(
  { network: { network, confirmations, receiver }, asset, payTo, amount }: Wanted,
  kind: Inner["kind"],
  maxTimeoutSeconds: number,
  feePayer: string | undefined = receiver.feePayer?.(network.id),
): Outcome<Requirement> {
  const common = { scheme: "exact", network: network.id, asset: asset.address, amount, payTo } as const;
  const place = { ...common, maxTimeoutSeconds };
  if (kind === "authorization") {
    const { domain } = asset;
    if (network.family !== "evm" || !domain) return notTaken("a transaction", "a signed authorization");
    return { ok: true, value: { ...place, method: "eip3009", extra: { name: domain.name, version: domain.version } } };
  }
  if (network.family === "solana" && asset.address !== NATIVE) {
    if (feePayer === undefined) return noSponsor(network.name);
    const { decimals, tokenProgram } = asset;
    const extra = { feePayer, decimals, ...(tokenProgram !== undefined && { tokenProgram }) };
    return { ok: true, value: { ...place, method: "spl", extra } };
  }
  const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
  return { ok: true, value: { ...place, method: "transaction", extra, confirmations } };
}

const notTaken = (expected: string, got: string): Fault => badProof("unsupported_scheme", { expected, got });

/** Only a key of this gateway's own can pay for such a settlement. */
export function noSponsor(network: string): Fault {
  const message = `this gateway pays for no settlements on ${network}: it takes transactions there that pay their own fee`;
  return invalidField("network", message);
}

/** Whether its settlement is paid for by whoever settles it, and not by the payer. */
export const isSponsored = ({ method }: Pick<Requirement, "method">): boolean => method !== "transaction";
