// The forms in which a payer's signature comes, and the check of the one that needs no chain: ECDSA of a plain account.
// Source: protocol §3.2 steps 4 and 5.
import type { Authorization } from "../../proof.js";
import { addressOf, type Backend } from "./backend.js";
import { type Hex, toBytes } from "./hex.js";
import { authorizationDigest, type TokenDomain } from "./typed-data.js";

export type SignatureForm =
  /** Exactly 65 bytes: r, s, v; `v` as the token wants it. */
  | { readonly form: "ecdsa"; readonly r: Hex; readonly s: Hex; readonly v: number }
  /** ERC-6492: how the wallet would be deployed, and its own signature. */
  | { readonly form: "wrapped"; readonly factory: Hex; readonly deployment: Hex; readonly inner: Hex }
  /** Whatever a contract wallet likes. */
  | { readonly form: "other" };

const ERC6492_SUFFIX = "6492".repeat(16);
/** Half of the curve order: a larger s is the malleable twin, which tokens refuse. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Reads the form of a signature. A damaged ERC-6492 wrapping is `other`. */
export function readSignature(signature: Hex): SignatureForm {
  if (signature.endsWith(ERC6492_SUFFIX)) return readWrapped(signature) ?? { form: "other" };
  if (signature.length !== 132) return { form: "other" };
  const v = Number.parseInt(signature.slice(130), 16);
  return {
    form: "ecdsa",
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
    v: v < 2 ? v + 27 : v,
  };
}

/** abi.encode(address factory, bytes deployment, bytes inner), then the suffix. */
function readWrapped(signature: Hex): SignatureForm | undefined {
  const digits = signature.slice(2, -64);
  const factory = digits.slice(0, 64);
  const deployment = readBytes(digits, 1);
  const inner = readBytes(digits, 2);
  if (!/^0{24}[0-9a-f]{40}$/i.test(factory) || !deployment || !inner) return undefined;
  return { form: "wrapped", factory: `0x${factory.slice(24)}`, deployment, inner };
}

/** The dynamic `bytes` whose offset stands in the given word. */
function readBytes(digits: string, index: number): Hex | undefined {
  const offset = readLength(digits, index * 64);
  const length = offset === undefined ? undefined : readLength(digits, offset * 2);
  if (offset === undefined || length === undefined) return undefined;
  const start = offset * 2 + 64;
  return start + length * 2 <= digits.length ? `0x${digits.slice(start, start + length * 2)}` : undefined;
}

/** A word that counts bytes inside this text; undefined where it leads outside. */
function readLength(digits: string, at: number): number | undefined {
  const text = digits.slice(at, at + 64);
  if (!/^[0-9a-f]{64}$/i.test(text)) return undefined;
  const value = BigInt(`0x${text}`);
  return value * 2n <= BigInt(digits.length) ? Number(value) : undefined;
}

/**
 * Whether `from`'s own key signed the authorization: exactly 65 bytes, low s, v of 27 or 28 (0 and 1 are read as these).
 * It says nothing about an account with code: that one answers for itself on the chain.
 */
export async function isSignedBy(
  backend: Backend,
  domain: TokenDomain,
  authorization: Authorization,
  signature: SignatureForm,
): Promise<boolean> {
  if (signature.form !== "ecdsa" || (signature.v !== 27 && signature.v !== 28)) return false;
  if (BigInt(signature.s) > HALF_ORDER) return false;
  const digest = authorizationDigest(domain, authorization, backend.keccak);
  const bytes = toBytes(signature.r + signature.s.slice(2));
  const key = await backend.recover(digest, bytes, signature.v === 27 ? 0 : 1);
  return key !== undefined && addressOf(key, backend.keccak) === authorization.from;
}
