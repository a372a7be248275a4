// The public URL of a request, as the challenge names it. The host comes from `publicUrl`, else from the request, checked.

const ORIGIN = /^https?:\/\/([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;
const MAX_TARGET = 2048;

export interface UrlSettings {
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
}

interface UrlRequest {
  readonly target: string;
  readonly origin: string | undefined;
  header(name: string): string | undefined;
}

/**
 * Absolute URL with the query; a very long query is left out. Undefined = no valid host, or no path that can be named.
 * Source: protocol §1.8.
 */
export function resourceUrl(request: UrlRequest, settings: UrlSettings): string | undefined {
  const origin = settings.publicUrl ?? (settings.trustProxy ? forwardedOrigin(request) : request.origin);
  if (origin === undefined || (settings.publicUrl === undefined && !ORIGIN.test(origin))) return undefined;
  const path = originForm(request.target);
  if (path === undefined) return undefined;
  if (path.length <= MAX_TARGET) return origin + path;
  const bare = path.slice(0, path.indexOf("?") + 1 || undefined).replace(/\?$/, "");
  return bare.length <= MAX_TARGET ? origin + bare : undefined;
}

/** `X-Forwarded-Proto` and `-Host` as the last trusted proxy wrote them; the request's own origin where they are absent. */
function forwardedOrigin(request: UrlRequest): string | undefined {
  const own = request.origin?.split("://");
  const proto = lastOf(request.header("x-forwarded-proto")) ?? own?.[0];
  const host = lastOf(request.header("x-forwarded-host")) ?? own?.[1];
  return proto && host ? `${proto}://${host}` : undefined;
}

const lastOf = (list: string | undefined): string | undefined => list?.split(",").at(-1)?.trim() || undefined;

/** Path and query of a target in origin or absolute form, without a fragment. */
function originForm(target: string): string | undefined {
  const path = target.startsWith("/") ? target : /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1];
  if (path === undefined) return undefined;
  const bare = path.split("#", 1)[0] ?? "";
  return bare.startsWith("/") ? bare : `/${bare}`;
}
