// Reads one receive request: what is wanted, by the request and the configuration alone, and the proof bound to it. Used by
// `POST /payment/receive` and `POST /transaction/receive`. Nothing is verified and nothing written.
import type { BoundProof } from "../../proof.js";
import type { Caller } from "../caller.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { BuildReceiveRequest, ReceiveRequest } from "../schemas/index.js";
import { readAmount, readTerms } from "../terms.js";
import { type BindOptions, bindProof, compareResource } from "./bind.js";
import { readProof } from "./proof-value.js";
import type { Wanted } from "./requirement.js";

type Common = Pick<
  ReceiveRequest | BuildReceiveRequest,
  "walletAddress" | "network" | "asset" | "expectedAmount" | "paymentProof" | "resource"
>;

/** What the request asks for. FORBIDDEN where the wallet has been shown to be another account's. */
export async function readWanted(
  { networks, database }: Pick<GatewayParts, "networks" | "database">,
  { key }: Caller,
  request: Common,
): Promise<Outcome<Wanted>> {
  const terms = readTerms(networks, key.mode, request);
  if (!terms.ok) return terms;
  const { network, asset, address } = terms.value;
  const amount = readAmount("expectedAmount", request.expectedAmount, asset);
  if (!amount.ok) return amount;
  const foreign = await judgeOwner(database, key.account, address);
  return foreign ?? { ok: true, value: { network, asset, payTo: address, amount: amount.value } };
}

/** Invariant: what an account has shown to be its own, no other one receives for. */
export async function judgeOwner(
  { accounts }: Pick<GatewayParts["database"], "accounts">,
  account: string,
  address: string,
): Promise<Fault | undefined> {
  const owner = await accounts.ownerOf(address);
  if (owner === undefined || owner === account) return undefined;
  return fault("FORBIDDEN", "walletAddress: this wallet is another account's", {
    details: [{ path: "walletAddress", message: "expected a wallet of this account" }],
  });
}

/** The request's proof, bound to what is wanted. */
export async function readBoundProof(
  wanted: Wanted,
  request: Common,
  options: BindOptions,
): Promise<Outcome<BoundProof>> {
  const decoded = readProof(request.paymentProof);
  if (!decoded.ok) return decoded;
  const other = compareResource(decoded.value, request.resource);
  return other ?? bindProof(decoded.value, wanted, options);
}

/**
 * Epoch milliseconds at which this gateway's memory of an account begins. A block's time has whole seconds, so the second
 * in which the account was made counts whole.
 */
export async function memoryOf(
  { accounts }: Pick<GatewayParts["database"], "accounts">,
  account: string,
): Promise<number> {
  const known = await accounts.get(account);
  if (!known) throw new Error("a key belongs to an account that does not exist");
  return Math.floor(known.createdAt / 1000) * 1000;
}
