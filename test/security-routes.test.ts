// Ways around the paywall that were found in other ones, by their numbers in the list of faults, on every framework.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import express from "express";
import express4 from "express4";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as onExpress from "../adapters/express.js";
import * as onHono from "../adapters/hono.js";
import { PaywallConfigError } from "../src/index.js";
import { silentLogger } from "../src/logger.js";
import { memoryStore } from "../src/store/memory.js";
import { createSandbox, readChallenge, type Sandbox, signPayment } from "../src/testing/index.js";
import { listen } from "./adapters/frameworks.js";
import { FRAMEWORKS, type Framework, send } from "./e2e/seller.js";
import { exchange } from "./fuzz/support/exchange.js";
import { GOODS, type Shop, startShop } from "./fuzz/support/shops.js";

let sandbox: Sandbox;
let folder: string;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  sandbox = await createSandbox();
  folder = mkdtempSync(join(tmpdir(), "files-"));
  mkdirSync(join(folder, "paid"));
  writeFileSync(join(folder, "paid", "f.txt"), GOODS);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await sandbox.close();
});

const options = () => {
  const { payTo, network } = sandbox;
  return { payTo, network, receive: sandbox.receive(), store: memoryStore(), logger: silentLogger } as const;
};
const expressOf = (framework: Framework) => (framework === "Express 4" ? express4() : express());
const payOnExpress = () => {
  const pay = onExpress.createPaywall(options());
  closing.push(pay.close);
  return pay;
};
const payOnHono = () => {
  const pay = onHono.createPaywall(options());
  closing.push(pay.close);
  return pay;
};
const open = async (server: Server): Promise<number> => {
  const { port, close } = await listen(server);
  closing.unshift(close);
  return port;
};
const serveHono = (app: { fetch: Hono["fetch"] }) => createAdaptorServer({ fetch: app.fetch }) as Server;
const get = (port: number, target: string) =>
  exchange(port, Buffer.from(`GET ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`, "latin1"));

describe.each(FRAMEWORKS)("%s: a spelling of a priced path", (framework) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(framework, options());
  });
  afterAll(() => shop.close());

  it.each([
    ["F30", ["/paid/x%", "/paid/x%c0", "/paid/%zz", "/paid/%E0%A4%A", "/report/%", "/p%", "/report/%ff"]],
    ["F32", ["/api%252Fpaid", "/api%5Cpaid", "/api\\paid", "/paid/", "/paid/x/f.txt/", "/report%252F7", "/report\\7"]],
    ["F33", ["/api%2Fpaid", "//api/paid", "/api//paid", "/./api/paid", "/api/./paid", "/x/../paid", "/api/%2e/paid"]],
    ["F34", ["//paid", "///paid", "/paid//", "/paid/./", "//report/7", "/report//7", "/report/7//"]],
    ["F35", ["/PAID", "/Paid", "/paid?x=1", "/paid?x=/free", "/paid;x=1", "/paid#a", "/paid?/../free", "/Report/7"]],
    ["A46", ["/p%61id", "/%70aid", "/%70%61%69%64", "/report/%37", "/r%65port/7", "/p%2561id"]],
  ])("%s: is never served unpaid", async (_, targets) => {
    for (const target of targets) {
      const { statuses, text } = await get(shop.port, target);
      expect([400, 402], `${target}: ${text}`).toContain(statuses[0]);
    }
    expect(shop.runs).toEqual([]);
  });

  it("two payment headers are not one payment, and the payment is still good", async () => {
    const url = `http://127.0.0.1:${shop.port}/paid`;
    const challenge = await readChallenge(await fetch(url), 1);
    const account = await sandbox.newBuyer();
    const { value } = await signPayment({ account, offer: challenge.accepts[0]!, version: 1, challenge });
    const line = `X-PAYMENT: ${value}\r\n`;
    const ask = (head: string) =>
      exchange(shop.port, Buffer.from(`GET /paid HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${head}\r\n`));
    const twice = await ask(line + line);
    expect([twice.statuses, twice.text.includes("payment_malformed")]).toEqual([[400], true]);
    expect((await ask(line)).text).toContain(GOODS);
    expect(shop.runs.splice(0)).toHaveLength(1);
    expect(await sandbox.token.balanceOf(account.address)).toBe(1_000_000_000n - 10_000n);
  });
});

