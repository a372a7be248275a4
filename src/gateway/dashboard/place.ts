// Where the dashboard is, by the configured public URL alone and never by what a request says. What carries a session is https,
// or this machine.
import type { Mode } from "../payment.js";
import type { GatewaySettings } from "../settings.js";

export interface Place {
  /** Without a slash at its end; where no public URL is configured and the port is chosen at the start, a guess. */
  readonly url: string;
  /** The path of the dashboard, as browsers see it. */
  readonly base: string;
  /** What the Origin of a form must be; undefined = any name of this machine, the one that the request itself was sent to. */
  readonly origin: string | undefined;
  readonly isHttps: boolean;
  /** Plain http across a network: nobody may sign in. */
  readonly isExposed: boolean;
}

const MODES: readonly Mode[] = ["live", "test"];

/** The mode of a socket of the dashboard; undefined = it is none. */
export const modeOfSocket = (url: string | undefined): Mode | undefined => {
  const asked = new URL(url ?? "", "http://gateway.invalid").searchParams.get("dashboard");
  return MODES.find((mode) => mode === asked);
};

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/i;

export function placeOf({ publicUrl, port }: Pick<GatewaySettings, "publicUrl" | "port">): Place {
  const url = publicUrl ?? `http://127.0.0.1:${port}`;
  const { pathname, origin, protocol, hostname } = new URL(url);
  const isHttps = protocol === "https:";
  return {
    url,
    base: `${pathname.replace(/\/+$/, "")}/dashboard`,
    origin: publicUrl === undefined ? undefined : origin,
    isHttps,
    isExposed: !isHttps && !LOOPBACK.test(hostname),
  };
}

export interface Sender {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: no page can choose it. */
  readonly site: string | undefined;
}

/**
 * Does a form come from a page of ours? A browser that says so by `Sec-Fetch-Site` writes `null` for the origin, because our pages
 * send no referrer; one that does not has to name the origin.
 */
export function isOwnForm(place: Place, { host, origin, site }: Sender): boolean {
  if (!isServedAt(place, host)) return false;
  if (site !== undefined && (origin === undefined || origin === "null")) return site === "same-origin";
  if (site !== undefined && site !== "same-origin") return false;
  return origin === siteOf(place, host);
}

/** The origin of our pages. Safe because without a public URL only names of this machine come so far: see isServedAt. */
export const siteOf = (place: Place, host: string | undefined): string => place.origin ?? `http://${host}`;

/** Paths of the sockets that tell of changes, as browsers see them: one for each mode. */
export const socketsOf = ({ base }: Place): readonly string[] =>
  MODES.map((mode) => `${base.replace(/dashboard$/, "events")}?dashboard=${mode}`);

/** Without a public URL only this machine is served. */
export const isServedAt = (place: Place, host: string | undefined): boolean =>
  place.origin !== undefined || isHere(host);

const isHere = (host: string | undefined): boolean =>
  host !== undefined && LOOPBACK.test(host.replace(/:[0-9]{1,5}$/, "")) && URL.canParse(`http://${host}`);
