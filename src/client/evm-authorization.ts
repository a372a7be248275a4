// Pays by an EIP-3009 authorization: the payer signs, the seller pays the gas, no node is asked. Source: protocol §3.1.
import { fromBytes, type Hex, isHex } from "../chains/evm/hex.js";
import { checksumAddress } from "../networks.js";
import { AUTHORIZATION_TYPES, type AuthorizationTypedData, type EvmSigner } from "./evm-account.js";
import type { Offer } from "./offer.js";
import { askAccount, judgeLife, unsigned } from "./unsigned.js";
import type { Signed, SignRequest } from "./wallet.js";

/** As published buyers sign it: the clock of a chain or of a seller may be behind. */
const EARLIER_SECONDS = 600;
/** Sellers verify and settle within some seconds: an offer for less time than this cannot be paid in time. */
const LEAST_SECONDS = 10;

/** The token's EIP-712 domain strings; undefined where nobody names them. */
export function domainOf({ token, extra }: Offer): { readonly name: string; readonly version: string } | undefined {
  // Invariant: a token that we know has the domain that we know, whatever the seller says of it.
  if (token) return token.domain;
  const { name, version } = extra;
  return typeof name === "string" && typeof version === "string" && name !== "" && version !== ""
    ? { name, version }
    : undefined;
}

/** Signs the offer; good from ten minutes ago until the seller's time is over or `validUntil`, whichever is first. */
export async function signAuthorization(signer: EvmSigner, offer: Offer, request: SignRequest): Promise<Signed> {
  const domain = domainOf(offer);
  const { chainId } = offer.network;
  if (!domain || chainId === undefined) return unsigned(`nobody names the EIP-712 domain of ${offer.asset}`);
  const dead = judgeLife(request.validUntil);
  if (dead) return dead;
  const now = Math.floor(Date.now() / 1000);
  // Invariant: never longer than the buyer allows, however long the seller asks for: a signature that lives is money that can go.
  const validBefore = Math.min(
    now + Math.max(offer.maxTimeoutSeconds, LEAST_SECONDS),
    Math.floor(request.validUntil / 1000),
  );
  const message: AuthorizationTypedData["message"] = {
    from: checksum(signer.address),
    to: checksum(offer.payTo),
    value: offer.amount,
    validAfter: BigInt(now - EARLIER_SECONDS),
    validBefore: BigInt(validBefore),
    nonce: fromBytes(crypto.getRandomValues(new Uint8Array(32))),
  };
  const typedData: AuthorizationTypedData = {
    domain: { ...domain, chainId, verifyingContract: checksum(offer.asset) },
    types: AUTHORIZATION_TYPES,
    primaryType: "TransferWithAuthorization",
    message,
  };
  const asked = await askAccount(() => signer.signTypedData(typedData), request.signal);
  if (!asked.ok) return asked;
  const signature = readSignature(asked.value);
  if (signature === undefined) return unsigned("the account gave something else than a signature");
  const { from, to, nonce } = message;
  const [value, validAfter, before] = [message.value, message.validAfter, message.validBefore].map(String) as [
    string,
    string,
    string,
  ];
  return {
    ok: true,
    payload: { signature, authorization: { from, to, value, validAfter, validBefore: before, nonce } },
    payer: from,
    expiresAt: validBefore * 1000,
  };
}

const checksum = (address: string): Hex => checksumAddress(address) as Hex;

/** Of a plain account: r, s, v. */
const ECDSA_BYTES = 65;
/** As long as a payment's header carries. */
const MAX_BYTES = 4096;

/**
 * What came, if it can be a signature. Whose it is stays open here: a contract wallet's looks like anything, and recovering a key
 * needs a package. Devices that say 0 or 1 for 27 or 28 are understood, because tokens do not understand them.
 */
function readSignature(value: unknown): Hex | undefined {
  if (!isHex(value) || value.length < 2 + 2 * ECDSA_BYTES || value.length > 2 + 2 * MAX_BYTES) return undefined;
  if (value.length > 2 + 2 * ECDSA_BYTES) return value;
  const parity = /0([01])$/.exec(value)?.[1];
  return parity === undefined ? value : `0x${value.slice(2, -2)}${parity === "0" ? "1b" : "1c"}`;
}
