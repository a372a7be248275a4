// The framework alone: what everything else is compared with. `middleware: "empty"` adds one middleware that does nothing
// but call the next one, which is the least that a paywall in front of a whole app can cost.
export async function build({ framework, free, paid, options }) {
  const empty = options.middleware === "empty";
  if (framework === "express") {
    const { default: express } = await import("express");
    const app = express();
    if (empty) app.use((_req, _res, next) => next());
    app.get("/free", free);
    app.get("/paid/*rest", paid);
    return app;
  }
  const { Hono } = await import("hono");
  const app = new Hono();
  if (empty) app.use((_c, next) => next());
  app.get("/free", free);
  app.get("/paid/*", paid);
  return app;
}
