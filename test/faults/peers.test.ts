// Packages that the app brings: the paywall takes whichever version of them is there, and never asks whether a value was made
// by its own copy. Both majors of Express are run by every test over sockets.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { readSources, root } from "../support/sources.js";

const manifest = z
  .object({ dependencies: z.record(z.string(), z.string()), peerDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** The classes a test may be made against: the language's and the web's own, and those of this tree. */
const GLOBAL =
  /^(Error|AggregateError|TypeError|RangeError|Map|Date|URL|Promise|Uint8Array|ArrayBuffer|Request|Response|Headers|ReadableStream|AbortSignal|HTML\w*Element)$/;

describe("F102: the packages that an app brings", () => {
  it("are peers with a range, and never a copy of the paywall's own", () => {
    const brought = ["express", "hono", "viem"];
    for (const name of brought) expect(manifest.peerDependencies[name]).toMatch(/^>=\d/);
    expect(Object.keys(manifest.dependencies).filter((name) => name in manifest.peerDependencies)).toEqual([]);
    expect(Object.keys(manifest.dependencies).sort()).toEqual(["lru-cache", "zod"]);
  });

  it("are recognised by what their values can do, never by the class of one copy", () => {
    const sources = readSources("src", "adapters");
    const own = new Set<string>();
    const texts = sources.map(({ path }) => ({ path, text: readFileSync(join(root, path), "utf8") }));
    for (const { text } of texts) for (const [, name = ""] of text.matchAll(/\bclass (\w+)/g)) own.add(name);
    const tests = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/\binstanceof ([\w.]+)/g)].map(([, name = ""]) => ({ path, name })),
    );
    expect(tests.length).toBeGreaterThan(3);
    expect(tests.filter(({ name }) => !GLOBAL.test(name) && !own.has(name))).toEqual([]);
  });
});
