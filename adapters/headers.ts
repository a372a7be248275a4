// How an answer of the guard meets headers that the app set before: the two list headers are joined without duplicates
// (a second Access-Control-Expose-Headers or Vary would break browsers and caches), a cookie is added to those that are set,
// every other header is replaced.
import type { HeaderList } from "../src/request.js";

/** The headers of an answer that is about to be sent, whatever the framework keeps them in. */
export interface HeaderTarget {
  get(name: string): string | undefined;
  set(name: string, values: readonly string[]): void;
  /** One more line of this name. */
  add(name: string, value: string): void;
}

const LIST_HEADERS = new Set(["access-control-expose-headers", "vary"]);

/** Belong to one connection or one sending, so they are no part of an answer that may be kept and sent again. */
const TRANSPORT_HEADERS = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Sets `headers` on `target`; a name that occurs twice in `headers` is sent twice. */
export function applyHeaders(target: HeaderTarget, headers: HeaderList): void {
  const grouped = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const group = grouped.get(key);
    if (group) group.values.push(value);
    else grouped.set(key, { name, values: [value] });
  }
  for (const [key, { name, values }] of grouped) {
    if (key === "set-cookie") {
      for (const value of values) target.add(name, value);
      continue;
    }
    const before = LIST_HEADERS.has(key) ? target.get(name) : undefined;
    if (before) target.set(name, [joinLists([before, ...values])]);
    else if (values.length > 1 && LIST_HEADERS.has(key)) target.set(name, [joinLists(values)]);
    else target.set(name, values);
  }
}

/**
 * What the handler added to or changed in the headers that stood there before it ran, without transport headers.
 * An answer that is kept and sent again passes the app's own middleware again, which sets its headers afresh.
 */
export function ownHeaders(before: HeaderList, after: HeaderList): HeaderList {
  const known = new Set(before.map(([name, value]) => `${name.toLowerCase()}\n${value}`));
  return after.filter(([name, value]) => {
    const key = name.toLowerCase();
    // Cache-Control always stays in: the capture tightens it, and must see a `no-store` of the app to keep it.
    return !TRANSPORT_HEADERS.has(key) && (key === "cache-control" || !known.has(`${key}\n${value}`));
  });
}

/** Statuses whose answer has no body on the wire (RFC 9110, 6.4.1). */
export function isBodyless(status: number): boolean {
  return status < 200 || status === 204 || status === 205 || status === 304;
}

/** May the line be sent? What is legal here is legal to Node and to every `Headers`. */
export function isLegalHeader([name, value]: HeaderList[number]): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && !/[^\t\x20-\x7e\x80-\xff]/.test(value);
}

/** An answer of this type is a stream from its first byte on. */
export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream/i.test(contentType ?? "");
}

/** Joins comma lists; the first spelling of an entry stays. */
function joinLists(lists: readonly string[]): string {
  const entries = new Map<string, string>();
  for (const entry of lists.join(",").split(",")) {
    const text = entry.trim();
    if (text !== "" && !entries.has(text.toLowerCase())) entries.set(text.toLowerCase(), text);
  }
  return [...entries.values()].join(", ");
}
