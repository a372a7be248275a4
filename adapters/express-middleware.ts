// The paywall as Express middleware, for Express 4 and 5. It fills the request, follows the verdict and holds the
// handler's answer; what is priced and what a payment is worth is decided elsewhere.
import type { NextFunction, Request, RequestHandler, Response } from "express";
import type { Guard } from "../src/guard.js";
import type { PaywallRequest, Verdict } from "../src/request.js";
import { type Mark, markMiddleware } from "./audit.js";
import { watchConnection } from "./node-answer.js";
import { announcesNone, peekBody } from "./node-body.js";
import { prepare, refuse, sendVerdict } from "./node-follow.js";

/** Express middleware that asks `guard` about each request. An audit finds it by its `mark`. */
export function toMiddleware(guard: Guard, mark?: Mark): RequestHandler {
  const middleware: RequestHandler = function paywall(req, res, next) {
    let verdict: Verdict | Promise<Verdict>;
    try {
      verdict = guard(new ExpressRequest(req, res));
    } catch {
      return refuse(res);
    }
    // Invariant: an open route goes on in the same tick, and an error of the guard never reaches next().
    if (!(verdict instanceof Promise)) return follow(verdict, req, res, next);
    verdict.then((decided) => follow(decided, req, res, next)).catch(() => refuse(res));
  };
  return markMiddleware(middleware, mark);
}

function follow(verdict: Verdict, req: Request, res: Response, next: NextFunction): void {
  switch (verdict.kind) {
    case "open":
      next();
      return;
    case "refuse":
    case "replay":
      sendVerdict(res, verdict);
      return;
    case "admit":
      req.payment = verdict.payment;
      if (prepare(req, res, verdict.capture)) next();
  }
}

/** Made anew for every request, free ones too, so everything that costs is done when it is asked for. */
class ExpressRequest implements PaywallRequest {
  readonly native: Request;
  readonly #res: Response;
  #abort: AbortController | undefined;

  constructor(req: Request, res: Response) {
    this.native = req;
    this.#res = res;
  }

  /**
   * The method by which Express will dispatch. No header is read for it; but where the app itself runs a method-override
   * middleware before the paywall, that middleware's choice is what the router follows and so what is priced. Such a
   * middleware must not stand behind the paywall.
   */
  get method(): string {
    return this.native.method.toUpperCase();
  }

  get target(): string {
    return this.native.originalUrl;
  }

  /** What the router will match, where a middleware has rewritten `req.url`. */
  get dispatched(): string | undefined {
    const { baseUrl, url, originalUrl } = this.native;
    if (baseUrl + url === originalUrl) return undefined;
    // Inside a mount Express gives its own root as "/", where the client may have sent nothing.
    return url.startsWith("/?") && baseUrl + url.slice(1) === originalUrl ? undefined : baseUrl + url;
  }

  /** Express 4's `req.host` has lost the port, so the host is read here by the rule of Express 5's. */
  get origin(): string | undefined {
    const req = this.native;
    const trust: unknown = req.app.get("trust proxy fn");
    const forwarded = this.header("x-forwarded-host");
    const trusted = forwarded && typeof trust === "function" && trust(req.socket.remoteAddress, 0);
    const host = trusted ? forwarded.split(",", 1)[0]?.trim() : this.header("host");
    return host ? `${req.protocol}://${host}` : undefined;
  }

  get ip(): string | undefined {
    return this.native.ip;
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
    const value = this.native.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get bodyless(): boolean {
    return announcesNone(this.native);
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return peekBody(this.native, limit);
  }
}
