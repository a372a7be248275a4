// Installs the libraries that are measured, once: again only when their lock file is another one.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** @throws where npm cannot install them. */
export function installLibraries() {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules/.lock-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("Installing the libraries to measure (once) …");
  const { status } = spawnSync("npm", ["ci"], { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error("the libraries to measure could not be installed");
  writeFileSync(stamp, lock);
}

/** The versions that are installed here. */
export function installedVersions() {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(join(folder, "../package.json"), "utf8"));
  const names = Object.keys(dependencies).filter((name) => !["wagmi", "@faremeter/types"].includes(name));
  return { tollgate: version, ...Object.fromEntries(names.map((name) => [name, dependencies[name]])) };
}
