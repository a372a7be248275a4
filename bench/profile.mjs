// Where one server's CPU goes under load: self time by function and by file.
//
//   node bench/profile.mjs --part paid --framework hono --library tollgate --version 2 --ms 4000
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chosenLibraries } from "./lib/libraries.mjs";
import { startServer, startSurroundings } from "./lib/processes.mjs";
import { routesOf } from "./lib/terms.mjs";

const text = { type: "string" };
const { values: given } = parseArgs({
  options: {
    part: { ...text, default: "unpaid" },
    framework: { ...text, default: "express" },
    library: { ...text, default: "tollgate" },
    version: { ...text, default: "2" },
    routes: { ...text, default: "1" },
    ms: { ...text, default: "4000" },
  },
});
const library = chosenLibraries([given.library]).find(
  ({ name, app }) => name === given.library || app === given.library,
);
/** Requests before the measured burst, so that the compiler has settled. */
const WARM = 3_000;
const routes = Number(given.routes);
const folder = mkdtempSync(join(tmpdir(), "tollgate-profile-"));
const surroundings = await startSurroundings();
const execArgv = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=250"];
const server = await startServer(library, given.framework, routes, surroundings.urls, { execArgv });

const path = given.part === "free" ? "/free" : routesOf(routes).at(-1).hit;
const ms = Number(given.ms);
let pool;
if (given.part === "paid") {
  pool = "profile";
  const version = Number(given.version);
  await surroundings.load.ask("sign", { port: server.port, path, version, count: WARM + ms * 4, pool });
}
await surroundings.load.ask("burst", { port: server.port, path, connections: 32, ms: 30_000, limit: WARM, pool });
const seen = await surroundings.load.ask("burst", { port: server.port, path, connections: 32, ms, pool });
await server.stop();
await surroundings.stop();

const profile = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]), "utf8"));
rmSync(folder, { recursive: true });
const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
// Only the burst counts: it is the end of the profile.
const from = profile.endTime - seen.elapsedMs * 1000;
const [byFunction, byFile] = [new Map(), new Map()];
let clock = profile.startTime;
let busy = 0;
profile.samples.forEach((id, i) => {
  const took = profile.timeDeltas[i];
  clock += took;
  const { functionName, url, lineNumber } = nodes.get(id);
  if (clock < from || functionName === "(idle)") return;
  busy += took;
  const file = url.replace(/^.*\/(dist|node_modules)\//, "") || "(native)";
  const name = `${functionName || "(anonymous)"}  ${file}:${lineNumber + 1}`;
  byFunction.set(name, (byFunction.get(name) ?? 0) + took);
  byFile.set(file, (byFile.get(file) ?? 0) + took);
});
const print = (times, count) => {
  for (const [name, took] of [...times].toSorted((a, b) => b[1] - a[1]).slice(0, count)) {
    console.log(
      `${((took / busy) * 100).toFixed(1).padStart(5)} % ${(took / seen.requests).toFixed(1).padStart(6)} µs  ${name}`,
    );
  }
};
console.log(
  `${seen.requests} requests, ${(busy / seen.requests).toFixed(1)} µs each under the profiler`,
  seen.statuses,
);
console.log("\nby file");
print(byFile, 22);
console.log("\nby function");
print(byFunction, 40);
