// The readings of a request path: every list of segments that a router, a file server or a rewriting layer may take one
// path for. Routes are matched against all of them, so that no spelling of a priced path slips past. Linear time.

/** One way to read a path. Empty segments are kept in some readings and dropped in others; `/` has none. */
export type Reading = readonly string[];

/** Longest path that is read, in characters. */
const MAX_PATH = 2048;
// Anything unusual in the authority makes parsers disagree on where the path begins, so it is not read at all.
const ABSOLUTE = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{0,5})?(?=[/?#]|$)/i;

/**
 * The raw path of a request target in origin or absolute form, without query and fragment; undefined = nobody can say
 * for certain which path is meant.
 *
 * Spaces at the end are cut by some URL parsers and control characters by others, so both make a path unreadable.
 */
export function pathOf(target: string): string | undefined {
  let rest = target;
  if (!target.startsWith("/") && !/^(?:[?#]|$)/.test(target)) {
    const authority = ABSOLUTE.exec(target.slice(0, MAX_PATH))?.[0];
    if (authority === undefined) return undefined;
    rest = target.slice(authority.length);
  }
  const end = rest.search(/[?#]/);
  const path = (end < 0 ? rest : rest.slice(0, end)) || "/";
  if (path.length > MAX_PATH || hasControl(path) || /\s$/.test(path)) return undefined;
  return path;
}

/**
 * Whether this path has one reading only: no escapes, no parameters, no empty or dot segments, no slash at its end.
 * Most requests are of this kind and cost one look-up.
 */
export function isPlain(path: string): boolean {
  if (path === "/") return true;
  return /^[\w~!$&'()*+,=:@./-]*$/.test(path) && !path.includes("//") && !path.includes("/.") && !path.endsWith("/");
}

/** Splits a path that begins with a slash. */
export function segmentsOf(path: string): Reading {
  return path === "/" ? [] : path.slice(1).split("/");
}

export interface Readings {
  /** The segments as they stand, and decoded once: the same path, spelled in two ways. */
  readonly spelled: readonly Reading[];
  /** Everything else that it may be taken for. */
  readonly others: readonly OtherReading[];
}

export interface OtherReading {
  readonly segments: Reading;
  /** Empty segments were dropped, which one router does and the next does not, and Express 4 does in the middle of a mount. */
  readonly dropped: boolean;
}

/**
 * All readings of a raw path; undefined = it cannot be decoded.
 *
 * Read are: escapes left alone, decoded once and decoded twice; an encoded slash as a separator and as a character; a
 * backslash as both; segment parameters (`;x`) kept and cut; dot segments kept and resolved, with empty segments counted
 * (as URL parsers do) and not (as file systems do); empty segments kept and dropped.
 */
export function readingsOf(path: string): Readings | undefined {
  const texts = decodings(path);
  if (texts === undefined) return undefined;
  const readings = new Map<string, OtherReading>();
  const spelled = texts.slice(0, 2).map(segmentsOf);
  const add = (segments: Reading): void => {
    const full = segments.filter((segment) => segment !== "");
    const dropped = full.length < segments.length;
    if (!readings.has(segments.join("/"))) readings.set(segments.join("/"), { segments, dropped: false });
    if (dropped) readings.set(full.join("/"), { segments: full, dropped });
  };
  for (const text of texts.flatMap(slashings).flatMap(withoutParameters)) {
    const segments = segmentsOf(text);
    add(segments);
    if (!segments.some(isDots)) continue;
    add(resolveDots(segments));
    add(resolveDots(segments.filter((segment) => segment !== "")));
  }
  for (const reading of spelled) readings.delete(reading.join("/"));
  return { spelled, others: [...readings.values()] };
}

/** A segment in the form in which letter case does not count, by the rules of case-insensitive regular expressions and more. */
export function foldCase(segment: string): string {
  return segment.toUpperCase().toLowerCase();
}

function decodings(path: string): readonly string[] | undefined {
  if (!path.includes("%")) return [path];
  // A backslash sent raw and one sent encoded are read differently; nobody sends both.
  if (path.includes("\\") && /%5c/i.test(path)) return undefined;
  const once = decode(keepSlashes(path));
  const open = decode(path);
  if (once === undefined || open === undefined) return undefined;
  const texts = [path, once, open];
  if (open.includes("%")) texts.push(decodeSome(keepSlashes(once)), decodeSome(open));
  // The first two stay in place, also where they are equal.
  return texts.some(hasControl) ? undefined : [path, ...new Set(texts.slice(1))];
}

/** Keeps encoded slashes as they are through one decoding. */
const keepSlashes = (text: string): string => text.replace(/%2f/gi, "%252F");

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The only thing thrown here is URIError: the answer is the value.
    return undefined;
  }
}

/** A second decoding may meet a percent sign that was meant as one: it stays. */
const decodeSome = (text: string): string => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decode(run) ?? run);

const slashings = (text: string): readonly string[] =>
  text.includes("\\") ? [text, text.replaceAll("\\", "/")] : [text];

const withoutParameters = (text: string): readonly string[] =>
  text.includes(";") ? [text, text.replace(/;[^/]*/g, "")] : [text];

const isDots = (segment: string): boolean => segment === "." || segment === "..";

/** As RFC 3986 §5.2.4: `..` takes the segment before it, an empty one too; above the root there is nothing. */
function resolveDots(segments: Reading): Reading {
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === "..") resolved.pop();
    else if (segment !== ".") resolved.push(segment);
  }
  return resolved;
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
