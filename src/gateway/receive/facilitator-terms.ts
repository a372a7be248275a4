// The seller's own requirements, as `/verify` and `/settle` get them, read against what this gateway serves: which chain, which
// asset, how much, to whom. A token's domain and decimals are our own; a seller who says otherwise means another token.
import { reasonOf } from "../../errors.js";
import { networkFromWire } from "../../networks.js";
import { NATIVE, wireAsset } from "../../requirement.js";
import type { FacilitatorRequest } from "../../wire/facilitator.js";
import type { Caller } from "../caller.js";
import type { Asset, GatewayNetwork } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { isWhole } from "../schemas/fields.js";
import { readAddress } from "../terms.js";
import { judgeOwner } from "./prepare.js";
import { MAX_TIMEOUT_SECONDS, type Wanted } from "./requirement.js";

/** A verdict against the payment or its terms, in the protocol's words: an answer of status 200. */
export interface Rejection {
  readonly outcome: "rejected";
  readonly reason: string;
  /** For people; no secret. */
  readonly message: string;
}

export const rejection = (reason: string, message: string): Rejection => ({ outcome: "rejected", reason, message });

export interface SellerTerms extends Wanted {
  readonly maxTimeoutSeconds: number;
  readonly resource: string | undefined;
  /** As answers of this version name it. */
  readonly networkName: string;
  /** What the payment's memo has to be, on Solana. */
  readonly memo: string | undefined;
}

export type ReadTerms =
  | { readonly outcome: "terms"; readonly terms: SellerTerms }
  | Rejection
  /** No verdict on a payment: the key may not do this. */
  | { readonly outcome: "refused"; readonly fault: Fault };

/** Reads the requirements of a request. */
export async function readSellerTerms(
  { networks, database }: Pick<GatewayParts, "networks" | "database">,
  { key }: Caller,
  request: FacilitatorRequest,
): Promise<ReadTerms> {
  const { x402Version: version, paymentRequirements: required } = request;
  if (required.scheme !== "exact")
    return rejection(reasonOf("unsupported_scheme", version), "expected the scheme exact");
  const id = networkFromWire(version, required.network)?.id;
  const network = id === undefined ? undefined : networks.find(id);
  if (!network) return rejection("invalid_network", `network: this gateway does not serve ${required.network}`);
  const { family, testnet, name } = network.network;
  if (testnet !== (key.mode === "test")) {
    const message = `a ${key.mode} key reaches ${key.mode === "test" ? "test" : "main"} networks only, and ${name} is none`;
    return { outcome: "refused", fault: fault("FORBIDDEN", message) };
  }
  const invalid = (message: string) => rejection(reasonOf("offer_mismatch", version), message);
  const asset = findByAddress(network, required.asset);
  if (!asset) return invalid(`asset: this gateway does not take it on ${name}`);
  const payTo = readAddress(family, required.payTo);
  if (payTo === undefined) return invalid("payTo: expected a valid address of this chain");
  const amount = BigInt(amountOf(request));
  if (amount === 0n) return invalid("amount: expected more than 0");
  const differs = judgeExtra(request, network, asset);
  if (differs) return differs;
  const foreign = await judgeOwner(database, key.account, payTo);
  if (foreign) return { outcome: "refused", fault: foreign };
  const resource = resourceOf(request);
  // Refused here, as a request's own would be: no database takes it, or none gives it back as it came.
  if (resource !== undefined && !isWhole(resource)) return invalid("resource: expected whole characters and no NUL");
  const { maxTimeoutSeconds, extra } = required;
  const terms: SellerTerms = {
    ...{ network, asset, payTo, amount },
    maxTimeoutSeconds: Math.min(Math.max(1, Math.ceil(maxTimeoutSeconds)), MAX_TIMEOUT_SECONDS),
    resource,
    networkName: networkNameOf(request, network),
    memo: typeof extra?.memo === "string" ? extra.memo : undefined,
  };
  return { outcome: "terms", terms };
}

const amountOf = ({ paymentRequirements: required }: FacilitatorRequest): string =>
  "maxAmountRequired" in required && typeof required.maxAmountRequired === "string"
    ? required.maxAmountRequired
    : String(required.amount);

/** By address alone, as the wire spells it: a symbol is no asset of the protocol. */
function findByAddress({ assets, network }: GatewayNetwork, named: string): Asset | undefined {
  const spell = (text: string) => (network.family === "evm" ? text.toLowerCase() : text);
  return assets.find(({ address }) => spell(wireAsset({ asset: address, network: network.id })) === spell(named));
}

/** What a seller may have written down wrongly: the token's domain, or who pays the network fee. */
function judgeExtra(
  { x402Version: version, paymentRequirements: { extra } }: FacilitatorRequest,
  { network, receiver }: GatewayNetwork,
  { address, domain }: Asset,
): Rejection | undefined {
  if (!extra || extra.assetTransferMethod === "transaction") return undefined;
  const words = (v2: string, v1: string) => (version === 2 ? v2 : v1);
  if (network.family === "evm") {
    for (const member of ["name", "version"] as const) {
      const got = extra[member];
      if (got === undefined || got === null || got === domain?.[member]) continue;
      const reason = words(`invalid_exact_evm_token_${member}_mismatch`, "invalid_payment_requirements");
      return rejection(reason, `extra.${member}: expected the token's own`);
    }
    return undefined;
  }
  if (address === NATIVE || extra.feePayer === undefined || extra.feePayer === receiver.feePayer?.(network.id))
    return undefined;
  const word = "fee_payer_not_managed_by_facilitator";
  return rejection(words(`invalid_exact_svm_${word}`, word), "extra.feePayer: expected one of GET /supported");
}

/** What the seller says it is for: in version 2 the payment says so, and no seller's requirements do. */
function resourceOf({ paymentPayload, paymentRequirements }: FacilitatorRequest): string | undefined {
  const named =
    paymentPayload.x402Version === 2
      ? paymentPayload.resource?.url
      : "resource" in paymentRequirements && paymentRequirements.resource;
  if (typeof named !== "string" || named === "") return undefined;
  // Not in the middle of a character.
  return named.length > MAX_RESOURCE ? named.slice(0, MAX_RESOURCE).replace(/[\ud800-\udbff]$/, "") : named;
}

const MAX_RESOURCE = 2048;

/** A name that the caller knows: his own, where version 1 has none for the network. */
function networkNameOf({ x402Version, paymentRequirements }: FacilitatorRequest, { network }: GatewayNetwork): string {
  return x402Version === 2 ? network.id : (network.v1Name ?? paymentRequirements.network);
}
