// npm run bench: measures the bare framework, this package and the published libraries side by side in one run.
//
//   npm run bench                                   everything (about 40 minutes)
//   npm run bench -- --short                        the short form (about 3 minutes)
//   npm run bench -- --parts free,unpaid --frameworks hono --libraries tollgate,bare --rounds 15 --ms 1000
//   npm run bench -- --parts paid --against ../other/dist      another build of ours beside this one
//
// The JSON of a run goes to bench/results/, its tables to the screen and to bench/results/latest.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installedVersions, installLibraries } from "./lib/install.mjs";

installLibraries();
// Only now is there anything to import.
const { judgeGoals } = await import("./lib/goals.mjs");
const { chosenLibraries } = await import("./lib/libraries.mjs");
const { startSurroundings } = await import("./lib/processes.mjs");
const { toMarkdown } = await import("./lib/table.mjs");
const PARTS = { ...(await import("./lib/http-parts.mjs")), ...(await import("./lib/footprint-parts.mjs")) };
const ORDER = ["unpaid", "free", "routes", "paid", "imports", "growth", "stream", "download"];

const list = { type: "string" };
const { values: given } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    ...{
      against: list,
      parts: list,
      frameworks: list,
      libraries: list,
      sizes: list,
      rounds: list,
      ms: list,
      connections: list,
    },
  },
});
const words = (text) => text?.split(",").filter(Boolean);
const frameworks = words(given.frameworks) ?? ["express", "hono"];
const parts = words(given.parts) ?? (given.short ? ["unpaid", "free", "routes", "paid", "imports"] : ORDER);
const unknown = [
  ...parts.filter((part) => !ORDER.includes(part)),
  ...frameworks.filter((name) => !["express", "hono"].includes(name)),
];
if (unknown.length > 0) throw new Error(`no such part or framework: ${unknown.join(", ")}`);

const libraries = chosenLibraries(words(given.libraries), given.against && resolve(given.against));
// Peers take seconds for a request among ten thousand routes: the short form measures ours alone there.
const withRoutes = given.short ? libraries.filter(({ ours, reference }) => ours || reference) : libraries;
const sizes = words(given.sizes)?.map(Number) ?? (given.short ? [1, 10_000] : [1, 100, 1_000, 10_000]);
const growthRequests = given.short ? [20_000, 5_000] : [100_000, 20_000];
const connections = Number(given.connections ?? 32);
const plan = {
  rounds: Number(given.rounds ?? (given.short ? 3 : 5)),
  ms: Number(given.ms ?? (given.short ? 300 : 1_500)),
  connections,
};
/** Differences on Express are small beside the noise, so its light parts get three times the rounds in the full form. */
const planOf = (part, framework) => {
  const more =
    !given.short && given.rounds === undefined && framework === "express" && ["free", "unpaid"].includes(part);
  return more ? { ...plan, rounds: plan.rounds * 3 } : plan;
};

const date = new Date().toISOString().slice(0, 16).replace("T", " ");
const folder = new URL("results/", import.meta.url);
const file = new URL(`${date.replace(/\D/g, "")}.json`, folder);
const results = {};
let load = loadavg()[0];
let markdown = "";

/** Writes what has been measured so far; gives its tables. */
function save() {
  const about = {
    ...{ date, node: process.versions.node, load },
    ...{ cpus: cpus().length, cpu: cpus()[0]?.model.trim() ?? "unknown", ...plan, versions: installedVersions() },
  };
  const goals = judgeGoals(results);
  const tables = toMarkdown({ about, results, goals });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify({ about, goals, results }, null, 1));
  writeFileSync(new URL("latest.md", folder), tables);
  return tables;
}

const surroundings = await startSurroundings();
for (const part of parts) {
  results[part] = [];
  for (const framework of frameworks) {
    process.stderr.write(`${part}, ${framework} …\n`);
    const asked = part === "routes" ? withRoutes : libraries;
    const settings = {
      frameworks: [framework],
      libraries: asked,
      surroundings,
      plan: planOf(part, framework),
      sizes,
      growthRequests,
    };
    results[part].push(...(await PARTS[part](settings)));
    load = Math.max(load, loadavg()[0]);
    // After every step, so that a run that is broken off has not been for nothing.
    markdown = save();
  }
}
await surroundings.stop();
console.log(markdown);
console.error(`Written to ${fileURLToPath(file)}`);
