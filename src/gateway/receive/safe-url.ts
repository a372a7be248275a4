// Which URL of a caller this gateway may call, and at which address: nothing but what the operator listed, and never a host of
// its own network. A name is resolved once; every address of it is judged, and only a judged one is connected to.
import { lookup as systemLookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import type { Lookup } from "../../receive/http.js";
import { type Fault, invalidField, type Outcome } from "../errors.js";

export interface PermittedUrl {
  /** Without a slash at its end. */
  readonly url: string;
  /** The operator has listed a loopback URL: then it is loopback and nothing else. */
  readonly loopback: boolean;
}

/** One answer of a resolver. */
export interface Address {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (name: string) => Promise<readonly Address[]>;

const resolveBySystem: Resolve = (name) => systemLookup(name, { all: true, verbatim: true });

/**
 * The URL as it may be called. INVALID_REQUEST where it is not on the list: same origin, and a path that goes on from the listed
 * one at a slash.
 *
 * @example permitUrl("https://x402.org/facilitator", settings.facilitatorUrls)
 */
export function permitUrl(text: string, listed: readonly string[]): Outcome<PermittedUrl> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isPlain(url)) return refused("expected an https URL without credentials, query or fragment");
  if (!listed.some((one) => covers(one, url)))
    return refused("expected a facilitator that this gateway's operator permits");
  const host = hostOf(url);
  const loopback = isLoopbackHost(host);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback)) return refused("expected https");
  // Invariant: a host that is an address is never resolved, so it is judged here.
  if (isIP(host) !== 0 && !isPermitted(host, loopback)) return refused("expected a public address");
  return { ok: true, value: { url: url.href.replace(/\/+$/, ""), loopback } };
}

const refused = (message: string): Fault => invalidField("facilitatorUrl", message);

/** Nothing that one program may read in another way than the next: an encoded slash, a backslash, a parameter of a path. */
const isPlain = ({ username, password, search, hash, pathname, href }: URL): boolean =>
  username === "" && password === "" && search === "" && hash === "" && !/[?#]$/.test(href) && !/%|\\|;/.test(pathname);

function covers(listed: string, url: URL): boolean {
  if (!URL.canParse(listed)) return false;
  const own = new URL(listed);
  const path = own.pathname.replace(/\/+$/, "");
  return own.origin === url.origin && (url.pathname === path || `${url.pathname}/`.startsWith(`${path}/`));
}

/** As `URL` has it: numbers in any spelling have become one address by then. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();

const isLoopbackHost = (host: string): boolean => host === "localhost" || (isIP(host) !== 0 && isLoopback(host));

/** The address that a name is connected to, chosen once and kept. Fails where any address of the name is not permitted. */
export function createPinnedLookup({ loopback }: PermittedUrl, resolve: Resolve = resolveBySystem): Lookup {
  const pinned = new Map<string, Promise<readonly Address[]>>();

  async function judge(name: string): Promise<readonly Address[]> {
    const found = await resolve(name);
    // Invariant: one forbidden address among many refuses the name: whoever names it here may choose which one is used.
    if (found.length === 0 || !found.every(({ address }) => isPermitted(address, loopback))) {
      throw Object.assign(new Error("the name leads to an address that is not permitted"), { code: "ADDRESS_REFUSED" });
    }
    return found.map(({ address }) => ({ address, family: isIP(address) }));
  }

  return (name, options, callback) => {
    const judged = pinned.get(name) ?? judge(name);
    pinned.set(name, judged);
    judged.then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first?.address ?? "", first?.family);
      },
      (error: NodeJS.ErrnoException) => {
        // A resolver that failed may answer the next time; nothing of it is kept.
        pinned.delete(name);
        callback(error, "");
      },
    );
  };
}

const isPermitted = (address: string, loopback: boolean): boolean =>
  loopback ? isLoopback(address) : isPublic(address);

/**
 * Whether an address is somebody's in the public internet. Source: the special-purpose registries of IANA.
 *
 * @example isPublic("169.254.169.254") // false: where clouds keep their secrets
 */
export function isPublic(address: string): boolean {
  const kind = isIP(address);
  // A zone names a network of this machine.
  if (kind === 0 || address.includes("%")) return false;
  if (kind === 4) return !SPECIAL_V4.check(address, "ipv4");
  // Of IPv6 only one eighth is given out; mapped, translated and local addresses all lie outside it.
  return GLOBAL_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

function isLoopback(address: string): boolean {
  const kind = isIP(address);
  return kind === 4 ? LOOPBACK.check(address, "ipv4") : kind === 6 && address === "::1";
}

type Subnet = readonly [network: string, prefix: number];

function blockList(type: "ipv4" | "ipv6", subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, type);
  return list;
}

const LOOPBACK = blockList("ipv4", [["127.0.0.0", 8]]);

const SPECIAL_V4 = blockList("ipv4", [
  ["0.0.0.0", 8], // unspecified, "this network"
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // behind a carrier's NAT
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // a public one by which Azure serves its own machines
  ["169.254.0.0", 16], // link-local, metadata of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24], // relays of 6to4
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
]);

const GLOBAL_V6 = blockList("ipv6", [["2000::", 3]]);

const SPECIAL_V6 = blockList("ipv6", [
  ["2001::", 23], // Teredo and other assignments of protocols
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address inside
  ["3fff::", 20],
]);
