// The audit finds what a table prices, what it misses, and what no route answers.
import express from "express";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { auditExpress } from "../../adapters/express-audit.js";
import { toMiddleware as forExpress } from "../../adapters/express-middleware.js";
import { auditHono } from "../../adapters/hono-audit.js";
import { toMiddleware as forHono } from "../../adapters/hono-middleware.js";
import { samplePath } from "../../src/routes.js";
import { express4 } from "./frameworks.js";

const entry = (key: string, price: string) => {
  const [, method, pattern = ""] = /^(?:([A-Z]+) )?(.*)$/.exec(key) ?? [];
  return { key, method, pattern, price };
};
const core = {
  auditEntries: () => [
    entry("GET /weather", "$0.001"),
    entry("POST /api/render/:kind", "$0.05"),
    entry("/files/*", "$0.01"),
    entry("GET /health", "free"),
    entry("GET /typo", "$0.02"),
    entry("DELETE /weather", "$0.02"),
  ],
  samplePath,
};
const open = () => ({ kind: "open" }) as const;
const PROBLEMS = [
  expect.stringMatching(/^"GET \/typo": no route/),
  expect.stringMatching(/^"DELETE \/weather": no route/),
];

describe.each([
  ["Express 5", express, "/files/*rest", "/api/render/:name"],
  ["Express 4", express4, "/files/*", "/…/render/:name"],
] as const)("%s", (_, create, files, mounted) => {
  const done = (_req: express.Request, res: express.Response) => void res.end();
  const routes = (app: express.Express, inner = create.Router()) => {
    app.use("/typo", done);
    app.get("/weather", done);
    app.use("/api", inner);
    inner.post("/render/:name", done);
    app.get(files, done);
    app.get("/health", done);
    app.get("/about", done);
    app.get("/beside", forExpress(open, { core, price: "$9" }), done);
    return app;
  };

  it("lists every route with its price and names the keys that no route answers", () => {
    const app = create();
    app.use(forExpress(open, { core, price: undefined }));
    expect(auditExpress(core, routes(app))).toEqual({
      lines: [
        "GET /weather  $0.001",
        `POST ${mounted}  $0.05`,
        `GET ${files}  $0.01`,
        "GET /health  free",
        "GET /about  UNPRICED",
        "GET /beside  $9",
      ],
      problems: PROBLEMS,
    });
  });

  it("finds a route that stands before the paywall", () => {
    const app = create();
    app.get("/weather", done);
    app.use(forExpress(open, { core, price: undefined }));
    const { problems } = auditExpress(core, routes(app));
    expect(problems).toEqual([
      '"GET /weather": the route GET /weather stands before the paywall, so it is free',
      ...PROBLEMS,
    ]);
  });

  it("does not take a paywall inside a router for one outside it", () => {
    const [app, inner] = [create(), create.Router()];
    inner.use(forExpress(open, { core, price: undefined }));
    const { problems } = auditExpress(core, routes(app, inner));
    expect(problems.filter((problem) => problem.includes("stands before"))).toEqual([
      expect.stringContaining("GET /weather"),
      expect.stringContaining(files),
    ]);
  });

  it("reads an app that has no route yet", () => {
    expect(auditExpress(core, create())).toMatchObject({ lines: [], problems: { length: 6 } });
  });
});

describe("Hono", () => {
  const build = () => {
    const app = new Hono();
    app.use("/typo", async (_, next) => next());
    app.get("/weather", (c) => c.text(""));
    app.route(
      "/api",
      new Hono().post("/render/:name", (c) => c.text("")),
    );
    app.get("/files/*", (c) => c.text(""));
    app.get("/health", (c) => c.text(""));
    app.get("/about", (c) => c.text(""));
    app.get("/beside", forHono(open, { core, price: "$9" }), (c) => c.text(""));
    return app;
  };

  it("lists every route with its price and names the keys that no route answers", () => {
    const app = new Hono();
    app.use(forHono(open, { core, price: undefined }));
    app.route("/", build());
    expect(auditHono(core, app)).toEqual({
      lines: [
        "GET /weather  $0.001",
        "POST /api/render/:name  $0.05",
        "GET /files/*  $0.01",
        "GET /health  free",
        "GET /about  UNPRICED",
        "GET /beside  $9",
      ],
      problems: PROBLEMS,
    });
  });

  it("finds a route that stands before the paywall, and leaves the app open to further routes", async () => {
    const app = new Hono();
    app.get("/weather", (c) => c.text(""));
    app.use(forHono(open, { core, price: undefined }));
    app.route("/", build());
    expect(auditHono(core, app).problems).toEqual([
      '"GET /weather": the route GET /weather stands before the paywall, so it is free',
      ...PROBLEMS,
    ]);
    app.get("/later", (c) => c.text("later"));
    expect(await (await app.request("/later")).text()).toBe("later");
  });
});
