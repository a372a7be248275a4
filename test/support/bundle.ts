// What a bundler makes of the library for a runtime that is not Node: the conditions are those that wrangler sets. A
// package that cannot be resolved fails the build; modules of Node stay as imports and stand among `externals`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { root } from "./sources.js";

export interface Bundle {
  /** The file to start. */
  readonly entry: string;
  readonly folder: string;
  /** What the bundle still imports by name. */
  readonly externals: readonly string[];
  /** Source files whose code is in what the entry loads at once, from the root of the repository. */
  readonly eager: readonly string[];
  /** Minified bytes of what the entry loads at once, by where they come from. */
  readonly bytes: ReadonlyMap<string, number>;
  /** Bytes after gzip: what the entry loads at once, and what it loads when it is needed. */
  readonly gzip: { readonly eager: number; readonly later: number };
  remove(): void;
}

export interface BundleOptions {
  /** Packages left out. */
  readonly external?: readonly string[];
  /** One script that sets the global `bundled`, in place of modules with a file for each part that is loaded later. */
  readonly script?: boolean;
  readonly conditions?: readonly string[];
  /** Constants that the source names, by name. */
  readonly define?: Readonly<Record<string, string>>;
}

const WRANGLER = ["workerd", "worker", "browser"];
const alias = {
  "tollgate/hono": join(root, "adapters/hono.ts"),
  "tollgate/evm": join(root, "src/evm.ts"),
  tollgate: join(root, "src/index.ts"),
};

/** Bundles and minifies a module, given as text or as a file of the repository. */
export async function bundle(
  source: { text: string } | { file: string },
  options: BundleOptions = {},
): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bundle-"));
  const made = await build({
    ...("text" in source
      ? { stdin: { contents: source.text, resolveDir: root, sourcefile: "entry.ts", loader: "ts" } }
      : { entryPoints: { entry: join(root, source.file) } }),
    absWorkingDir: root,
    alias,
    bundle: true,
    conditions: [...(options.conditions ?? WRANGLER)],
    define: Object.fromEntries(
      Object.entries(options.define ?? {}).map(([name, text]) => [name, JSON.stringify(text)]),
    ),
    entryNames: "entry",
    external: (options.external ?? []).flatMap((name) => [name, `${name}/*`]),
    ...(options.script ? { format: "iife", globalName: "bundled" } : { format: "esm", splitting: true }),
    logLevel: "silent",
    mainFields: ["module", "main"],
    metafile: true,
    minify: true,
    outdir: folder,
    platform: "neutral",
    target: "es2022",
    write: true,
  });
  const files = readOutputs(made.metafile);
  const eager = reachable(files, "entry.js");
  const read = (names: readonly string[]) => gzipSync(concat(folder, names)).length;
  const inputs = eager.flatMap((name) => Object.entries(files.get(name)!.inputs));
  return {
    entry: join(folder, "entry.js"),
    folder,
    externals: [...files.values()].flatMap((file) => file.imports.filter((one) => one.external).map((one) => one.path)),
    eager: inputs.map(([path]) => path),
    bytes: sumByOrigin(inputs.map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
    gzip: { eager: read(eager), later: read([...files.keys()].filter((name) => !eager.includes(name))) },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type Outputs = ReadonlyMap<string, Metafile["outputs"][string]>;

function readOutputs(metafile: Metafile): Outputs {
  return new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
}

/** The file and all that it imports by statement, in the order in which they are met. */
function reachable(files: Outputs, entry: string): string[] {
  const found = new Set([entry]);
  for (const name of found) {
    const statements = files.get(name)!.imports.filter((one) => one.kind === "import-statement" && !one.external);
    for (const { path } of statements) found.add(basename(path));
  }
  return [...found];
}

function concat(folder: string, names: readonly string[]): Buffer {
  return Buffer.concat(names.map((name) => readFileSync(join(folder, name))));
}

/** `zod`, `hono` and other packages by name, our own files by folder. */
function sumByOrigin(parts: readonly (readonly [path: string, bytes: number])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [path, bytes] of parts) {
    const [, pack] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
    const origin = pack ?? path.replace(/\/[^/]*$/, "");
    sums.set(origin, (sums.get(origin) ?? 0) + bytes);
  }
  return new Map([...sums].sort(([, a], [, b]) => b - a));
}
