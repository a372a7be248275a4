// The library as a bundler takes it: no Node in it under the conditions of Workers and browsers, and its weight.
import { expect, it, onTestFinished } from "vitest";
import { type Bundle, type BundleOptions, bundle } from "../support/bundle.js";

/** Everything public that runs outside of Node. */
const CORE = 'export * from "tollgate"; export * from "tollgate/hono"; export * from "tollgate/evm";';

/** Bytes after gzip, without Hono and viem: what was measured, and three per cent. */
const LARGEST = { eager: 104_000, later: 81_500 };

async function bundled(options?: BundleOptions): Promise<Bundle> {
  const made = await bundle({ text: CORE }, options);
  onTestFinished(made.remove);
  return made;
}

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;

it.each([
  ["Workers", ["workerd", "worker", "browser"]],
  ["a browser", ["browser"]],
])(
  "F101: bundles for %s and imports no module of Node: what is left out is viem, by name",
  async (_name, conditions) => {
    const { externals } = await bundled({ conditions, external: ["viem"] });
    expect([...new Set(externals)].sort()).toEqual(["viem/accounts", "viem/utils"]);
  },
);

it("F101: a bundle is whole where viem is installed: nothing is left to be found at run time", async () => {
  expect((await bundled()).externals).toEqual([]);
});

it("the core stays small, and what settles on a chain is loaded when a chain is needed", async () => {
  const { gzip, bytes, eager } = await bundled({ external: ["viem", "hono"] });
  const parts = [...bytes].map(([origin, size]) => `${origin} ${kilobytes(size)}`).join(", ");
  console.log(
    `core bundle, gzip: ${kilobytes(gzip.eager)} at once, ${kilobytes(gzip.later)} later; minified: ${parts}`,
  );
  expect(gzip.eager).toBeLessThan(LARGEST.eager);
  expect(gzip.later).toBeLessThan(LARGEST.later);
  expect(eager.filter((path) => /chains\/evm\/(settle|verify|ready|open|rpc|backend)\.ts$/.test(path))).toEqual([]);
});
