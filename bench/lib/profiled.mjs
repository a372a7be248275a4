// Where the CPU of a child goes: flags that make it write a profile when it ends, and that profile by file and by function.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function profiled() {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-profile-"));
  return {
    execArgv: ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=250"],
    read() {
      const profile = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]), "utf8"));
      rmSync(folder, { recursive: true });
      return describe(profile);
    },
  };
}

/** The second half of its busy time: by then everything is compiled. */
function describe({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const all = samples
    .map((id, n) => ({ ...frames.get(id), took: timeDeltas[n] }))
    .filter(({ functionName }) => functionName !== "(idle)" && functionName !== "(program)");
  const half = all.slice(all.length >> 1);
  const total = half.reduce((sum, { took }) => sum + took, 0);
  const [byFile, byFunction] = [new Map(), new Map()];
  for (const { functionName, url, lineNumber, took } of half) {
    const file = url.replace(/^.*\/(dist|bench-dist|node_modules)\//, "") || "(native)";
    const name = `${functionName || "(anonymous)"}  ${file}:${lineNumber + 1}`;
    byFile.set(file, (byFile.get(file) ?? 0) + took);
    byFunction.set(name, (byFunction.get(name) ?? 0) + took);
  }
  const lines = (times, count) =>
    [...times]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, count)
      .map(([name, took]) => `${((took / total) * 100).toFixed(1).padStart(5)} %  ${name}`);
  return ["by file", ...lines(byFile, 25), "", "by function", ...lines(byFunction, 40)].join("\n");
}
