// What is special to `tollgate/node`: what follows the response, mounts, errors, HTTP/2.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Protect, toWrapper } from "../../adapters/node-listener.js";
import type { PaywallRequest } from "../../src/request.js";
import { listen, type Running } from "./frameworks.js";
import { createScript, type Script, type ScriptOptions } from "./script.js";
import { send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const start = async (server: Server): Promise<number> => {
  const started = await listen(server);
  running.push(started);
  return started.port;
};

/** A paywall whose guard is scripted; what it logs is kept. */
function scripted(options: ScriptOptions = {}): Script & { readonly protect: Protect; readonly logged: object[] } {
  const script = createScript(options);
  const logged: object[] = [];
  const write = (_: string, facts?: object) => void logged.push(facts ?? {});
  const logger = { debug: write, info: write, warn: write, error: write };
  const protect = toWrapper(script.guard, { core: { logger }, price: undefined });
  return Object.assign(script, { protect, logged });
}

describe("a listener behind the paywall", () => {
  it("is given what follows the response, so that connect can use it", async () => {
    const { protect } = scripted({ verdict: () => ({ kind: "open" }) });
    const pass = protect((_req, _res, next: () => void) => next());
    const port = await start(createServer((req, res) => pass(req, res, () => res.end("passed on"))));
    expect((await send(port, "/")).text).toBe("passed on");
  });

  it("gives the guard the whole path and the one that a mount or a rewrite has left", async () => {
    const script = scripted();
    const listener = script.protect((_req, res) => res.end());
    const port = await start(
      createServer((req, res) => {
        Object.assign(req, { originalUrl: req.url, url: "/mounted" });
        listener(req, res);
      }),
    );
    await send(port, "/api/paid?q=%20");
    expect(factsOf(script.requests[0])).toEqual(["/api/paid?q=%20", "/mounted", "http://shop.test", "GET"]);
  });

  it("runs in the same tick where the route is open", () => {
    const { protect } = scripted({ verdict: () => ({ kind: "open" }) });
    let ran = false;
    protect(() => {
      ran = true;
    })({ headers: {}, socket: {} } as IncomingMessage, {} as ServerResponse);
    expect(ran).toBe(true);
  });

  it("is told of its own error where nobody paid, as without a paywall", async () => {
    const { protect } = scripted({ verdict: () => ({ kind: "open" }) });
    const fail = protect(() => Promise.reject(new Error("mine")));
    await expect(fail({} as IncomingMessage, {} as ServerResponse)).rejects.toThrow("mine");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
  ] as const)("that was paid and %s is given back, logged and answered", async (_, fail) => {
    const script = scripted();
    const port = await start(createServer(script.protect(fail)));
    const answer = await send(port, "/paid");
    expect([answer.status, answer.text]).toEqual([500, '{"error":"failed"}']);
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
    expect(JSON.stringify(script.logged)).toContain("secret");
  });

  it("that was paid and breaks after its answer keeps the answer", async () => {
    const script = scripted();
    const late = script.protect(async (_req, res) => {
      res.end("goods");
      await Promise.resolve();
      throw new Error("after the end");
    });
    expect((await send(await start(createServer(late)), "/paid")).text).toBe("goods");
    expect(script.log.slice(0, 2)).toEqual(["answered 200", "ended"]);
  });

  it("does not run for a payment over HTTP/2, whose answers cannot be held", async () => {
    const script = scripted();
    let runs = 0;
    const listener = script.protect(() => {
      runs += 1;
    });
    const server = createHttp2Server((req, res) =>
      listener(req as unknown as IncomingMessage, res as unknown as ServerResponse),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const stream = client.request({ ":path": "/paid" });
      const status = await new Promise((resolve, reject) => {
        stream.on("response", (headers) => resolve(headers[":status"]));
        stream.on("error", reject);
      });
      expect([status, runs]).toEqual([500, 0]);
      expect(script.log).toEqual(["failed", "ended"]);
    } finally {
      client.destroy();
      server.close();
    }
  });
});

const factsOf = (request: PaywallRequest | undefined) => [
  request?.target,
  request?.dispatched,
  request?.origin,
  request?.method,
];
