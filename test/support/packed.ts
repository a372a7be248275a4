// The package as it would be published, unpacked into a project of its own: nothing is there but what the project links.
// Needs a build and no network.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { root } from "./sources.js";

export interface PackedProject {
  readonly folder: string;
  /** Where the package is installed in it. */
  readonly installed: string;
  /** Makes a package of the repository available, under another name where `as` is given. */
  link(name: string, as?: string): void;
  /** Writes a file of the project; gives its path. */
  write(name: string, text: string): string;
  remove(): void;
}

const manifestSchema = z.object({
  exports: z.record(z.string(), z.unknown()),
  dependencies: z.record(z.string(), z.string()),
});
export const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** What users import: `tollgate`, `tollgate/express`, … */
export const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== "./package.json")
  .map((entry) => `tollgate${entry.slice(1)}`);

/** Packs, unpacks, and links the package's own dependencies and `names`, at the very versions tested: no registry is asked. */
export function createPackedProject(names: readonly string[]): PackedProject {
  if (!existsSync(join(root, "dist/src/index.js"))) throw new Error("The package is not built: run `npm run build`");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-package-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root, stdio: "pipe" });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"))!;
  const installed = join(folder, "node_modules/tollgate");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, tarball), "-C", installed, "--strip-components=1"]);

  const project: PackedProject = {
    folder,
    installed,
    link(name, as = name) {
      const place = join(folder, "node_modules", as);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, "node_modules", name), place, "dir");
    },
    write(name, text) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  project.write("package.json", '{ "name": "user-of-the-package", "private": true, "type": "module" }');
  for (const name of [...Object.keys(manifest.dependencies), ...names]) project.link(name);
  return project;
}
