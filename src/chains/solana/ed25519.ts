// Real ed25519 verification, as strict as the chain's: by Node's own crypto with kept key objects where it is present (two
// thirds of the cost), by WebCrypto elsewhere.
import { LRUCache } from "lru-cache";
import { byteKey } from "./bytes.js";
import { isSmallOrder } from "./curve.js";

/** Whether `signature` (64 bytes) over `message` was made by `key` (32 bytes). */
export type Verifier = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>;

/** What is used of `node:crypto`. */
export interface NodeCrypto {
  createPublicKey(input: { key: Uint8Array; format: "der"; type: "spki" }): object;
  verify(algorithm: null, data: Uint8Array, key: object, signature: Uint8Array): boolean;
}

/** In front of the 32 bytes of a key this makes a DER SubjectPublicKeyInfo of id-Ed25519 (RFC 8410). */
const SPKI = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const KEPT_KEYS = 1_000;

/** A verifier on Node's own crypto; synchronous. */
export function createNodeVerifier(node: NodeCrypto): Verifier {
  const kept = new LRUCache<string, object>({ max: KEPT_KEYS });
  return (key, message, signature) => {
    if (!isStrict(key, signature)) return false;
    const name = byteKey(key);
    let imported = kept.get(name);
    if (!imported) {
      imported = node.createPublicKey({ key: Uint8Array.from([...SPKI, ...key]), format: "der", type: "spki" });
      kept.set(name, imported);
    }
    return node.verify(null, message, imported, signature);
  };
}

/** A verifier on WebCrypto. It rejects where the runtime knows no ed25519: that is no verdict on a signature. */
export function createWebVerifier(): Verifier {
  return async (key, message, signature) => {
    if (!isStrict(key, signature)) return false;
    // Copies, because WebCrypto's types want plain array buffers.
    const imported = await crypto.subtle.importKey("raw", new Uint8Array(key), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", imported, new Uint8Array(signature), new Uint8Array(message));
  };
}

/** The lengths, and no point of small order: neither the key nor the first half of the signature. */
function isStrict(key: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== 32 || signature.length !== 64) return false;
  return !isSmallOrder(key) && !isSmallOrder(signature.subarray(0, 32));
}

const node = globalThis.process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;

/** The verifier of this runtime. */
export const verifySignature: Verifier = node ? createNodeVerifier(node) : createWebVerifier();
