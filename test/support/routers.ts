// Real routers with the same priced routes, some of them behind mounts three deep, called in this process.
// `dispatch` tells which handlers a target reaches.
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Application, Router } from "express";
import { Hono } from "hono";

export interface RouterUnderTest {
  /** Keys of the table whose handlers ran, by each way in which a server may hand the target on. */
  dispatch(target: string): Promise<readonly string[]>;
}

interface ExpressModule {
  (): Application;
  Router(options?: { strict?: boolean; caseSensitive?: boolean }): Router;
}

/** Express of either major. The router options are those of the app and of every mounted router. */
export function createExpress(
  express: ExpressModule,
  options: { strict?: boolean; caseSensitive?: boolean },
): RouterUnderTest {
  const app = express();
  app.set("strict routing", options.strict ?? false);
  app.set("case sensitive routing", options.caseSensitive ?? false);
  let reached: string[] = [];
  const handler = (key: string) => (request: { finish?: () => void }) => {
    reached.push(key);
    request.finish?.();
  };
  // Express 5 names its wildcards; the older one cannot read the name.
  const rest = "lazyrouter" in app ? "*" : "*splat";

  app.get("/docs", handler("GET /docs/*") as never).get(`/docs/${rest}`, handler("GET /docs/*") as never);
  app.get("/paid", handler("GET /paid") as never);
  app.get("/Report/Daily", handler("GET /Report/Daily") as never);
  app.get("/it's,a-b.c", handler("GET /it's,a-b.c") as never);
  app.get("/shop/sale", handler("GET /shop/sale") as never);
  const shop = express.Router(options);
  shop.get("/:id", handler("GET /shop/:id") as never);
  app.use("/shop", shop);
  const items = express.Router(options);
  items.get("/:id", handler("GET /items/:id") as never);
  app.use("/items/", items);
  const [one, two, three] = [express.Router(options), express.Router(options), express.Router(options)];
  three.get("/:leaf", handler("GET /a/b/c/:leaf") as never);
  two.use("/c", three);
  one.use("/b", two);
  app.use("/a", one);
  const files = express.Router(options);
  files.get("/", handler("GET /files/*") as never);
  files.get(`/${rest}`, handler("GET /files/*") as never);
  app.use("/files", files);

  return {
    async dispatch(target) {
      reached = [];
      const request = new IncomingMessage(new Socket());
      Object.assign(request, { method: "GET", url: target, headers: { host: "localhost" } });
      const response = new ServerResponse(request);
      await new Promise<void>((resolve) => {
        Object.assign(request, { finish: resolve });
        app(request as never, response as never, () => resolve());
      });
      return reached;
    },
  };
}

/** Hono, once with the URL as a WHATWG parser leaves it and once with the target as it came. */
export function createHono(app: Hono): RouterUnderTest {
  let reached: string[] = [];
  const handler = (key: string) => (context: { text(text: string): Response }) => {
    reached.push(key);
    return context.text(key);
  };
  app.onError((_error, context) => context.text("unreadable", 400));
  app.get("/docs/*", handler("GET /docs/*"));
  app.get("/paid", handler("GET /paid"));
  app.get("/Report/Daily", handler("GET /Report/Daily"));
  app.get("/it's,a-b.c", handler("GET /it's,a-b.c"));
  app.get("/shop/sale", handler("GET /shop/sale"));
  app.get("/shop/:id", handler("GET /shop/:id"));
  app.route("/items", new Hono().get("/:id", handler("GET /items/:id")));
  const three = new Hono().get("/:leaf", handler("GET /a/b/c/:leaf"));
  app.route("/a", new Hono().route("/b", new Hono().route("/c", three)));
  // A mounted app gets a path that was decoded before.
  const mounted = new Hono().get("/*", handler("GET /files/*"));
  app.mount("/files", (request: Request) => mounted.fetch(request));

  return {
    async dispatch(target) {
      reached = [];
      const url = target.startsWith("/") ? `http://localhost${target}` : target;
      if (URL.canParse(url)) await app.fetch(new Request(url));
      // A server that does not normalise passes the target as it came.
      await app.fetch({ url, method: "GET", headers: new Headers(), raw: undefined } as unknown as Request);
      return reached;
    },
  };
}