describe("A47: static files behind the paywall", () => {
  const TARGETS = [
    ...[
      "/paid/f.txt",
      "//paid/f.txt",
      "/paid//f.txt",
      "/./paid/f.txt",
      "/paid/./f.txt",
      "/x/../paid/f.txt",
      "/paid/x/../f.txt",
    ],
    ...[
      "/p%61id/f.txt",
      "/paid/%66.txt",
      "/paid%2Ff.txt",
      "/%2fpaid/f.txt",
      "/paid%5Cf.txt",
      "/paid\\f.txt",
      "/%2e/paid/f.txt",
    ],
    ...[
      "/paid/f.txt/",
      "/paid/f.txt?x",
      "/paid/f.txt;x",
      "http://h/paid/f.txt",
      "http://h//paid/f.txt",
      "/paid/%2566.txt",
    ],
    ...["/x/..//paid/f.txt", "///paid///f.txt", "/paid/..%2fpaid/f.txt", "/.%2fpaid/f.txt"],
  ];
  const table = { "/paid/*": "$0.01" } as const;
  const onExpressStatic = (framework: Framework, guarded: boolean) => {
    const app = expressOf(framework);
    if (guarded) app.use(payOnExpress().routes(table));
    return createServer(app.use(express.static(folder)));
  };
  /** Files elsewhere than on that very path are out of reach of a paywall that is mounted: Express decodes no mount. */
  const onOwnPath = (guarded: boolean) => () => {
    const files = express.static(join(folder, "paid"));
    return createServer(
      guarded ? express().use("/paid", payOnExpress()("$0.01"), files) : express().use("/paid", files),
    );
  };
  const honoStatic = (guard?: (app: Hono<{ Variables: onHono.PaymentVariables }>) => void) => {
    const app = new Hono<{ Variables: onHono.PaymentVariables }>();
    guard?.(app);
    return serveHono(app.use("*", serveStatic({ root: folder })));
  };
  const SITES: readonly [name: string, bare: () => Server, guarded: () => Server][] = [
    ["Express 5, a table", () => onExpressStatic("Express 5", false), () => onExpressStatic("Express 5", true)],
    ["Express 4, a table", () => onExpressStatic("Express 4", false), () => onExpressStatic("Express 4", true)],
    ["Express 5, on the paywall's own path", onOwnPath(false), onOwnPath(true)],
    ["Hono, a table", () => honoStatic(), () => honoStatic((app) => app.use(payOnHono().routes(table)))],
    [
      "Hono, app.use on the path",
      () => honoStatic(),
      () => honoStatic((app) => app.use("/paid/*", payOnHono()("$0.01"))),
    ],
  ];

  it.each(SITES)("%s: no spelling of a file's path is served unpaid", async (_, bare, guarded) => {
    const [without, behind] = [await open(bare()), await open(guarded())];
    const served: string[] = [];
    for (const target of TARGETS) {
      if ((await get(without, target)).text.includes(GOODS)) served.push(target);
      const { text, statuses } = await get(behind, target);
      expect(text, target).not.toContain(GOODS);
      expect(statuses[0], target).toBeLessThan(500);
    }
    expect(served.length).toBeGreaterThan(4);
  });
});

describe("F36: a key with parameters", () => {
  it("protects what it names", async () => {
    for (const key of ["GET /c/:a/:b", "/c/*"]) {
      const app = express()
        .use(payOnExpress().routes({ [key]: "$0.01" }))
        .get("/c/:a/:b", (_req, res) => void res.send(GOODS));
      expect((await get(await open(createServer(app)), "/c/1/2")).statuses).toEqual([402]);
    }
  });
  it.each(["/c/[a]", "/c/{a}", "/c/:a?", "/c/(.*)"])("%s is refused at the start, not ignored", (key) => {
    expect(() => payOnExpress().routes({ [key]: "$0.01" })).toThrow(PaywallConfigError);
  });
});

