// Addresses of both chain families: are they well formed, and how are they spelled. No chain library.
import { keccak256 } from "./keccak.js";

const EVM = /^0x[0-9a-fA-F]{40}$/;
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Whether `address` is well formed for the chain family. A mixed-case EVM address must carry a correct EIP-55 checksum:
 * one wrong letter in a configured address would send every payment to nobody. A Solana address is base58 of 32 bytes.
 */
export function isAddressOf(family: "evm" | "solana", address: string): boolean {
  if (family === "solana") return isSolanaAddress(address);
  if (!EVM.test(address)) return false;
  const digits = address.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || checksumAddress(address) === address;
}

/**
 * The EIP-55 spelling of an EVM address given in any case. Pass well-formed addresses only.
 *
 * @throws RangeError when the text is not `0x` and 40 hex digits.
 */
export function checksumAddress(address: string): string {
  const known = spellings.get(address);
  if (known) return known;
  if (!EVM.test(address)) throw new RangeError("not an EVM address: expected 0x and 40 hex digits");
  const spelled = spell(address.slice(2).toLowerCase());
  if (spellings.size >= MAX_SPELLINGS) spellings.clear();
  spellings.set(address, spelled);
  return spelled;
}

/** A buyer comes again. Bounded, because anybody may name any address. */
const spellings = new Map<string, string>();
const MAX_SPELLINGS = 4096;

function spell(digits: string): string {
  const hash = keccak256(new TextEncoder().encode(digits));
  let spelled = "0x";
  for (let i = 0; i < 40; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15;
    spelled += nibble >= 8 ? digits[i]!.toUpperCase() : digits[i]!;
  }
  return spelled;
}

function isSolanaAddress(address: string): boolean {
  if (address.length < 32 || address.length > 44) return false;
  let value = 0n;
  for (const character of address) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  // Each leading "1" is a zero byte that the number itself does not show.
  const zeros = address.length - address.replace(/^1+/, "").length;
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return zeros + bytes === 32;
}
