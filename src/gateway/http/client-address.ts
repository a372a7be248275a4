// Who is at the other end of the connection, as one word that all its spellings share. Source: faults A39.
import { isIP } from "node:net";
import type { GatewayContext } from "./context.js";

/** Where there is no socket to ask: all such callers share one limit. */
const UNKNOWN_ADDRESS = "unknown";

/** The address of the socket, whatever headers say; undefined where the app runs without a server of Node. */
export const socketAddress = (c: GatewayContext): string | undefined => c.env?.incoming?.socket?.remoteAddress;

/**
 * The client's address, normalised. X-Forwarded-For is believed for as many hops as proxies are configured: each of them has
 * added the address that it saw, so whatever stands further left was written by the client.
 */
export const clientAddress = (c: GatewayContext, trustedProxies: number): string =>
  addressBehind(socketAddress(c), c.req.header("x-forwarded-for"), trustedProxies);

/** The same of a request that no app has seen: `own` is the address of its socket, `forwarded` its X-Forwarded-For. */
export function addressBehind(own: string | undefined, forwarded: string | undefined, trustedProxies: number): string {
  const near = own === undefined ? UNKNOWN_ADDRESS : normaliseAddress(own);
  if (trustedProxies === 0) return near ?? UNKNOWN_ADDRESS;
  const hops = (forwarded ?? "").split(",").map((hop) => hop.trim());
  const claimed = hops.at(-Math.min(trustedProxies, hops.length)) ?? "";
  return normaliseAddress(claimed) ?? near ?? UNKNOWN_ADDRESS;
}

/**
 * IPv4 as it is, also where it is mapped into IPv6; IPv6 as its /64, which is what one client has. Undefined = no address.
 *
 * @example normaliseAddress("::ffff:192.0.2.1") // "192.0.2.1"
 * @example normaliseAddress("2001:db8:0:7:1:2:3:4") // "2001:db8:0:7::/64"
 */
export function normaliseAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\](?::[0-9]{1,5})?$/, "$1").replace(/%.*$/, "");
  const address = bare.includes(".") && !bare.includes("::") ? bare.replace(/^([0-9.]+):[0-9]{1,5}$/, "$1") : bare;
  if (isIP(address) === 4) return address;
  if (isIP(address) !== 6) return undefined;
  const groups = expand(address);
  const [a = 0, b = 0] = groups.slice(6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) return [a >> 8, a & 255, b >> 8, b & 255].join(".");
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight groups of a valid IPv6 address. */
function expand(address: string): readonly number[] {
  // The end may be written as IPv4: two groups.
  const hex = address.replace(/[0-9.]+\.[0-9]+$/, (ipv4) => {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::");
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [left, right] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)];
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}
