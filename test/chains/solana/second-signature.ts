// Another true signature of the same key over the same message. RFC 8032 derives one half from the message, but nobody who
// verifies can tell: a signer may draw it. A dishonest buyer can so give one transaction several ids.
import { createHash } from "node:crypto";
import type { Keypair } from "@solana/web3.js";

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const BASE: Point = [
  15112221349535400772501151409588531511454012693041857206046113283949847762202n,
  46316835694926478169428394003475163141307993866256225615783033603165251855960n,
];

type Point = readonly [x: bigint, y: bigint];

const mod = (value: bigint, by = P): bigint => ((value % by) + by) % by;

function inverse(value: bigint): bigint {
  let [result, base] = [1n, mod(value)];
  for (let exponent = P - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = mod(result * base);
    base = mod(base * base);
  }
  return result;
}

function add([x1, y1]: Point, [x2, y2]: Point): Point {
  const product = D * x1 * x2 * y1 * y2;
  return [mod((x1 * y2 + x2 * y1) * inverse(1n + product)), mod((y1 * y2 + x1 * x2) * inverse(1n - product))];
}

function times(scalar: bigint): Point {
  let [sum, step]: [Point, Point] = [[0n, 1n], BASE];
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, step);
    step = add(step, step);
  }
  return sum;
}

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
const sha512 = (...parts: readonly Uint8Array[]): Buffer => createHash("sha512").update(Buffer.concat(parts)).digest();

/** Signs with a half of the signer's own choice, any number above 0. */
export function signAgain(signer: Keypair, message: Uint8Array, drawn: bigint): Uint8Array {
  const secret = sha512(signer.secretKey.subarray(0, 32)).subarray(0, 32);
  secret[0]! &= 248;
  secret[31]! = (secret[31]! & 127) | 64;
  const [x, y] = times(mod(drawn, ORDER));
  const first = toBytes(y | ((x & 1n) << 255n));
  const hash = toNumber(sha512(first, signer.publicKey.toBytes(), message));
  const second = toBytes(mod(drawn + hash * toNumber(secret), ORDER));
  return Buffer.concat([first, second]);
}
