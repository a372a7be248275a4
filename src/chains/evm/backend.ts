// The fastest implementations of public key recovery and Keccak-256 that are installed, found once, lazily, and proven with
// a known vector before they are trusted: libsecp256k1 (`secp256k1`), its wasm build (`tiny-secp256k1`), viem's JavaScript.
import { keccak256 } from "../../keccak.js";
import { fromBytes, toBytes } from "./hex.js";

/** The public key (64 bytes, x and y) behind a signature, or undefined where there is none. */
export type Recover = (
  digest: Uint8Array,
  signature: Uint8Array,
  recovery: 0 | 1,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

export type Keccak = (data: Uint8Array) => Uint8Array;

export interface Backend {
  /** For logs: `secp256k1 (native)`, `tiny-secp256k1 (wasm)`, `viem (js)`. */
  readonly name: string;
  readonly recover: Recover;
  readonly keccak: Keccak;
}

/** Names of the recovery implementations, fastest first. */
export const RECOVERIES = ["secp256k1 (native)", "tiny-secp256k1 (wasm)", "viem (js)"] as const;
export type RecoveryName = (typeof RECOVERIES)[number];

// Microseconds for one recovery on a 2-core machine: native 45, wasm 220, js 1,200 (bench/micro-verify.mjs).
const LOADERS: Readonly<Record<RecoveryName, () => Promise<Recover | undefined>>> = {
  "secp256k1 (native)": loadNative,
  "tiny-secp256k1 (wasm)": loadWasm,
  "viem (js)": loadViem,
};

// What was found and not the promise of it: on Workers a promise dies with the request that made it.
let found: Backend | undefined;

/**
 * The implementations in use by this process. Rejects with a sentence that names the package to install when there is none.
 */
export async function loadBackend(): Promise<Backend> {
  found ??= await findBackend();
  return found;
}

async function findBackend(): Promise<Backend> {
  const keccak = (await loadWasmKeccak()) ?? keccak256;
  for (const name of RECOVERIES) {
    const recover = await loadRecovery(name);
    if (recover) return { name, recover, keccak };
  }
  throw new Error("No implementation of secp256k1 is installed: npm install viem");
}

/** One implementation by its name; undefined where it is not installed or fails the known vector. */
export async function loadRecovery(name: RecoveryName): Promise<Recover | undefined> {
  const recover = await LOADERS[name]();
  return recover && (await isSound(recover)) ? recover : undefined;
}

// Source: protocol §3.1, the vector of an authorization signed by the first well-known development key.
const VECTOR = {
  digest: "7418c5730e5b1d28b3a3b5616f476479526a4668612cb2deb15e58e8cce0956b",
  signature:
    "bc72909f94e2cebee2d4b1375df79e97871474f959804e254bef016d0dca67f576cd8a65a6505cc16668db796372ed51e1bbf10efe7988803ab21ad1a2e697a0",
  recovery: 1,
  signer: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
} as const;

/** The vector gives the signer; the same signature over another digest does not, or nothing at all. */
export async function isSound(recover: Recover): Promise<boolean> {
  const signature = toBytes(VECTOR.signature);
  const digest = toBytes(VECTOR.digest);
  const key = await recover(digest, signature, VECTOR.recovery);
  digest[0]! ^= 1;
  const other = await recover(digest, signature, VECTOR.recovery);
  return key !== undefined && addressOf(key, keccak256) === VECTOR.signer && !(other && equal(key, other));
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The address of a public key (64 bytes), lower case. */
export function addressOf(key: Uint8Array, keccak: Keccak): string {
  return fromBytes(keccak(key).subarray(12));
}

async function loadNative(): Promise<Recover | undefined> {
  // Safe because this entry throws where no binary fits the platform; the package's own falls back to JS without a word.
  const ecdsaRecover = functionOf(await tryImport("secp256k1/bindings.js"), "ecdsaRecover");
  if (!ecdsaRecover) return undefined;
  return (digest, signature, recovery) => publicKey(() => ecdsaRecover(signature, recovery, digest, false));
}

async function loadWasm(): Promise<Recover | undefined> {
  const recover = functionOf(await tryImport("tiny-secp256k1"), "recover");
  if (!recover) return undefined;
  return (digest, signature, recovery) => publicKey(() => recover(digest, signature, recovery, false));
}

async function loadViem(): Promise<Recover | undefined> {
  const recoverPublicKey = functionOf(await importViem(), "recoverPublicKey");
  if (!recoverPublicKey) return undefined;
  return async (digest, signature, recovery) => {
    const text = `${fromBytes(signature)}${recovery === 1 ? "1c" : "1b"}`;
    const key = await Promise.resolve(recoverPublicKey({ hash: fromBytes(digest), signature: text })).catch(noKey);
    return typeof key === "string" ? toBytes(key).subarray(1) : undefined;
  };
}

/** keccak-256 of hash-wasm takes a tenth of the time of JavaScript: three digests are hashed for one verification. */
async function loadWasmKeccak(): Promise<Keccak | undefined> {
  const create = functionOf(await tryImport("hash-wasm"), "createKeccak");
  const hasher = create && (await Promise.resolve(create(256)).catch(noKey));
  if (!isHasher(hasher)) return undefined;
  const keccak: Keccak = (data) => {
    hasher.init();
    hasher.update(data);
    return hasher.digest("binary");
  };
  const probe = new Uint8Array(200).fill(7);
  return equal(keccak(probe), keccak256(probe)) ? keccak : undefined;
}

interface Hasher {
  init(): unknown;
  update(data: Uint8Array): unknown;
  digest(encoding: "binary"): Uint8Array;
}

const isHasher = (value: unknown): value is Hasher =>
  typeof value === "object" && value !== null && "init" in value && "update" in value && "digest" in value;

/** Uncompressed keys start with 4. These libraries throw where a signature has no key: that is an expected outcome. */
function publicKey(recover: () => unknown): Uint8Array | undefined {
  try {
    const key = recover();
    return key instanceof Uint8Array && key.length === 65 ? key.subarray(1) : undefined;
  } catch (error) {
    return noKey(error);
  }
}

const noKey = (_error: unknown): undefined => undefined;

/**
 * The one implementation that runs everywhere. Its name stands here in full so that a bundle for a Worker or a browser,
 * where nothing can be installed later, holds it; inside `try`, so that a bundler without viem leaves it out.
 */
async function importViem(): Promise<unknown> {
  try {
    return await import("viem/utils");
  } catch (error) {
    return noKey(error);
  }
}

/** An optional package for Node alone; its name is a variable so that bundlers leave it out. */
async function tryImport(name: string): Promise<unknown> {
  try {
    return await import(/* @vite-ignore */ name);
  } catch (error) {
    return noKey(error);
  }
}

type Unchecked = (...values: readonly unknown[]) => unknown;

/** A named function of a module, also where CommonJS put it under `default`. */
function functionOf(module: unknown, name: string): Unchecked | undefined {
  for (const part of [module, memberOf(module, "default")]) {
    const member = memberOf(part, name);
    if (typeof member === "function") return (...values) => Reflect.apply(member, part, values);
  }
  return undefined;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
