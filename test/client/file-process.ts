// Processes that share the file of a buyer's store, for tests: the store is bundled from the source, so that what is tested is
// what stands there. Each prints a line for every change that was answered.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../support/bundle.js";

export interface StoreScript {
  /** Arguments for node: the program, then the file, a name for the ids, and how many payments it tries. */
  args(path: string, name: string, count: number): string[];
  remove(): void;
}

/** Reserves 1 of at most `LIMIT` again and again, keeps a proof for each, and says so. */
const PROGRAM = `
import { fileBuyerStore } from "./src/client/file.ts";
const [path, name, count] = process.argv.slice(2);
const store = fileBuyerStore(path, { lockWaitMs: 60_000 });
const limit = { name: "perDay", unit: "usd", windowMs: 86_400_000, amount: BigInt(process.env.LIMIT ?? 1e15) };
process.stdout.write("started\\n");
for (let index = 0; index < Number(count); index += 1) {
  const id = name + "-" + index;
  const spend = { id, host: "api.example", unit: "usd", amount: 1n, at: Date.UTC(2026, 0, 1) };
  const { ok } = await store.reserve(spend, [limit]);
  process.stdout.write((ok ? "counted " : "refused ") + id + "\\n");
}
`;

export async function bundleStoreScript(): Promise<StoreScript> {
  const made = await bundle({ text: PROGRAM }, { external: ["node:crypto", "node:fs", "node:os", "node:path"] });
  writeFileSync(join(made.folder, "package.json"), '{"type":"module"}');
  return { args: (path, name, count) => [made.entry, path, name, String(count)], remove: made.remove };
}

/** The ids that a process was told were counted. A line that was cut off by its death is none. */
export const countedIn = (output: string): string[] =>
  output
    .split("\n")
    .slice(0, -1)
    .flatMap((line) => /^counted (\S+)$/.exec(line)?.[1] ?? []);
