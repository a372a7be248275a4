// Signs payments for the offer that a server itself makes, so that every check of every library is left on. Each has a nonce
// of its own.
import { randomBytes } from "node:crypto";
import secp256k1 from "secp256k1";
import { loadBackend } from "../../dist/src/chains/evm/backend.js";
import { authorizationDigest } from "../../dist/src/chains/evm/typed-data.js";
import { createSolanaBuyer } from "./payments-solana.mjs";
import { TERMS } from "./terms.mjs";

const key = randomBytes(32);
const { keccak } = await loadBackend();
const publicKey = secp256k1.publicKeyCreate(key, false).subarray(1);
const from = `0x${Buffer.from(keccak(publicKey)).subarray(12).toString("hex")}`;

/** Fetches the 402 of a route and reads its first offer of this version. */
async function offerOf(url, version) {
  const response = await fetch(url);
  if (response.status !== 402) throw new Error(`${url} answers ${response.status} where a 402 was expected`);
  if (version === 1) {
    const { accepts } = await response.json();
    return { offer: accepts[0], amount: accepts[0].maxAmountRequired };
  }
  const required = response.headers.get("payment-required");
  const { accepts, resource } = JSON.parse(Buffer.from(required, "base64").toString("utf8"));
  return { offer: accepts[0], amount: accepts[0].amount, resource };
}

function sign({ offer, amount }, now) {
  const { name, version } = offer.extra;
  const domain = { name, version, chainId: TERMS.chainId, asset: offer.asset };
  const authorization = {
    from,
    to: offer.payTo.toLowerCase(),
    value: BigInt(amount),
    validAfter: BigInt(now - 60),
    // Long enough for any run, and within what every library allows.
    validBefore: BigInt(now + TERMS.maxTimeoutSeconds - 60),
    nonce: `0x${randomBytes(32).toString("hex")}`,
  };
  const digest = authorizationDigest(domain, authorization, keccak);
  const { signature, recid } = secp256k1.ecdsaSign(digest, key);
  return {
    signature: `0x${Buffer.from(signature).toString("hex")}${(27 + recid).toString(16)}`,
    authorization: {
      ...{ from, to: offer.payTo, value: amount, nonce: authorization.nonce },
      validAfter: String(authorization.validAfter),
      validBefore: String(authorization.validBefore),
    },
  };
}

/** Header lines of `count` payments of one x402 version for one route, each `name: value`. */
export async function signPayments(url, version, count) {
  const terms = await offerOf(url, version);
  const { offer, resource } = terms;
  const now = Math.floor(Date.now() / 1000);
  const isSolana = offer.network.startsWith("solana");
  const next = isSolana ? createSolanaBuyer({ ...offer, amount: terms.amount }, version) : undefined;
  const lines = [];
  for (let i = 0; i < count; i++) {
    const payload = next ? { transaction: next() } : sign(terms, now);
    const proof =
      version === 1
        ? { x402Version: 1, scheme: offer.scheme, network: offer.network, payload }
        : { x402Version: 2, resource, accepted: offer, payload };
    const value = Buffer.from(JSON.stringify(proof)).toString("base64");
    lines.push(`${version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE"}: ${value}`);
  }
  return lines;
}
