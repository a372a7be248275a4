// Dependencies point one way, the core stays free of Node and of large libraries, and no file outgrows its reader:
// read from the import statements, so that a breach is found before it works.
import { describe, expect, it } from "vitest";
import { type Import, readSources, type Source } from "./support/sources.js";

const words = (text: string): readonly string[] => text.split(" ");

/** What each layer consists of: files, or folders with a `/` at the end. The first layer that names a file has it. */
const LAYERS = {
  // Runs in a browser, bundled into a text that the page sends: nothing imports it.
  script: words("html/script/"),
  // The same for the dashboard, which finds wallets by the modules of the page.
  dashboardScript: words("gateway/dashboard/script/"),
  contracts: words("request requirement settings payment receive/receiver store/store"),
  ground: words(
    "access answered errors error-table money networks network-table network-names network-suggestion suggestion config-problems config-schema address keccak hash clock time-limit traceable url logger secret page-cookie wire/",
  ),
  proof: words("proof events"),
  // Besides these, whatever stands beside them directly under src/: the pieces that the guard is made of.
  parts: words("routes price challenge receipt capture store/record html/"),
  guard: words("guard"),
  stores: words("store/"),
  receivers: words("chains/ receive/ evm solana"),
  assembly: words("options option-schema environment shared-settings terms route-table choose-receiver paywall index"),
  metrics: words("metrics"),
  testing: words("testing/"),
  client: words("client/"),
  gateway: words("gateway/"),
  cli: words("cli/"),
  adapters: words("../adapters/"),
};
type Layer = keyof typeof LAYERS;

const core = ["contracts", "ground", "proof", "parts", "guard"] as const;
/** Which layers each may import; itself always. */
const MAY_IMPORT: Record<Layer, readonly Layer[]> = {
  script: ["parts"], // types only: what the page knows
  dashboardScript: ["script", "receivers"], // base58 of the chains
  contracts: ["ground", "proof", "parts"], // types only, see below
  ground: ["contracts"],
  proof: ["contracts", "ground"],
  parts: ["contracts", "ground", "proof"],
  guard: ["contracts", "ground", "proof", "parts"],
  stores: ["contracts", "ground"],
  receivers: ["contracts", "ground", "proof"],
  assembly: [...core, "stores", "receivers"],
  metrics: ["ground", "proof"],
  testing: ["contracts", "ground", "proof", "receivers"],
  // Of the gateway the types of its schemas only, see below.
  client: ["contracts", "ground", "proof", "receivers", "gateway"],
  // Never the guard: the gateway judges by receivers, chains and stores. Of the parts it takes how a transaction is identified.
  gateway: ["contracts", "ground", "proof", "parts", "stores", "receivers", "assembly"],
  cli: ["contracts", "ground", "proof", "stores", "receivers", "assembly", "gateway", "client"],
  adapters: ["contracts", "ground", "guard", "assembly"], // of the guard its type only, see below
};

const sources = readSources("src", "adapters");
const inLayer = (...layers: Layer[]) =>
  sources.filter((source) => layers.some((layer) => layer === layerOf(source.path)));

function layerOf(path: string): Layer | undefined {
  const name = path.startsWith("src/") ? path.slice(4).replace(/\.ts$/, "") : `../${path}`;
  const layers = Object.entries(LAYERS) as [Layer, readonly string[]][];
  const has = (part: string) => (part.endsWith("/") ? name.startsWith(part) : name === part);
  return layers.find(([, parts]) => parts.some(has))?.[0] ?? (name.includes("/") ? undefined : "parts");
}

/** `src/a.ts: import … from "./b.js"` for each import that `breaks` the rule. */
function breaches(files: readonly Source[], breaks: (found: Import, source: Source) => boolean): string[] {
  return files.flatMap((source) =>
    source.imports.filter((found) => breaks(found, source)).map((found) => `${source.path}: ${found.text}`),
  );
}

