// One server to measure: the gateway as an operator runs it, log included, or a bare Hono route with the same answers.
// Takes its job as JSON: { app: "gateway" | "bare", dist, options?, answers? }.
import { serve as serveHono } from "@hono/node-server";
import { Hono } from "hono";

const job = JSON.parse(process.argv[2]);

async function openBare() {
  const app = new Hono();
  for (const { method, path, body } of job.answers) {
    app.on(method, path, async (c) => {
      if (method === "POST") await c.req.json();
      return c.json(body);
    });
  }
  const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  return { port: server.address().port };
}

async function openGateway() {
  const { createGateway, serve } = await import(new URL("src/gateway/index.js", job.dist));
  const gateway = await createGateway(job.options, { env: {} });
  gateway.start();
  const { port } = await serve(gateway, { port: 0 });
  const { keys, accounts } = gateway.database;
  const [first] = await accounts.list();
  const scopes = ["send", "receive", "read", "build"];
  const newKey = async (account) => {
    const { secret } = await keys.create({
      ...{ account, name: "bench", mode: "test", plan: "enterprise", rateLimit: 10_000_000, scopes },
    });
    return secret;
  };
  return { port, key: await newKey(first.id), close: () => gateway.close() };
}

const opened = await (job.app === "bare" ? openBare() : openGateway());

/** What is left when everything that can be collected is gone. */
async function collected() {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return memory();
}
const memory = () => {
  const { heapUsed, rss, external } = process.memoryUsage();
  return { heapUsed, rss, external };
};
const ACTIONS = {
  stat: () => {
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, ...memory() };
  },
  collect: collected,
};

process.on("message", async ({ id, kind }) => {
  if (kind === "quit") {
    await opened.close?.();
    process.exit(0);
  }
  process.send({ id, ...(await ACTIONS[kind]()) });
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true, port: opened.port, key: opened.key });
