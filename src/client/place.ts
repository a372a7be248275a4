// Where money may go: to the place that was asked, over a line that nobody else writes on, at a host that may be paid.
import { bareUrl, type CallRequest } from "./call-request.js";
import { BuyerError } from "./errors.js";
import { hostOf } from "./host-name.js";
import type { BuyerSettings } from "./settings.js";

/**
 * The URL that asked for the money; an error where that is another place than the caller asked.
 *
 * Invariant: a redirect never chooses who is paid. Within one origin a plain GET or HEAD may be led to another path; a body is
 * not carried on, because by the rules of redirects it is not always the caller's any more.
 */
export function placeOf(call: CallRequest, response: Response, hasBody: boolean): URL | BuyerError {
  const { url: asked } = call;
  // A fetch of one's own may make responses that name no URL.
  const place = new URL(URL.canParse(response.url) ? response.url : asked);
  place.hash = "";
  const redirected = (reason: string) =>
    new BuyerError("redirected", {
      url: bareUrl(asked),
      expected: asked.origin,
      got: bareUrl(place),
      reason,
      status: response.status,
    });
  if (place.origin !== asked.origin) return redirected("another origin asks for the money");
  if (!response.redirected || place.href === asked.href) return place;
  if (hasBody || !/^(?:GET|HEAD)$/.test(call.method)) return redirected("a request with a body was led elsewhere");
  return place;
}

/** Why nothing may be paid there. */
export function findPlaceFault(
  place: URL,
  settings: Pick<BuyerSettings, "allowHttp" | "hosts">,
): BuyerError | undefined {
  const [host, url] = [hostOf(place), bareUrl(place)];
  if (place.protocol !== "https:" && !isLoopback(place.hostname) && !settings.allowHttp.has(host)) {
    return new BuyerError("insecure_url", { url });
  }
  if (settings.hosts && !settings.hosts.has(host)) return new BuyerError("host_not_allowed", { url, got: host });
  return undefined;
}

/** URL has written the forms of an IPv4 address (`127.1`, `0x7f.0.0.1`) as four decimal numbers already. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
