// ed25519 keys from a 32-byte seed: the public half and signatures, which are the same every time. By Node's own crypto where
// it is present, by WebCrypto elsewhere; the seed stays inside what is returned.

interface PrivateKey {
  readonly type: string;
}
interface NodeSigning {
  createPrivateKey(input: { key: Uint8Array; format: "der"; type: "pkcs8" }): PrivateKey;
  createPublicKey(key: PrivateKey): { export(options: { format: "der"; type: "spki" }): Uint8Array };
  sign(algorithm: null, data: Uint8Array, key: PrivateKey): Uint8Array;
}

const node = globalThis.process?.getBuiltinModule?.("node:crypto") as NodeSigning | undefined;

/** In front of the 32 bytes of a seed this makes a DER PrivateKeyInfo of id-Ed25519 (RFC 8410). */
const PKCS8 = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/** Bytes of a DER SubjectPublicKeyInfo before those of the key. */
const SPKI_HEAD = 12;

const pkcs8 = (seed: Uint8Array) => Uint8Array.from([...PKCS8, ...seed]);
const nodeKey = (crypto: NodeSigning, seed: Uint8Array): PrivateKey =>
  crypto.createPrivateKey({ key: pkcs8(seed), format: "der", type: "pkcs8" });

/** The public half of a seed; undefined where the runtime cannot tell at once (it has no `node:crypto`). */
export function publicKeyOf(seed: Uint8Array): Uint8Array | undefined {
  if (!node) return undefined;
  const spki = node.createPublicKey(nodeKey(node, seed)).export({ format: "der", type: "spki" });
  return new Uint8Array(spki.subarray(SPKI_HEAD));
}

export type Sign = (message: Uint8Array) => Promise<Uint8Array>;

/** Signs with a seed. */
export function createSigner(seed: Uint8Array): Sign {
  if (node) {
    const key = nodeKey(node, seed);
    return async (message) => new Uint8Array(node.sign(null, message, key));
  }
  const key = pkcs8(seed);
  return async (message) => {
    const imported = await crypto.subtle.importKey("pkcs8", key, "Ed25519", false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("Ed25519", imported, new Uint8Array(message)));
  };
}
