// The associated token account: where an owner's balance of a mint lives. Derived, never looked up, so that a payment to
// any other account is refused without a call.
import { LRUCache } from "lru-cache";
import { sha256 } from "../../hash.js";
import { decodeAddress, encodeBase58 } from "./base58.js";
import { fromHex } from "./bytes.js";
import { isOnCurve } from "./curve.js";
import { programKey } from "./programs.js";

const MARKER = new TextEncoder().encode("ProgramDerivedAddress");
/** A seller's own few combinations of owner, mint and program. The bound only matters to callers with more. */
const kept = new LRUCache<string, string>({ max: 1_000 });

/**
 * The address of `owner`'s associated token account for `mint` under one of the two token programs, all in base58;
 * undefined where one of the three is no address.
 */
export async function associatedTokenAddress(
  owner: string,
  mint: string,
  tokenProgram: string,
): Promise<string | undefined> {
  const name = `${owner} ${mint} ${tokenProgram}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const seeds = [decodeAddress(owner), decodeAddress(tokenProgram), decodeAddress(mint)];
  const found = await findProgramAddress(seeds, programKey("associatedToken"));
  if (!found) return undefined;
  const address = encodeBase58(found);
  kept.set(name, address);
  return address;
}

/** The first hash of the seeds and a falling bump that is no curve point: nobody can have its secret key. */
async function findProgramAddress(
  seeds: readonly (Uint8Array | undefined)[],
  program: Uint8Array,
): Promise<Uint8Array | undefined> {
  const parts: number[] = [];
  for (const seed of seeds) {
    if (!seed) return undefined;
    parts.push(...seed);
  }
  for (let bump = 255; bump >= 0; bump--) {
    const hash = fromHex(await sha256(Uint8Array.from([...parts, bump, ...program, ...MARKER])));
    if (!isOnCurve(hash)) return hash;
  }
  return undefined;
}
