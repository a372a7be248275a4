// Pays with an EVM wallet: the right chain, enough money, then one signature, or one transfer that the wallet sends itself.
import type { PageData, PageOffer } from "../page-data.js";
import { ask, type EvmWallet, type Provider, UNKNOWN_CHAIN } from "./provider.js";
import { done, pause, type Result, stop } from "./result.js";
import { serverNow } from "./shop.js";
import { transferFrom } from "./transfer.js";

export interface Asked {
  readonly data: PageData;
  readonly offer: PageOffer;
  /** The retry key. */
  readonly id: string;
  /** Shows how far it is. */
  readonly step: (at: number, words: string) => void;
}

/** The payload of the payment. */
export async function payByEvm({ provider }: EvmWallet, asked: Asked): Promise<Result<object>> {
  const { offer, step } = asked;
  step(0, "Connect your wallet: it asks you now.");
  const accounts = await ask(provider, "eth_requestAccounts", [], "to connect");
  if (!accounts.ok) return accounts;
  const [from] = Array.isArray(accounts.value) ? accounts.value : [];
  if (typeof from !== "string") return stop("Your wallet shows no account. Unlock it and try again.");
  const chain = await switchChain(provider, offer, step);
  if (!chain.ok) return chain;
  const funds = await checkFunds(provider, offer, from);
  if (!funds.ok) return funds;
  if (offer.method === "transaction") return transferFrom(provider, asked, from);
  step(1, `Sign in your wallet: ${offer.price}, and nothing else.`);
  return sign(provider, asked, from);
}

async function switchChain(
  provider: Provider,
  { chainId = 0, network }: PageOffer,
  step: Asked["step"],
): Promise<Result<true>> {
  const id = `0x${chainId.toString(16)}`;
  const current = async () => {
    const now = await ask(provider, "eth_chainId", [], "to say its network");
    return now.ok && Number(now.value) === chainId;
  };
  if (await current()) return done(true);
  step(0, `Your wallet is on another network. It asks you to switch to ${network}.`);
  const switched = await ask(provider, "wallet_switchEthereumChain", [{ chainId: id }], `to switch to ${network}`);
  if (!switched.ok && switched.words === UNKNOWN_CHAIN) {
    return stop(`Your wallet does not know ${network}. Add it there (chain id ${chainId}), then try again.`);
  }
  if (!switched.ok)
    return stop(`${switched.words} This price is paid on ${network}: pay to be asked once more.`, switched.kind);
  // Some say yes before they have done it.
  for (let wait = 0; wait < 10; wait += 1) {
    if (await current()) return done(true);
    await pause(300);
  }
  return stop(`Your wallet is still on another network. Switch it to ${network}.`);
}

/** A wallet that cannot tell is no reason to refuse. */
async function checkFunds(provider: Provider, offer: PageOffer, from: string): Promise<Result<true>> {
  const { asset, amount } = offer.given;
  const call = { to: asset, data: `0x70a08231${word(from)}` };
  const read = offer.native
    ? await ask(provider, "eth_getBalance", [from, "latest"], "")
    : await ask(provider, "eth_call", [call, "latest"], "");
  if (!read.ok || typeof read.value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(read.value)) return done(true);
  const held = BigInt(read.value);
  if (held >= BigInt(amount)) return done(true);
  const has = `${inUnits(held, offer.decimals)} ${offer.symbol}`;
  return stop(`Not enough money: it costs ${offer.price}, and your account holds ${has} on ${offer.network}.`);
}

function inUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const at = digits.length - decimals;
  const fraction = digits.slice(at).replace(/0+$/, "");
  return digits.slice(0, at) + (fraction && `.${fraction}`);
}

const word = (hex: string): string => hex.slice(2).toLowerCase().padStart(64, "0");

const FIELDS = "from:address to:address value:uint256 validAfter:uint256 validBefore:uint256 nonce:bytes32";
const DOMAIN = "name:string version:string chainId:uint256 verifyingContract:address";
const toFields = (list: string) =>
  list.split(" ").map((field) => {
    const [name = "", type = ""] = field.split(":");
    return { name, type };
  });

/** A seller takes what is good for a minute longer than he asks: most of it is the person's, to read and to sign. */
const READING_S = 50;

/** An EIP-3009 authorization, good from ten minutes ago by the server's clock until the seller's time is over. */
async function sign(provider: Provider, { offer }: Asked, from: string): Promise<Result<object>> {
  const { given, chainId } = offer;
  const now = serverNow();
  const authorization = {
    from,
    to: given.payTo,
    value: given.amount,
    validAfter: String(now - 600),
    validBefore: String(now + given.maxTimeoutSeconds + READING_S),
    nonce: `0x${Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`,
  };
  const typed = {
    domain: { name: given.extra?.name, version: given.extra?.version, chainId, verifyingContract: given.asset },
    types: { EIP712Domain: toFields(DOMAIN), TransferWithAuthorization: toFields(FIELDS) },
    primaryType: "TransferWithAuthorization",
    message: authorization,
  };
  const signed = await ask(
    provider,
    "eth_signTypedData_v4",
    [from, JSON.stringify(typed)],
    "to sign. Nothing was taken",
  );
  if (!signed.ok) return signed;
  if (typeof signed.value !== "string" || !/^0x[0-9a-f]{130,8192}$/i.test(signed.value)) {
    return stop("Your wallet gave something else than a signature. Nothing was taken.");
  }
  return done({ signature: withV(signed.value), authorization });
}

/** Devices that say 0 or 1 for 27 or 28 are understood. */
const withV = (signature: string): string =>
  signature.length === 132 ? signature.replace(/0([01])$/, (_, parity) => (parity === "0" ? "1b" : "1c")) : signature;
