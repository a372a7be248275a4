// Real routers with the same routes, some of them behind mounts three deep whose routers have flags of their own, called
// in this process or served. A guard, where there is one, stands in front as the adapter puts it.
import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Express, RequestHandler, Router } from "express";
import { Hono, type MiddlewareHandler } from "hono";

export interface Flags {
  readonly strict?: boolean;
  readonly caseSensitive?: boolean;
}

export interface RouterUnderTest {
  /** Keys of the handlers that ran, by each way in which a server may hand the target on. */
  dispatch(target: string): Promise<readonly string[]>;
  /** The same as a server; a handler answers `reached KEY`. */
  server(): Server;
}

interface ExpressModule {
  (): Express;
  Router(options?: Flags): Router;
}

/** What a handler answers, so that a client can tell which one ran. */
export const reachedBy = (key: string): string => `reached ${key}`;

/** Express of either major. `flags` are the app's own, `nested` those of the mounted routers, outermost first. */
export function createExpress(
  express: ExpressModule,
  flags: Flags,
  nested: readonly [Flags, Flags, Flags] = [flags, flags, flags],
  guard?: RequestHandler,
): RouterUnderTest {
  const app = express();
  app.set("env", "test");
  app.set("strict routing", flags.strict ?? false);
  app.set("case sensitive routing", flags.caseSensitive ?? false);
  let reached: string[] = [];
  const handler =
    (key: string): RequestHandler =>
    (_request, response) => {
      reached.push(key);
      response.end(reachedBy(key));
    };
  // Express 5 names its wildcards; the older one cannot read the name.
  const rest = "lazyrouter" in app ? "*" : "*splat";

  if (guard) app.use(guard);
  app.get("/docs", handler("GET /docs/*")).get(`/docs/${rest}`, handler("GET /docs/*"));
  app.get("/paid", handler("GET /paid"));
  const reports = express.Router(nested[0]);
  reports.get("/Daily", handler("GET /Report/Daily")).get("/:day", handler("GET /Report/:day"));
  app.use("/Report", reports);
  app.get("/it's,a-b.c", handler("GET /it's,a-b.c"));
  app.get("/shop/sale", handler("GET /shop/sale"));
  const shop = express.Router(nested[0]);
  shop.get("/:id", handler("GET /shop/:id"));
  app.use("/shop", shop);
  const items = express.Router(nested[1]);
  items.get("/:id", handler("GET /items/:id"));
  app.use("/items/", items);
  const [one, two, three] = nested.map((own) => express.Router(own)) as [Router, Router, Router];
  three.get("/:leaf", handler("GET /a/b/c/:leaf"));
  two.use("/c", three);
  one.use("/b", two);
  app.use("/a", one);
  const files = express.Router(nested[2]);
  files.get("/", handler("GET /files/*"));
  files.get(`/${rest}`, handler("GET /files/*"));
  app.use("/files", files);

  return {
    async dispatch(target) {
      reached = [];
      const request = new IncomingMessage(new Socket());
      Object.assign(request, { method: "GET", url: target, headers: { host: "localhost" } });
      const response = new ServerResponse(request);
      await new Promise<void>((resolve) => {
        // Nothing is attached to the response, so its end is when somebody ends it.
        const end = response.end.bind(response);
        Object.assign(response, {
          end(...args: Parameters<typeof end>) {
            resolve();
            return end(...args);
          },
        });
        app(request as never, response as never, () => resolve());
      });
      return reached;
    },
    server: () => createServer(app),
  };
}

/** Hono, in this process once with the URL as a WHATWG parser leaves it and once with the target as it came. */
export function createHono({ strict = true }: Flags, guard?: MiddlewareHandler): RouterUnderTest {
  const app = new Hono({ strict });
  let reached: string[] = [];
  const handler = (key: string) => (context: { text(text: string): Response }) => {
    reached.push(key);
    return context.text(reachedBy(key));
  };
  app.onError((_error, context) => context.text("unreadable", 400));
  if (guard) app.use(guard);
  app.get("/docs/*", handler("GET /docs/*"));
  app.get("/paid", handler("GET /paid"));
  const reports = new Hono().get("/Daily", handler("GET /Report/Daily")).get("/:day", handler("GET /Report/:day"));
  app.route("/Report", reports);
  app.get("/it's,a-b.c", handler("GET /it's,a-b.c"));
  app.get("/shop/sale", handler("GET /shop/sale"));
  app.get("/shop/:id", handler("GET /shop/:id"));
  app.route("/items", new Hono({ strict: !strict }).get("/:id", handler("GET /items/:id")));
  const three = new Hono().get("/:leaf", handler("GET /a/b/c/:leaf"));
  app.route("/a", new Hono().route("/b", new Hono({ strict: !strict }).route("/c", three)));
  // A mounted app gets a path that was decoded before.
  const mounted = new Hono().get("/*", handler("GET /files/*"));
  app.mount("/files", (request: Request) => mounted.fetch(request));

  return {
    async dispatch(target) {
      reached = [];
      const url = target.startsWith("/") ? `http://localhost${target}` : target;
      const isAbsolute = /^https?:\/\//.test(url) && URL.canParse(url);
      // A Request with a name in its URL cannot be made, so no server of that kind hands one on.
      if (isAbsolute && new URL(url).username === "") await app.fetch(new Request(url));
      // A server that does not normalise passes a path as it came; a whole URL none can pass on unread.
      const raw = target.startsWith("/") ? url : isAbsolute ? new URL(url).href : undefined;
      if (raw)
        await app.fetch({ url: raw, method: "GET", headers: new Headers(), raw: undefined } as unknown as Request);
      return reached;
    },
    server: () => createAdaptorServer({ fetch: app.fetch }) as Server,
  };
}
