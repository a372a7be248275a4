// What `import "tollgate/express"` costs a server beyond Express itself. The time of the processor is taken, which other work
// on the machine disturbs least, and the least of several processes, because noise only adds.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { createPackedProject, type PackedProject } from "../support/packed.js";
import { runNode } from "../support/process.js";

/** Times what the schemas of zod/mini cost by themselves in the same run: milliseconds differ between machines, this does not. */
const LARGEST = 4;
const RUNS = 9;

let project: PackedProject;
beforeAll(() => {
  project = createPackedProject(["express", "hono", "viem"]);
});
afterAll(() => project?.remove());

/** Milliseconds of processor time for one import after Express. */
async function load(specifier: string): Promise<number> {
  const script = project.write(
    "load.js",
    `await import("express");
     const before = process.cpuUsage();
     await import("${specifier}");
     const { user, system } = process.cpuUsage(before);
     console.log((user + system) / 1000);`,
  );
  return z.number().parse(JSON.parse((await runNode([script])).stdout));
}

async function leastOf(specifier: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) least = Math.min(least, await load(specifier));
  return least;
}

it(`imports tollgate/express in less than ${LARGEST} times what zod/mini takes`, { timeout: 120_000 }, async () => {
  const [express, zod] = [await leastOf("tollgate/express"), await leastOf("zod/mini")];
  console.log(`tollgate/express: ${express.toFixed(0)} ms above Express, of them zod ${zod.toFixed(0)} ms`);
  expect(express / zod).toBeLessThan(LARGEST);
});

it("loads viem, and what works on chains, when a chain is first needed", async () => {
  project.write(
    "hooks.js",
    `export function load(url, context, next) {
       const [, file] = /(?:dist|node_modules)\\/(.*(?:chains|viem)\\/.*)/.exec(url) ?? [];
       if (file) console.error(file);
       return next(url, context);
     }`,
  );
  const script = project.write(
    "lazy.js",
    `import { register } from "node:module";
     register("./hooks.js", import.meta.url);
     await import("tollgate/express");
     await import("tollgate/hono");`,
  );
  const { code, stderr } = await runNode([script]);
  // The forms of addresses and keys, and the words of verdicts, are needed to read options and to refuse.
  const needed = [
    "evm/hex",
    "evm/verdicts",
    "gas",
    "solana/base58",
    "solana/bytes",
    "solana/settlers",
    "solana/signing",
  ];
  expect([code, stderr.trim().split("\n").sort()]).toEqual([
    0,
    needed.map((name) => `tollgate/dist/src/chains/${name}.js`),
  ]);
});
