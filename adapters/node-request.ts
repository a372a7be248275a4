// A node:http request as the guard reads it. Made anew for every request, free ones too, so everything that costs is done
// when it is asked for.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PaywallRequest } from "../src/request.js";
import { watchConnection } from "./node-answer.js";
import { announcesNone, peekBody } from "./node-body.js";

export class NodeRequest implements PaywallRequest {
  protected readonly req: IncomingMessage;
  readonly #res: ServerResponse;
  #abort: AbortController | undefined;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.req = req;
    this.#res = res;
  }

  get native(): unknown {
    return this.req;
  }

  get method(): string {
    return (this.req.method ?? "").toUpperCase();
  }

  /** Routers of the connect family shorten `url` at a mount and keep the whole one beside it. */
  get target(): string {
    return originalUrlOf(this.req) ?? this.req.url ?? "";
  }

  /** A shortened target cannot be told from a rewritten one, so a table prices both. */
  get dispatched(): string | undefined {
    const original = originalUrlOf(this.req);
    return original === undefined || original === this.req.url ? undefined : this.req.url;
  }

  /** Node has no proxy rules: the connection and the Host header. The paywall's `trustProxy` reads forwarded ones. */
  get origin(): string | undefined {
    const host = this.req.headers.host;
    return host ? `${"encrypted" in this.req.socket ? "https" : "http"}://${host}` : undefined;
  }

  get ip(): string | undefined {
    return this.req.socket.remoteAddress;
  }

  get signal(): AbortSignal {
    if (this.#abort) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    watchConnection(
      this.#res,
      () => undefined,
      () => abort.abort(),
    );
    return abort.signal;
  }

  header(name: string): string | undefined {
    const value = this.req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get bodyless(): boolean {
    return announcesNone(this.req);
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return peekBody(this.req, limit);
  }
}

function originalUrlOf(req: IncomingMessage): string | undefined {
  const { originalUrl } = req as IncomingMessage & { readonly originalUrl?: unknown };
  return typeof originalUrl === "string" ? originalUrl : undefined;
}
