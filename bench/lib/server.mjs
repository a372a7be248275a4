// One server under measurement, in a process of its own: forked with one JSON argument, see `startServer` in servers.mjs.
// It tells its CPU time and memory on request and ends with its parent.
import { createServer } from "node:http";
import { FREE_ANSWER, PAID_ANSWER, routesOf } from "./terms.mjs";

const { app, framework, routes, facilitatorUrl, rpcUrl, options } = JSON.parse(process.argv[2]);
const { build } = await import(new URL(`../apps/${app}.mjs`, import.meta.url).href);
const CHUNKS = 5;
const CHUNK_MS = 40;

const answerOn = {
  express: (body) => (_req, res) => void res.json(body),
  hono: (body) => (c) => c.json(body),
};

/** Goods other than a small JSON answer: `{ stream: true }` a slow text stream, `{ megabytes: n }` one large body. */
function goods() {
  if (options.stream) return framework === "express" ? streamOnExpress : streamOnHono;
  if (!options.megabytes) return answerOn[framework](PAID_ANSWER);
  const body = Buffer.alloc(options.megabytes * 1024 * 1024, "x");
  const type = { "content-type": "application/octet-stream" };
  if (framework === "express") return (_req, res) => void res.set(type).end(body);
  return () => new Response(body, { headers: type });
}

const pause = () => new Promise((resolve) => setTimeout(resolve, CHUNK_MS));

async function streamOnExpress(_req, res) {
  res.set("content-type", "text/event-stream").flushHeaders();
  for (let i = 0; i < CHUNKS; i++) {
    res.write(`data: ${i}\n\n`);
    await pause();
  }
  res.end();
}

function streamOnHono() {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      for (let i = 0; i < CHUNKS; i++) {
        controller.enqueue(encoder.encode(`data: ${i}\n\n`));
        await pause();
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const built = await build({
  framework,
  routes: routesOf(routes),
  free: answerOn[framework](FREE_ANSWER),
  paid: goods(),
  facilitatorUrl,
  rpcUrl,
  options,
});

const listener = framework === "express" ? built : (await import("@hono/node-server")).getRequestListener(built.fetch);
const server = createServer(listener);
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));

process.on("message", async ({ id, kind }) => {
  if (kind === "collect") {
    // Several turns: finalizers free what they hold only after the first collection.
    for (let turn = 0; turn < 3; turn++) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
  if (kind === "quit") process.exit(0);
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  process.send({
    id,
    cpuUs: user + system,
    rss,
    heapUsed,
    external,
    arrayBuffers,
    peakKb: process.resourceUsage().maxRSS,
  });
});
process.on("disconnect", () => process.exit(0));
