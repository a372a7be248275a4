// The bytes of a v0 message, from instructions that name their accounts by key: the twin of the decoder in transaction.ts.
// Lookup tables are never used, so whoever signs the message sees every account in it.
import { byteKey, sameBytes } from "./bytes.js";
import { MAX_TRANSACTION_BYTES } from "./transaction.js";

/** An account of an instruction and what it may do there. */
export interface AccountRole {
  readonly key: Uint8Array;
  readonly signer: boolean;
  readonly writable: boolean;
}

/** One call of a program, before keys become indexes. */
export interface Call {
  readonly program: Uint8Array;
  readonly accounts: readonly AccountRole[];
  readonly data: Uint8Array;
}

export interface MessageDraft {
  readonly feePayer: Uint8Array;
  /** 32 bytes. */
  readonly blockhash: Uint8Array;
  readonly calls: readonly Call[];
}

const VERSION_0 = 0x80;
const KEY_SIZE = 32;
const SIGNATURE_SIZE = 64;

/**
 * Compiles a v0 message: the fee payer first, then writable signers, other signers, writable accounts and the rest, each in
 * the order in which the calls name them, as @solana/web3.js does.
 *
 * @throws RangeError where a key or the blockhash has not 32 bytes.
 */
export function compileMessage({ feePayer, blockhash, calls }: MessageDraft): Uint8Array {
  const roles = collectRoles(feePayer, calls);
  const group = (signer: boolean, writable: boolean) =>
    roles.filter((role) => role.signer === signer && role.writable === writable);
  const [writers, signers, targets, others] = [
    group(true, true),
    group(true, false),
    group(false, true),
    group(false, false),
  ];
  const keys = [...writers, ...signers, ...targets, ...others].map(({ key }) => key);
  if ([...keys, blockhash].some(({ length }) => length !== KEY_SIZE)) {
    throw new RangeError("Every key of a message and its blockhash must have 32 bytes");
  }
  const indexOf = (key: Uint8Array) => keys.findIndex((one) => sameBytes(one, key));
  const compiled = calls.flatMap(({ program, accounts, data }) => [
    indexOf(program),
    ...list(accounts.map(({ key }) => indexOf(key))),
    ...list(data),
  ]);
  const header = [writers.length + signers.length, signers.length, others.length];
  return Uint8Array.from([
    VERSION_0,
    ...header,
    ...lengthBytes(keys.length),
    ...keys.flatMap((key) => [...key]),
    ...blockhash,
    ...lengthBytes(calls.length),
    ...compiled,
    // No lookup tables.
    0,
  ]);
}

/** Every key once, with the most that any call asks of it. */
function collectRoles(feePayer: Uint8Array, calls: readonly Call[]): readonly AccountRole[] {
  const roles = new Map<string, AccountRole>();
  const add = ({ key, signer, writable }: AccountRole) => {
    const known = roles.get(byteKey(key));
    roles.set(byteKey(key), {
      key,
      signer: signer || known?.signer === true,
      writable: writable || known?.writable === true,
    });
  };
  add({ key: feePayer, signer: true, writable: true });
  for (const { program, accounts } of calls) {
    add({ key: program, signer: false, writable: false });
    for (const account of accounts) add(account);
  }
  return [...roles.values()];
}

/** A length in "compact-u16": seven bits a byte, low ones first. */
function lengthBytes(length: number): number[] {
  return length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...lengthBytes(length >> 7)];
}

const list = (items: ArrayLike<number>): number[] => [...lengthBytes(items.length), ...Array.from(items)];

/**
 * The wire form of a message: its signatures, zeroes where one is missing, and the message.
 *
 * @throws RangeError where that is more than the network carries, or a signature too many.
 */
export function toWire(message: Uint8Array, signatures: readonly (Uint8Array | undefined)[] = []): Uint8Array {
  const required = message[1] ?? 0;
  const size = 1 + required * SIGNATURE_SIZE + message.length;
  if (signatures.length > required) throw new RangeError(`The message takes ${required} signatures`);
  if (size > MAX_TRANSACTION_BYTES) {
    throw new RangeError(`A transaction has at most ${MAX_TRANSACTION_BYTES} bytes, this one has ${size}`);
  }
  const wire = new Uint8Array(size);
  // Safe because no message of ours has so many signers that their count takes two bytes.
  wire[0] = required;
  for (const [slot, signature] of signatures.entries()) {
    if (signature) wire.set(signature, 1 + slot * SIGNATURE_SIZE);
  }
  wire.set(message, 1 + required * SIGNATURE_SIZE);
  return wire;
}
