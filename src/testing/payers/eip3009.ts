// Pays by a signed EIP-3009 authorization: the buyer needs the token and no gas. Source: protocol §3.1.
import type { Hex } from "viem";
import { type AuthorizationMessage, type Signer, signAuthorization, type TokenDomain } from "../authorization.js";
import { chainIdOf } from "../chain-names.js";
import { amountOf, extraText } from "../challenge.js";
import { isTransactionOffer, type Payer } from "./payer.js";

export interface SignedAuthorization {
  readonly message: AuthorizationMessage;
  readonly signature: Hex;
}

/** What is signed or sent in place of the right thing. */
export interface AuthorizationParts {
  /** Members of the authorization. */
  readonly overrides?: Partial<AuthorizationMessage>;
  /** Members of the token's domain. */
  readonly domain?: Partial<TokenDomain>;
  /** Sent in place of the signature. */
  readonly signature?: Hex;
}

/** validAfter 600 s ago, validBefore in `maxTimeoutSeconds`, a random nonce. */
export function eip3009Payer(account: Signer, parts: AuthorizationParts = {}): Payer<SignedAuthorization> {
  return {
    takes: (offer) => chainIdOf(offer.network) !== undefined && !isTransactionOffer(offer),
    async sign(offer) {
      const chainId = chainIdOf(offer.network);
      if (chainId === undefined) throw new Error(`An EIP-3009 authorization cannot pay on ${offer.network}`);
      const [name, version] = [extraText(offer, "name"), extraText(offer, "version")];
      if (name === undefined || version === undefined) throw new Error("The offer names no EIP-712 domain");
      const domain = { name, version, chainId, verifyingContract: hex(offer.asset), ...parts.domain };
      const now = BigInt(Math.floor(Date.now() / 1000));
      const window = { validAfter: now - 600n, validBefore: now + BigInt(offer.maxTimeoutSeconds) };
      const terms = { to: hex(offer.payTo), value: amountOf(offer), ...window, ...parts.overrides };
      const { message, signature: signed } = await signAuthorization(account, domain, terms);
      const signature = parts.signature ?? signed;
      const { from, to, nonce } = message;
      const [value, validAfter, validBefore] = [message.value, message.validAfter, message.validBefore].map(String);
      const authorization = { from, to, value, validAfter, validBefore, nonce };
      return { payload: { signature, authorization }, signed: { message, signature } };
    },
  };
}

function hex(address: string): Hex {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Error(`The offer holds ${address}, which is no EVM address`);
  return address as Hex;
}
