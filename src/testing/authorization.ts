// Signs EIP-3009 authorizations with any account that signs typed data. Source: protocol §3.1.
import type { Address, Hex, LocalAccount } from "viem";

/** Whoever signs: a viem account, or a smart wallet of `wallets.ts`. */
export type Signer = Pick<LocalAccount, "address" | "signTypedData">;

/** EIP-712 domain of a token. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Address;
}

/** The signed message; times are Unix seconds, `value` is atomic units. */
export interface AuthorizationMessage {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
}

const fields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

/** Typed data of both directions: a transfer by anyone, or one that only the payee may submit. */
export const authorizationTypes = { TransferWithAuthorization: fields, ReceiveWithAuthorization: fields } as const;

/** 32 random bytes. */
export function randomNonce(): Hex {
  const digits = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0"));
  return `0x${digits.join("")}`;
}

/**
 * Signs an authorization. What is left out: from = the signer, validAfter = 600 s ago, validBefore = in 300 s, a random nonce.
 * @example
 * const { message, signature } = await signAuthorization(buyer, domain, { to: seller, value: 10_000n });
 */
export async function signAuthorization(
  signer: Signer,
  domain: TokenDomain,
  parts: Partial<AuthorizationMessage> & Pick<AuthorizationMessage, "to" | "value">,
  primaryType: keyof typeof authorizationTypes = "TransferWithAuthorization",
): Promise<{ message: AuthorizationMessage; signature: Hex }> {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const window = { validAfter: now - 600n, validBefore: now + 300n };
  const message = { from: signer.address, ...window, nonce: randomNonce(), ...parts };
  const signature = await signer.signTypedData({ domain, types: authorizationTypes, primaryType, message });
  return { message, signature };
}

/** Signs the cancellation of an authorization that has not been used. */
export function signCancellation(signer: Signer, domain: TokenDomain, nonce: Hex): Promise<Hex> {
  const types = {
    CancelAuthorization: [
      { name: "authorizer", type: "address" },
      { name: "nonce", type: "bytes32" },
    ],
  };
  const message = { authorizer: signer.address, nonce };
  return signer.signTypedData({ domain, types, primaryType: "CancelAuthorization", message });
}