describe("the source tree", () => {
  it("has a layer for each file", () => {
    expect(sources.filter((source) => layerOf(source.path) === undefined).map((source) => source.path)).toEqual([]);
  });

  it("imports along the layers and never against them", () => {
    const against = breaches(sources, ({ file }, { path }) => {
      const [from, to] = [layerOf(path), file === undefined ? undefined : layerOf(file)];
      return from !== undefined && to !== undefined && from !== to && !MAY_IMPORT[from].includes(to);
    });
    expect(against).toEqual([]);
  });

  it("imports files of its own tree only, and each of them exists", () => {
    const known = new Set(sources.map((source) => source.path));
    expect(breaches(sources, ({ file }) => file !== undefined && !known.has(file))).toEqual([]);
  });

  it("knows receivers and stores in the core as interfaces only", () => {
    const concrete = breaches(inLayer(...core), ({ file, typeOnly }) => {
      const layer = file === undefined ? undefined : layerOf(file);
      if (layer === "stores" || layer === "receivers") return true;
      return (file === "src/receive/receiver.ts" || file === "src/store/store.ts") && !typeOnly;
    });
    expect(concrete).toEqual([]);
  });

  it("has contracts that import nothing but types, and adapters that take the guard from the paywall", () => {
    expect(breaches(inLayer("contracts"), ({ typeOnly }) => !typeOnly)).toEqual([]);
    expect(breaches(inLayer("adapters"), ({ file, typeOnly }) => file === "src/guard.ts" && !typeOnly)).toEqual([]);
  });

  it("needs no Node and no package beside zod/mini and lru-cache in the core", () => {
    const packages = breaches(inLayer(...core), ({ specifier, file }) => {
      return file === undefined && specifier !== "zod/mini" && specifier !== "lru-cache";
    });
    expect(packages).toEqual([]);
    const builtins = inLayer("assembly").filter((source) =>
      source.imports.some(({ specifier }) => /^node:/.test(specifier)),
    );
    expect(builtins.map((source) => source.path)).toEqual([]);
  });

  it("needs no Node and no package beside zod/mini in the buyer, but for his file, and nothing of the gateway but types", () => {
    const buyer = inLayer("client").filter(({ path }) => !/^src\/client\/file/.test(path));
    expect(breaches(buyer, ({ specifier, file }) => file === undefined && specifier !== "zod/mini")).toEqual([]);
    const run = breaches(inLayer("client"), ({ file, typeOnly }) => /^src\/gateway\//.test(file ?? "") && !typeOnly);
    expect(run).toEqual([]);
  });

  it("takes into the script of the page nothing of the server but types, and one small package", () => {
    const taken = breaches(inLayer("script"), ({ specifier, file, typeOnly }) => {
      return file === undefined ? specifier !== "uqr" : !file.startsWith("src/html/script/") && !typeOnly;
    });
    expect(taken).toEqual([]);
  });

  it("takes zod as a namespace of zod/mini, so that bundlers drop what is not used", () => {
    const free = /^src\/(chains|testing|cli|gateway)\/|^src\/receive\/local/;
    const others = sources.filter((source) => !free.test(source.path));
    expect(
      breaches(
        others,
        ({ specifier, text }) => /^zod/.test(specifier) && !/^import (type )?\* as z from "zod\/mini"$/.test(text),
      ),
    ).toEqual([]);
  });

  it("loads no framework at run time in an adapter but its own, which the app brings", () => {
    const others = breaches(inLayer("adapters"), ({ specifier, typeOnly }, { path }) => {
      const [framework] = /^(express|fastify|hono|@hono|next)\b/.exec(specifier) ?? [];
      return framework !== undefined && !typeOnly && !path.startsWith(`adapters/${framework}`);
    });
    expect(others).toEqual([]);
  });

  it("loads the drivers of stores when one is opened, and never for their types", () => {
    const drivers = /^(kysely|libsql|pg|ioredis|redis)$/;
    const early = breaches(sources, ({ specifier, typeOnly }) => drivers.test(specifier) && !typeOnly);
    expect(early).toEqual([]);
    const named = sources.flatMap((source) => source.imports).filter(({ specifier }) => drivers.test(specifier));
    expect(new Set(named.map(({ specifier }) => specifier)).size).toBe(5);
  });

  it("has no hand-written file over 350 lines", () => {
    const all = [...sources, ...readSources("test", "scripts", "examples", "bench")];
    const long = all.filter(({ path, lines }) => lines > 350 && !path.endsWith(".artifact.ts"));
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });
});

describe("the reader of imports", () => {
  it("sees every file of the core and at least one import of each kind", () => {
    const all = sources.flatMap((source) => source.imports);
    expect(inLayer(...core).length).toBeGreaterThan(20);
    expect(all.some((found) => found.typeOnly)).toBe(true);
    expect(all.some((found) => found.dynamic)).toBe(true);
    expect(all.some((found) => found.specifier === "zod/mini")).toBe(true);
  });
});
