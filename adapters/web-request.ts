// A Web request as the guard reads it, on every runtime that has one.
import { withoutPageCookies } from "../src/page-cookie.js";
import type { PaywallRequest } from "../src/request.js";
import { announcesNone, peekBody } from "./web-body.js";
import { WITHHELD } from "./withheld.js";

/** Made anew for every request, free ones too, so everything that costs is done when it is asked for. */
export class FetchRequest implements PaywallRequest {
  readonly native: Request;

  constructor(request: Request) {
    this.native = request;
  }

  get method(): string {
    return this.native.method.toUpperCase();
  }

  /** Path and query as the runtime made them: dot segments resolved, nothing decoded. */
  get target(): string {
    const { url } = this.native;
    const start = pathStart(url);
    return start < 0 ? "/" : url.slice(start);
  }

  get origin(): string | undefined {
    const { url } = this.native;
    const start = pathStart(url);
    return start < 0 ? url : url.slice(0, start);
  }

  /** A Web request does not know its connection. */
  get ip(): undefined {
    return undefined;
  }

  get signal(): AbortSignal {
    return this.native.signal;
  }

  header(name: string): string | undefined {
    return this.native.headers.get(name) ?? undefined;
  }

  get bodyless(): boolean {
    return announcesNone(this.native);
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return peekBody(this.native, limit);
  }
}

/**
 * The request without the headers that a paid handler does not see. The same object where its headers can be changed, so
 * that what a framework has added to it stays.
 */
export function withoutWithheld<R extends Request>(request: R): R | Request {
  if (!hasWithheld(request.headers)) return request;
  try {
    dropFrom(request.headers);
    if (!hasWithheld(request.headers)) return request;
  } catch {
    // Workers freeze the headers of what comes in: then the handler gets a copy.
  }
  const headers = new Headers(request.headers);
  dropFrom(headers);
  // A body that was read already cannot move to a new Request.
  return request.bodyUsed
    ? new Request(request.url, { method: request.method, headers, signal: request.signal })
    : new Request(request, { headers });
}

const hasWithheld = (headers: Headers): boolean => WITHHELD.some((name) => headers.has(name)) || hasPageCookie(headers);

function hasPageCookie(headers: Headers): boolean {
  const cookies = headers.get("cookie");
  return cookies !== null && withoutPageCookies(cookies) !== cookies;
}

function dropFrom(headers: Headers): void {
  // To delete, also what is not there, makes the runtime build real headers in place of the ones that it reads from.
  for (const name of WITHHELD) if (headers.has(name)) headers.delete(name);
  if (!hasPageCookie(headers)) return;
  const left = withoutPageCookies(headers.get("cookie") ?? "");
  headers.delete("cookie");
  if (left !== undefined) headers.set("cookie", left);
}

/** Where the path begins in an absolute URL; -1 without one. */
function pathStart(url: string): number {
  return url.indexOf("/", url.indexOf("://") + 3);
}
