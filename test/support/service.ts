// Services that tests start themselves, each on a free port and with data of its own. In CI an absent one is a failure;
// elsewhere its tests are skipped and the reason is printed.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a program is: on the path, or in one of the folders that match. Undefined = it is not installed. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter);
  return [...folders, ...onPath].map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Folders that a distribution keeps by version, newest first: `/usr/lib/postgresql/15/bin`. */
export function versioned(parent: string, inside: string): readonly string[] {
  if (!existsSync(parent)) return [];
  const newestFirst = readdirSync(parent).sort((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => join(parent, version, inside));
}

/** Why a test that needs this program is skipped, printed once; undefined = it is there, or this is CI. */
export function reasonToSkip(program: string | undefined, debianPackage: string): string | undefined {
  if (program !== undefined || process.env.CI) return undefined;
  const reason = `${debianPackage} is not installed`;
  console.warn(`Skipped: ${reason}`);
  return reason;
}

/** The ids of a user, for programs that refuse to run as root. */
export function idsOf(user: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }).trim());
  return { uid: id("-u"), gid: id("-g") };
}
