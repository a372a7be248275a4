// Makes ready what the tests run on: the compiled package and the published buyers of the interop test.
// Builds when a source is newer than the build; installs the buyers when their lock file is not the one installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const npm = (...args) => spawnSync("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });

function newestChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).map((name) => newestChange(join(path, name)));
  return Math.max(stats.mtimeMs, ...inside);
}

function buildIsCurrent() {
  const built = join(root, "dist/src/index.js");
  if (!existsSync(built)) return false;
  const sources = ["src", "adapters", "tsconfig.json"].map((name) => newestChange(join(root, name)));
  return statSync(built).mtimeMs >= Math.max(...sources);
}

/** True when the buyers are installed exactly as the lock file says. */
function installBuyers() {
  const folder = join(root, "test/interop");
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules/.lock-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return true;
  console.log("Installing the published buyers of the interop test (once) …");
  if (npm("ci", "--prefix", folder).status !== 0) return false;
  writeFileSync(stamp, lock);
  return true;
}

if (!buildIsCurrent() && npm("run", "build").status !== 0) process.exit(1);
if (!installBuyers()) {
  // Where a service is promised (CI) its absence is a failure; elsewhere the interop test skips and says so.
  console.error("The published buyers could not be installed: the interop test cannot run.");
  if (process.env.CI) process.exit(1);
}
