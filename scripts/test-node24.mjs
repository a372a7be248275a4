// Runs the smoke test of the built package on Node 24, which comes as an npm package in a folder of its own.
// node scripts/test-node24.mjs
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "test/runtimes/node24");
const program = join(folder, "node_modules/node/bin/node");

/** True when Node is installed exactly as the lock file says. */
function installNode() {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules/.lock-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return true;
  // Its install script fetches the program as another package: without it there is no program.
  if (spawnSync("npm", ["ci"], { cwd: folder, stdio: "inherit", shell: process.platform === "win32" }).status !== 0) {
    return false;
  }
  writeFileSync(stamp, lock);
  return true;
}

if (!installNode() || !existsSync(program)) {
  console.error("Node 24 could not be installed");
  process.exit(1);
}
const version = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.trim();
if (!version.startsWith("v24.")) {
  console.error(`Expected Node 24, got ${version}`);
  process.exit(1);
}
process.exitCode = spawnSync(program, [join(root, "test/runtimes/smoke.mjs")], { stdio: "inherit" }).status ?? 1;
