// Fetch handlers and route handlers of Next, as the HTTP cases see them: behind a Node server that makes Web requests.
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import * as onNext from "../../../adapters/next.js";
import * as onWeb from "../../../adapters/web.js";
import type { Payment } from "../../../src/payment.js";
import type { HttpFramework, Site, SiteHandler } from "../../../src/testing/index.js";
import { listen, type Paywall } from "./listen.js";
import { toResponse } from "./response.js";

type Fetch = (request: Request) => Response | Promise<Response>;

const answer = async (handler: SiteHandler, request: Request, payment: Payment | undefined): Promise<Response> =>
  toResponse(
    await handler({
      payment,
      header: (name) => request.headers.get(name) ?? undefined,
      body: () => request.text(),
    }),
  );

/** Serves each route by its path, as an app of these runtimes does by hand and Next by its files. */
function serve(routes: Site["routes"], protect: (route: Site["routes"][number]) => Fetch, pay: Paywall) {
  const handlers = new Map(routes.map((route) => [route.path, protect(route)]));
  const fetch: Fetch = (request) =>
    handlers.get(new URL(request.url).pathname)?.(request) ?? new Response("none", { status: 404 });
  return listen(createServer(getRequestListener(fetch)), pay);
}

const LACKS = ["middleware", "parser before", "parser after"] as const;

export const webServer: HttpFramework = {
  name: "a fetch handler",
  lacks: LACKS,
  start({ settings, routes }) {
    const pay = onWeb.createPaywall(settings);
    const protect = ({ price, options, handler }: Site["routes"][number]) =>
      pay(price, options)((request: Request, payment) => answer(handler, request, payment));
    return serve(routes, protect, pay);
  },
};

export const nextServer: HttpFramework = {
  name: "a route handler of Next",
  lacks: LACKS,
  start({ settings, routes }) {
    const pay = onNext.createPaywall(settings);
    const protect = ({ price, options, handler }: Site["routes"][number]): Fetch => {
      const route = pay(
        price,
        options,
      )((request: Request, { payment }: { params: Promise<object>; payment?: Payment }) =>
        answer(handler, request, payment),
      );
      return (request) => route(request, { params: Promise.resolve({}) });
    };
    return serve(routes, protect, pay);
  },
};
