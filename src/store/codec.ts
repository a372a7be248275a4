// Values of the store as text: JSON, with bytes at any depth as base64 in an object of one member. Every shared store writes
// this text, so that what one of them holds reads the same as what any other does.
import type { StoreValue } from "./store.js";

/** The member that stands for bytes. A real member whose name begins like it is written with one more `$`. */
const BYTES = "$bytes";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** @throws TypeError for what JSON cannot hold exactly: it would come back as something else. */
export const encodeValue = (value: StoreValue): string => JSON.stringify(toJson(value));

/** @throws where the text is not what `encodeValue` writes. */
export function decodeValue(text: string): StoreValue {
  return fromJson(JSON.parse(text) as Json);
}

/**
 * A key, ledger or member as every store can hold it.
 *
 * @throws TypeError for text that a database would change or refuse: two keys must never become one.
 */
export function checkKey(key: string): string {
  if (/[\0\p{Cs}]/u.test(key)) throw new TypeError("a key of the store holds a NUL or half of a character");
  return key;
}

function toJson(value: StoreValue): Json {
  if (value instanceof Uint8Array) return { [BYTES]: toBase64(value) };
  if (typeof value === "number" && !isExact(value)) throw new TypeError("a number of a store value is not JSON");
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map(toJson);
  const members = Object.entries(value).filter((member): member is [string, StoreValue] => member[1] !== undefined);
  return fromMembers(members.map(([name, inner]) => [name.startsWith("$") ? `$${name}` : name, toJson(inner)]));
}

function fromJson(json: Json): StoreValue {
  if (json === null || typeof json !== "object") return json;
  if (isList(json)) return json.map(fromJson);
  const members = Object.entries(json);
  const [first] = members;
  if (first?.[0] === BYTES && members.length === 1 && typeof first[1] === "string") return fromBase64(first[1]);
  return fromMembers(members.map(([name, inner]) => [name.startsWith("$") ? name.slice(1) : name, fromJson(inner)]));
}

const isExact = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0);

/** `Array.isArray` does not narrow a readonly list. */
const isList = <Item>(value: readonly Item[] | object): value is readonly Item[] => Array.isArray(value);

/** `Object.fromEntries` defines members, so that one named `__proto__` stays a member. */
const fromMembers = <Member>(members: readonly (readonly [string, Member])[]): { [name: string]: Member } =>
  Object.fromEntries(members);

const CHUNK = 0x2000;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