describe("F39: a dashboard that answers everything", () => {
  const ORDERS = ["between the paywall and the shop", "behind both", "before both"] as const;
  const onExpressApp = (framework: Framework, order: (typeof ORDERS)[number]) => {
    const app = expressOf(framework);
    const pay = payOnExpress();
    const dashboard = () =>
      app.get(framework === "Express 4" ? "*" : "/*splat", (_req, res) => void res.send("dashboard"));
    if (order === "before both") dashboard();
    app.use(pay.routes({ "/paid": "$0.01" }));
    if (order === "between the paywall and the shop") dashboard();
    app.get("/paid", (_req, res) => void res.send(GOODS));
    if (order === "behind both") dashboard();
    return { server: createServer(app), audit: () => pay.audit(app) };
  };
  const honoApp = (order: (typeof ORDERS)[number]) => {
    const app = new Hono<{ Variables: onHono.PaymentVariables }>();
    const pay = payOnHono();
    const dashboard = () => app.get("*", (c) => c.text("dashboard"));
    if (order === "before both") dashboard();
    app.use(pay.routes({ "/paid": "$0.01" }));
    if (order === "between the paywall and the shop") dashboard();
    app.get("/paid", (c) => c.text(GOODS));
    if (order === "behind both") dashboard();
    return { server: serveHono(app), audit: () => pay.audit(app) };
  };

  it.each(FRAMEWORKS.flatMap((framework) => ORDERS.map((order) => [framework, order] as const)))(
    "%s, %s: exposes nothing",
    async (framework, order) => {
      const { server, audit } = framework === "Hono" ? honoApp(order) : onExpressApp(framework, order);
      const { statuses, text } = await get(await open(server), "/paid");
      expect(text).not.toContain(GOODS);
      // Before the paywall it answers in its own name, and the audit tells the seller so.
      if (order === "before both") expect(audit).toThrow(/stands before the paywall, so it is free/);
      else expect([statuses, audit().problems]).toEqual([[402], []]);
    },
  );
});

describe("F40: a request that the handler's own checks refuse", () => {
  const sites = {
    "a validator before the paywall": (framework: Framework) => start(framework, "before"),
    "a check in the handler": (framework: Framework) => start(framework, "inside"),
  };
  function start(framework: Framework, place: "before" | "inside"): Promise<number> {
    if (framework === "Hono") {
      const app = new Hono<{ Variables: onHono.PaymentVariables }>();
      const check = async (text: Promise<string>) => (await text).startsWith("{");
      app.post(
        "/paid",
        async (c, next) => (place === "before" && !(await check(c.req.text())) ? c.text("bad body", 400) : next()),
        payOnHono()("$0.01"),
        async (c) => ((await check(c.req.text())) ? c.text(GOODS) : c.text("bad body", 400)),
      );
      return open(serveHono(app));
    }
    const app = expressOf(framework);
    const validate: express.RequestHandler = (req, res, next) => {
      if (place === "inside" || String(req.body).startsWith("{")) return next();
      res.status(400).send("bad body");
    };
    app.use(express.text());
    app.post("/paid", validate, payOnExpress()("$0.01"), (req, res) => {
      const good = String(req.body).startsWith("{");
      res.status(good ? 200 : 400).send(good ? GOODS : "bad body");
    });
    return open(createServer(app));
  }

  it.each(
    FRAMEWORKS.flatMap((framework) => Object.entries(sites).map(([name, site]) => [framework, name, site] as const)),
  )("%s, %s: costs nothing, and the same payment buys the corrected request", async (framework, _, site) => {
    const url = `http://127.0.0.1:${await site(framework)}/paid`;
    const unpaid = await fetch(url, { method: "POST", body: "{}" });
    const challenge = await readChallenge(unpaid, 2);
    const account = await sandbox.newBuyer();
    const { headers } = await signPayment({ account, offer: challenge.accepts[0]!, version: 2, challenge });
    const buy = (body: string) =>
      send(url, { method: "POST", body, headers: { ...headers, "content-type": "text/plain" } });
    expect(await buy("no json")).toMatchObject({ status: 400, body: "bad body" });
    expect(await sandbox.token.balanceOf(account.address)).toBe(1_000_000_000n);
    expect(await buy("{}")).toMatchObject({ status: 200, body: GOODS });
    expect(await sandbox.token.balanceOf(account.address)).toBe(1_000_000_000n - 10_000n);
  });
});
