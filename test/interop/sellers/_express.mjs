// An Express app around a middleware: bodies are read as bytes, and what is behind the paywall tells what came.
import express from "express";

export function startExpress({ goods, runs }, ...paywalls) {
  const app = express();
  app.get("/runs", (_req, res) => res.json(runs()));
  app.use(express.raw({ type: () => true, limit: "4mb" }), ...paywalls);
  app.all(["/evm", "/solana"], (req, res) => {
    res.json(goods(req.method, req.headers["content-type"], Buffer.isBuffer(req.body) ? req.body : undefined));
  });
  return new Promise((resolve) => {
    const server = app.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
