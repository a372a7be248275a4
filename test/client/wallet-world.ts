// What the tests of wallets share: sellers of each kind of money on real chains, and one purchase with a wallet alone, by the
// client's own reading of the 402, inspection and envelope.
import type { Address, Hex } from "viem";
import { encodeAbiParameters, keccak256, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { readChallenge } from "../../src/client/challenge.js";
import { toPaymentHeaders } from "../../src/client/envelope.js";
import { findMismatch } from "../../src/client/inspect.js";
import type { Challenge, Offer } from "../../src/client/offer.js";
import type { Signed, SignRequest, Wallet } from "../../src/client/wallet.js";
import { findNetwork, tokenByAddress } from "../../src/networks.js";
import type { PaywallOptions } from "../../src/options.js";
import type { Price } from "../../src/price.js";
import { NATIVE } from "../../src/requirement.js";
import type { Sandbox } from "../../src/testing/index.js";
import { plainToken } from "../../src/testing/token.artifact.js";
import { type Seller, startSeller } from "../e2e/seller.js";

export const ETHER = 10n ** 18n;
export const PLAIN_TOKEN: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

export type Made = Extract<Signed, { ok: true }>;

/** A private key and its address. */
export function newKey(): { readonly key: Hex; readonly address: Address } {
  const key = generatePrivateKey();
  return { key, address: privateKeyToAccount(key).address };
}

/** An account with an ether, USDC and the plain token. */
export async function newAccount(sandbox: Sandbox): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await sandbox.native.setBalances([account.address], ETHER);
  await sandbox.token.setBalances([account.address], 10n ** 9n);
  await setPlainBalance(sandbox, account.address, 1_000_000n);
  return account;
}

export async function setPlainBalance({ chain }: Sandbox, holder: Address, value: bigint): Promise<void> {
  const slot = keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [holder, 0n]));
  await chain.rpc("anvil_setCode", [PLAIN_TOKEN, plainToken.runtime]);
  await chain.rpc("anvil_setStorageAt", [PLAIN_TOKEN, slot, toHex(value, { size: 32 })]);
}

export async function plainBalance({ chain }: Sandbox, holder: string): Promise<bigint> {
  const data: Hex = `0x70a08231${holder.slice(2).toLowerCase().padStart(64, "0")}`;
  return BigInt(String(await chain.rpc("eth_call", [{ to: PLAIN_TOKEN, data }, "latest"])));
}

/** A ready seller; `/report` has the price. */
export async function sell(price: Price, options: PaywallOptions): Promise<Seller> {
  const seller = await startSeller("Express 5", options, price);
  await seller.ready();
  return seller;
}

export const request = (parts: Partial<SignRequest> = {}): SignRequest => ({
  resource: "http://seller.example/report",
  retryKey: "0123456789abcdef",
  validUntil: Date.now() + 600_000,
  signal: undefined,
  ...parts,
});

/** The challenge of a 402 in one of its two versions. */
export async function challengeOf(url: string, version: 1 | 2): Promise<Challenge> {
  const unpaid = await fetch(url);
  expect(unpaid.status).toBe(402);
  // Version 1 is what a buyer sees who does not know the header.
  const shown = version === 2 ? unpaid : new Response(await unpaid.text(), { status: 402 });
  const read = await readChallenge(shown);
  if (!read.ok) throw new Error(read.reason);
  expect(read.challenge.version).toBe(version);
  return read.challenge;
}

export interface Bought {
  readonly status: number;
  readonly code: unknown;
  readonly offer: Offer;
  readonly signed: Made;
}

/** One purchase: the first offer that the wallet takes, signed, inspected, sent once; the call then ends. */
export async function buy(
  seller: Seller,
  wallet: Wallet,
  version: 1 | 2,
  parts: Partial<SignRequest> = {},
): Promise<Bought> {
  const url = `${seller.url}/report`;
  const challenge = await challengeOf(url, version);
  const offer = challenge.offers.find((one) => wallet.takes(one) === true);
  if (!offer) throw new Error(`nothing that the wallet takes: ${challenge.offers.map((one) => wallet.takes(one))}`);
  const asked = request(parts);
  const signed = made(await wallet.sign(offer, asked));
  try {
    const { payload, payer, expiresAt } = signed;
    expect(await findMismatch(offer, payload, { payer, expiresAt, validUntil: asked.validUntil })).toBeUndefined();
    const headers = toPaymentHeaders({ challenge, offer, payload, retryKey: asked.retryKey });
    const answer = await fetch(url, { headers });
    const text = await answer.text();
    const code: unknown = answer.ok ? undefined : Reflect.get(Object(JSON.parse(text)), "code");
    return { status: answer.status, code, offer, signed };
  } finally {
    signed.close?.();
  }
}

export function made(signed: Signed): Made {
  if (!signed.ok) throw new Error(`${signed.code}: ${signed.message}`);
  return signed;
}

/** Why a wallet does not sign. */
export async function refusal(signing: Promise<Signed>): Promise<readonly [string, string]> {
  const signed = await signing;
  if (signed.ok) throw new Error("it was signed");
  return [signed.code, signed.message];
}

/** An offer as a challenge would hold it. */
export function offerOf(network: string, asset: string, parts: Partial<Offer> = {}): Offer {
  const found = findNetwork(network);
  if (!found) throw new Error(`no network ${network}`);
  const token = asset === NATIVE ? undefined : tokenByAddress(found, asset);
  return {
    index: 0,
    version: 2,
    network: found,
    method: asset === NATIVE ? "transaction" : found.family === "solana" ? "spl" : "eip3009",
    flow: asset === NATIVE ? "upfront" : "authorization",
    asset,
    token,
    amount: 10_000n,
    payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    maxTimeoutSeconds: 60,
    extra: {},
    given: {},
    ...parts,
  };
}
