// Calls to the token, to a wallet and to Multicall3, encoded by hand: what is simulated is byte for byte what is sent.
// Source: protocol §3.3 (selectors, overloads), §7.2 (Multicall3); EIP-1271.
import type { Authorization } from "../../proof.js";
import { addressWord, bytesWords, type Hex, word } from "./hex.js";
import type { SignatureForm } from "./signature.js";

export const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";
/** What `isValidSignature` answers to say yes: its own selector, left-aligned in a word. */
export const EIP1271_YES: Hex = `0x1626ba7e${"0".repeat(56)}`;

const TRANSFER_VRS = "0xe3ee160e";
const TRANSFER_BYTES = "0xcf092995";

/** How a payer proves himself on the chain; decides the overload, the target and the gas. */
export type PayerKind = "eoa" | "contract" | "counterfactual";

/** The settlement as it is simulated and then sent. */
export interface SettlementCall {
  readonly kind: PayerKind;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/** Source: design §6 (120k, 500k); a deployment has room for a million. */
const GAS: Readonly<Record<PayerKind, bigint>> = { eoa: 120_000n, contract: 500_000n, counterfactual: 1_000_000n };

/**
 * The call that settles an authorization for a payer of this kind; undefined where the signature's form does not fit it.
 */
export function settlementCall(
  kind: PayerKind,
  asset: Hex,
  authorization: Authorization,
  signature: Hex,
  form: SignatureForm,
): SettlementCall | undefined {
  const gas = GAS[kind];
  if (kind === "eoa") {
    if (form.form !== "ecdsa") return undefined;
    const data: Hex = `${TRANSFER_VRS}${head(authorization)}${word(form.v)}${form.r.slice(2)}${form.s.slice(2)}`;
    return { kind, to: asset, data, gas };
  }
  const inner = form.form === "wrapped" ? form.inner : signature;
  const data: Hex = `${TRANSFER_BYTES}${head(authorization)}${word(7 * 32)}${bytesWords(inner)}`;
  if (kind === "contract") return { kind, to: asset, data, gas };
  if (form.form !== "wrapped") return undefined;
  // An outsider may deploy the wallet first, so the deployment may fail; the transfer may not.
  const calls = [
    { to: form.factory, mayFail: true, data: form.deployment },
    { to: asset, mayFail: false, data },
  ];
  return { kind, to: MULTICALL3, data: aggregate3(calls), gas };
}

function head({ from, to, value, validAfter, validBefore, nonce }: Authorization): string {
  return addressWord(from) + addressWord(to) + word(value) + word(validAfter) + word(validBefore) + nonce.slice(2);
}

/** Multicall3 `aggregate3((address,bool,bytes)[])`. */
export function aggregate3(calls: readonly { to: string; mayFail: boolean; data: Hex }[]): Hex {
  const items = calls.map(
    (call) => addressWord(call.to) + word(call.mayFail ? 1 : 0) + word(96) + bytesWords(call.data),
  );
  let offset = items.length * 32;
  let offsets = "";
  for (const item of items) {
    offsets += word(offset);
    offset += item.length / 2;
  }
  return `0x82ad56cb${word(32)}${word(items.length)}${offsets}${items.join("")}`;
}

export const balanceOf = (account: string): Hex => `0x70a08231${addressWord(account)}`;

export const authorizationState = (payer: string, nonce: string): Hex =>
  `0xe94a0102${addressWord(payer)}${nonce.slice(2)}`;

export const isValidSignature = (digest: string, signature: Hex): Hex =>
  `0x1626ba7e${digest.slice(2)}${word(64)}${bytesWords(signature)}`;

export const DECIMALS: Hex = "0x313ce567";
export const NAME: Hex = "0x06fdde03";
export const VERSION: Hex = "0x54fd4d50";
export const DOMAIN_SEPARATOR: Hex = "0x3644e515";
