// The source tree as the layer test sees it: each file with its imports, read from the text.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Import {
  /** `../money.js` as it is written, or a package. */
  readonly specifier: string;
  /** The file in the repository it means (`src/money.ts`); undefined for packages. */
  readonly file: string | undefined;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
  /** The statement, in one line. */
  readonly text: string;
}

export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

const statement = /^\s*(?:import|export)\s+(type\s+)?([^"'`;]*?from\s*)?["']([^"']+)["']/gm;
const call = /\bimport\(\s*["'`]([^"'`]+)["'`]\s*\)/g;

/** All TypeScript files of some top-level folders. */
export function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) => filesOf(join(root, folder))).map(readSource);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesOf(path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}

function readSource(path: string): Source {
  const text = readFileSync(path, "utf8");
  return { path: fromRoot(path), lines: text.split("\n").length - 1, imports: readImports(path, text) };
}

/** Comments are taken out first: an example inside one imports nothing. */
function readImports(path: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const statements = [...code.matchAll(statement)].map(([whole, type, names = "", specifier]) => ({
    ...target(path, specifier!),
    typeOnly: type !== undefined || onlyTypes(names),
    dynamic: false,
    text: whole.trim().replace(/\s+/g, " "),
  }));
  const calls = [...code.matchAll(call)].map(([whole, specifier]) => ({
    ...target(path, specifier!),
    // `import("x").Y` in a type position cannot be told from a call by its text: it counts as a call.
    typeOnly: false,
    dynamic: true,
    text: whole,
  }));
  return [...statements, ...calls];
}

/** `{ type A, type B } from`: nothing is left of it at run time. */
function onlyTypes(names: string): boolean {
  const inside = /^\{([\s\S]*)\}\s*from\s*$/.exec(names.trim())?.[1];
  if (inside === undefined) return false;
  const parts = inside.split(",").map((part) => part.trim());
  return parts.filter(Boolean).every((part) => part.startsWith("type "));
}

function target(from: string, specifier: string): Pick<Import, "specifier" | "file"> {
  if (!specifier.startsWith(".")) return { specifier, file: undefined };
  return { specifier, file: fromRoot(resolve(dirname(from), specifier)).replace(/\.js$/, ".ts") };
}

function fromRoot(path: string): string {
  return relative(root, path).replaceAll("\\", "/");
}
