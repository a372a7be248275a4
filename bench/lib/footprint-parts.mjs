// The parts that are measured in memory and start-up time: import, growth under load, a stream's first byte, a large body.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "./measure.mjs";
import { startServer } from "./processes.mjs";
import { routesOf } from "./terms.mjs";

const MB = 1024 * 1024;
const dist = (name) => new URL(`../../dist/adapters/${name}.js`, import.meta.url).href;

/** Modules of a server that sells on this framework, in the order in which an app loads them. */
const ENTRIES = (framework) => {
  const own = framework === "express" ? ["express"] : ["hono", "@hono/node-server"];
  return {
    "bare framework": own,
    tollgate: [...own, dist(framework)],
    "x402-express, x402-hono": [...own, `x402-${framework}`],
    "@x402/express, @x402/hono": [...own, `@x402/${framework}`, "@x402/core/server", "@x402/evm/exact/server"],
    "@faremeter/middleware": [...own, `@faremeter/middleware/${framework}`],
    mppx: [...own, `mppx/${framework}`],
  };
};

/** Import time and memory, each in a fresh process, in turn. */
export async function imports({ frameworks, libraries, plan }) {
  const results = [];
  for (const framework of frameworks) {
    const entries = Object.entries(ENTRIES(framework)).filter(([name]) => libraries.some((one) => one.name === name));
    const runs = new Map(entries.map(([name]) => [name, []]));
    for (let round = 0; round < plan.rounds; round++) {
      for (const [name, modules] of round % 2 === 0 ? entries : entries.toReversed())
        runs.get(name).push(importOnce(modules));
    }
    const bare = runs.get("bare framework");
    for (const [library, seen] of runs) {
      const of = (figure) => median(seen.map((run) => run[figure]));
      results.push({
        ...{ library, framework, importMs: of("ms"), rssMb: of("rss") / MB, heapMb: of("heap") / MB },
        addedMs: median(seen.map((run, i) => run.ms - bare[i].ms)),
      });
    }
  }
  return results;
}

function importOnce(modules) {
  const code = `
    const start = performance.now();
    ${modules.map((name) => `await import(${JSON.stringify(name)});`).join("\n")}
    const ms = performance.now() - start;
    gc();
    const { rss, heapUsed: heap } = process.memoryUsage();
    process.stdout.write(JSON.stringify({ ms, rss, heap }));`;
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const run = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", code], {
    cwd,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`${modules.join(", ")} cannot be imported: ${run.stderr.slice(0, 300)}`);
  return JSON.parse(run.stdout);
}

/** What memory is left after many unpaid and many paid requests, each time after a collection. */
export async function growth({ frameworks, libraries, surroundings, plan, growthRequests }) {
  const [{ hit: path }] = routesOf(1);
  const [unpaidCount, paidCount] = growthRequests;
  const results = [];
  for (const framework of frameworks) {
    for (const library of libraries.filter(({ options }) => options?.middleware !== "empty")) {
      const server = await startServer(library, framework, 1, surroundings.urls);
      const send = (limit, pool) =>
        surroundings.load.ask("burst", {
          port: server.port,
          path,
          connections: plan.connections,
          ms: 600_000,
          limit,
          pool,
        });
      await send(5_000);
      const start = await server.collect();
      await send(unpaidCount);
      const unpaid = await server.collect();
      let paid;
      if (library.wires.length > 0) {
        await payInTurn({ surroundings, server, path, library, count: paidCount, send });
        paid = await server.collect();
      }
      await server.stop();
      const grown = (late, early, figure) => late && (late[figure] - early[figure]) / MB;
      results.push({
        ...{ library: library.name, framework, startMb: start.rss / MB },
        ...{ unpaidRssMb: grown(unpaid, start, "rss"), unpaidHeapMb: grown(unpaid, start, "heapUsed") },
        ...{ paidRssMb: grown(paid, unpaid, "rss"), paidHeapMb: grown(paid, unpaid, "heapUsed") },
      });
    }
  }
  return results;
}

/** In portions, so that the signed payments never stand in memory all at once. */
async function payInTurn({ surroundings, server, path, library, count, send }) {
  const pool = `growth ${server.port}`;
  for (let left = count; left > 0; left -= 5_000) {
    const portion = Math.min(5_000, left);
    const version = library.wires.at(-1);
    await surroundings.load.ask("sign", { port: server.port, path, version, count: portion, pool });
    const { statuses } = await send(portion, pool);
    if (statuses[200] !== portion)
      throw new Error(`${library.name}: ${JSON.stringify(statuses)} where only 200 was expected`);
  }
}

/** When the first byte of a paid event stream comes, against the bare framework's in the same round. */
export async function stream({ frameworks, libraries, surroundings, plan }) {
  return alone({ frameworks, libraries, surroundings, plan, more: { stream: true } }, (seen) => ({
    firstByteMs: median(seen.map((run) => run.firstByteMs)),
    totalMs: median(seen.map((run) => run.totalMs)),
  }));
}

/** What a 64 MB paid answer adds to the server's peak memory. */
export async function download({ frameworks, libraries, surroundings, plan }) {
  return alone({ frameworks, libraries, surroundings, plan, more: { megabytes: 64 } }, (seen) => ({
    totalMs: median(seen.map((run) => run.totalMs)),
    // A peak never falls again, so the last one is that of all rounds.
    peakMb: seen.at(-1).peakMb,
    bytes: seen[0].bytes,
  }));
}

/** One request at a time, each library in turn, each with a payment of its own. */
async function alone({ frameworks, libraries, surroundings, plan, more }, summarize) {
  const [{ hit: path }] = routesOf(1);
  const results = [];
  const asked = libraries.filter(({ wires, reference }) => wires.length > 0 || reference);
  for (const framework of frameworks) {
    const servers = [];
    for (const library of asked) servers.push(await startServer(library, framework, 1, surroundings.urls, { more }));
    const runs = new Map(servers.map((server) => [server, []]));
    const atStart = new Map();
    for (const server of servers) atStart.set(server, (await server.collect()).rss);
    for (let round = 0; round <= plan.rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const { wires } = server.library;
        const pool = wires.length > 0 ? `alone ${server.port}` : undefined;
        if (pool)
          await surroundings.load.ask("sign", { port: server.port, path, version: wires.at(-1), count: 1, pool });
        const seen = await surroundings.load.ask("single", { port: server.port, path, pool });
        const after = await server.stat();
        // The first round warms up.
        if (round > 0) runs.get(server).push({ ...seen, peakMb: after.peakKb / 1024 - atStart.get(server) / MB });
      }
    }
    for (const [server, seen] of runs) {
      const statuses = [...new Set(seen.map(({ status }) => status))].join(" ");
      results.push({ library: server.library.name, framework, statuses, ...summarize(seen) });
      await server.stop();
    }
  }
  return results;
}
