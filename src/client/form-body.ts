// A form's bytes that are the same each time: fetch separates the parts by a boundary of chance, so that the same form would be
// another request whenever it is sent, and a proof for it could not be sent again.
import { sha256 } from "../hash.js";

const BOUNDARY = /^multipart\/form-data;\s*boundary="?([^"\s;]+)"?$/i;
const encoder = new TextEncoder();

/** Puts a boundary made of the content in place of the one of chance; undefined for what is no form. */
export async function toStableForm(
  bytes: Uint8Array,
  type: string | undefined,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string } | undefined> {
  const boundary = BOUNDARY.exec(type ?? "")?.[1];
  if (boundary === undefined) return undefined;
  const parts = split(bytes, encoder.encode(boundary));
  // Safe because the hash is of the content itself: to write it into the content, one would have to know it first.
  const digest = await sha256(join(parts, new Uint8Array(0)));
  const own = `tollgate-${digest.slice(0, 48)}`;
  return { bytes: join(parts, encoder.encode(own)), type: `multipart/form-data; boundary=${own}` };
}

function split(bytes: Uint8Array, by: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = find(bytes, by, 0); at >= 0; at = find(bytes, by, from)) {
    parts.push(bytes.subarray(from, at));
    from = at + by.length;
  }
  return [...parts, bytes.subarray(from)];
}

function find(bytes: Uint8Array, sought: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(sought[0]!, from); at >= 0; at = bytes.indexOf(sought[0]!, at + 1)) {
    if (sought.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}

function join(parts: readonly Uint8Array[], by: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, part) => sum + part.length, by.length * (parts.length - 1));
  const joined = new Uint8Array(size);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (index > 0) {
      joined.set(by, at);
      at += by.length;
    }
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
