// How a host is written and compared: as `URL.host` has it (lower case, Punycode, no port where it is the scheme's own), and
// without the dot that DNS allows at its end, so that one host has one spelling.

/** The host of a URL, in its one spelling. */
export const hostOf = (url: URL): string => withoutDot(url.host);

/** The same of text that comes from a URL. */
export const sameHost = (host: string): string => withoutDot(host.toLowerCase());

const withoutDot = (host: string): string => host.replace(/\.(?=:\d+$|$)/, "");

export type HostRead =
  | { readonly ok: true; readonly host: string }
  /** What was expected, to stand before what came. */
  | { readonly ok: false; readonly problem: string };

/** A host that a person wrote. `protocol`: the scheme under which it is asked. */
export function readHost(text: string, protocol: "https:" | "http:" = "https:"): HostRead {
  if (URL.canParse(text) && /^https?:\/\//i.test(text)) {
    return { ok: false, problem: `expected a host alone: write ${JSON.stringify(hostOf(new URL(text)))}` };
  }
  if (text.includes("*")) return { ok: false, problem: "expected a host without *: each host is written out" };
  // URL drops white space and reads these as the beginning or the end of a host.
  const isPlain = !/[\s/?#@\\\p{Cc}]/u.test(text) && URL.canParse(`${protocol}//${text}`);
  if (!isPlain) return { ok: false, problem: 'expected a host such as "api.example" or "api.example:8443"' };
  const host = hostOf(new URL(`${protocol}//${text}`));
  // Under https it would be another host than http://api.example, whose port never shows: what is said of it would be lost.
  const bare = host.replace(/:80$/, "");
  return bare === host ? { ok: true, host } : { ok: false, problem: `expected it without the port 80: write ${bare}` };
}
