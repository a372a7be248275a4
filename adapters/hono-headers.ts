// The headers of a Hono response as a list and back again, without the detour over `Headers` where it can be had: on Node
// parsing them and taking them apart again costs more than all the rest of a small answer.
import type { HeaderList } from "../src/request.js";
import { type HeaderTarget, isLegalHeader } from "./headers.js";

/** One entry for each line that would be sent. Throws for headers that no response can have. */
export function headersOf(response: Response): HeaderList {
  const kept = keptBy(response);
  if (kept?.[1] === null && kept[2] === undefined) return [];
  return recordOf(kept?.[2]) ?? [...response.headers.entries()];
}

/** A list for merging, as `applyHeaders` wants it. */
export class HeaderLines implements HeaderTarget {
  readonly #lines = new Map<string, readonly (readonly [name: string, value: string])[]>();

  constructor(headers: HeaderList) {
    for (const line of headers) {
      const key = line[0].toLowerCase();
      const before = this.#lines.get(key);
      this.#lines.set(key, before ? [...before, line] : [line]);
    }
  }

  get(name: string): string | undefined {
    return this.#lines
      .get(name.toLowerCase())
      ?.map(([, value]) => value)
      .join(", ");
  }

  set(name: string, values: readonly string[]): void {
    this.#lines.set(
      name.toLowerCase(),
      values.map((value) => [name, value]),
    );
  }

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    this.#lines.set(key, [...(this.#lines.get(key) ?? []), [name, value]]);
  }

  delete(name: string): void {
    this.#lines.delete(name.toLowerCase());
  }

  /** The headers for a new response: a plain record where it can hold them. Throws for illegal ones. */
  toInit(): Record<string, string> | Headers {
    const record: Record<string, string> = {};
    for (const lines of this.#lines.values()) {
      const [line] = lines;
      // A name that comes twice is two lines, which a record cannot hold, nor this one; and a record is not checked by
      // anybody.
      if (line === undefined || lines.length > 1 || line[0] === "__proto__") return this.#toHeaders();
      if (!isLegalHeader(line)) return this.#toHeaders();
      record[line[0]] = line[1];
    }
    return record;
  }

  #toHeaders(): Headers {
    const init = new Headers();
    for (const lines of this.#lines.values()) for (const [name, value] of lines) init.append(name, value);
    return init;
  }
}

/** The symbol, once it has been seen. */
let cache: symbol | undefined;

/**
 * @hono/node-server's own Response keeps what it was made of beside it, as `[status, body, headers]` under a symbol, until
 * somebody reads `body` or asks for a rare field: then a real Response is made, with a copy of a large body.
 * Safe because whatever does not look exactly like that is read in the usual way.
 */
export function keptBy(response: Response): readonly unknown[] | undefined {
  if (cache === undefined || !Object.hasOwn(response, cache)) {
    cache = Object.getOwnPropertySymbols(response).find(({ description }) => description === "cache");
  }
  const kept: unknown = cache && Reflect.get(response, cache);
  return Array.isArray(kept) && kept[0] === response.status ? kept : undefined;
}

/** The entries of a plain record of legal headers; undefined for anything else. */
function recordOf(init: unknown): HeaderList | undefined {
  if (typeof init !== "object" || init === null || Object.getPrototypeOf(init) !== Object.prototype) return undefined;
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(init)) {
    if (typeof value !== "string" || !isLegalHeader([name, value])) return undefined;
    entries.push([name, value]);
  }
  return entries;
}
