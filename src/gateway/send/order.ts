// What a request to send asks for, read and permitted: network, asset and exact amount, a hosted wallet that this key may open,
// and a recipient that is somebody else. Nothing is asked of the chain yet.
import { readRecipient } from "../build/recipient.js";
import type { Caller } from "../caller.js";
import type { Asset, GatewayNetwork } from "../chain.js";
import type { HostedWallet } from "../database/database.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { GatewayNetworks, GatewayParts } from "../parts.js";
import type { SendRequest } from "../schemas/index.js";
import { readAmount, readTerms, type Terms } from "../terms.js";
import { assetOfOffer, type ReadOffer, readOffer } from "./offer.js";

/** What is to be paid, by the request and the configuration alone. */
export interface Wanted {
  readonly network: GatewayNetwork;
  readonly asset: Asset;
  /** The payer's address, checksummed on EVM as is the recipient. */
  readonly sender: string;
  readonly recipient: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Atomic units of the native currency. */
  readonly priorityFee: bigint | undefined;
  readonly offer: ReadOffer | undefined;
  readonly resource: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** A payment as it is to be made, from a wallet that the caller may open. */
export interface Order extends Wanted {
  readonly wallet: HostedWallet;
}

/** Reads a request. Faults: INVALID_REQUEST, INVALID_RECIPIENT, FORBIDDEN for a network of the other mode. */
export function readWanted(networks: GatewayNetworks, { key }: Caller, request: SendRequest): Outcome<Wanted> {
  const terms = readTerms(networks, key.mode, request);
  if (!terms.ok) return terms;
  const { network, address: sender } = terms.value;
  const asset = readAsset(terms.value, request);
  if (!asset.ok) return asset;
  const amount = readAmount("amount", request.amount, asset.value);
  if (!amount.ok) return amount;
  const priorityFee = readPriorityFee(request, network);
  if (!priorityFee.ok) return priorityFee;
  const recipient = readRecipient({ ...terms.value, asset: asset.value }, request.recipientAddress);
  if (!recipient.ok) return recipient;
  const wanted = {
    network,
    asset: asset.value,
    sender,
    recipient: recipient.value,
    amount: amount.value,
    priorityFee: priorityFee.value,
    resource: request.resource ?? null,
    metadata: request.metadata ?? null,
  };
  if (!request.requirements) return { ok: true, value: { ...wanted, offer: undefined } };
  const offer = readOffer(wanted, request.requirements);
  return offer.ok ? { ok: true, value: { ...wanted, offer: offer.value } } : offer;
}

const readAsset = (terms: Terms, request: SendRequest): Outcome<Asset> =>
  request.requirements ? assetOfOffer(terms, request) : { ok: true, value: terms.asset };

function readPriorityFee(
  { priorityFee }: SendRequest,
  { assets: [native] }: GatewayNetwork,
): Outcome<bigint | undefined> {
  return priorityFee === undefined ? { ok: true, value: undefined } : readAmount("priorityFee", priorityFee, native);
}

/**
 * Invariant: a key opens only the wallets that it names, of its own account and mode. The answer is the same for a wallet that
 * is another account's, that this key does not name, and that does not exist.
 */
export async function findWallet(
  { database }: Pick<GatewayParts, "database">,
  { key }: Caller,
  address: string,
): Promise<Outcome<HostedWallet>> {
  const wallet = await database.wallets.byAddress(key.account, key.mode, address);
  return wallet && mayOpen(key, wallet.id) ? { ok: true, value: wallet } : notOpened();
}

export const mayOpen = ({ wallets }: Pick<Caller["key"], "wallets">, wallet: string): boolean =>
  wallets.includes(wallet);

/** Whatever the reason is. */
export function notOpened(): Fault {
  const message = "expected a hosted wallet that this API key may open";
  const action =
    "Use a key that names this wallet: the operator makes one with tollgate keys create --scopes send --wallets";
  return fault("FORBIDDEN", `walletAddress: ${message}`, { details: [{ path: "walletAddress", message }], action });
}
