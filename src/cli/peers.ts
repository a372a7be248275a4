// The packages that a command needs. They are optional peers, so that a seller who runs no gateway installs none of them; all
// that are missing stand in one line that installs them.
import { GATEWAY_PEERS } from "../gateway/peers.js";
import type { GatewaySettings } from "../gateway/settings.js";
import { CliError } from "./io.js";

/** What a command works with. */
export type Need = "database" | "gateway";

/** @throws CliError (2) with one line that installs what is missing. */
export async function requirePeers(
  need: Need,
  settings: Pick<GatewaySettings, "database" | "redisUrl" | "networks">,
  resolve: (name: string) => unknown = (name) => import.meta.resolve(name),
): Promise<void> {
  const missing = neededPeers(need, settings).filter((name) => !canResolve(name, resolve));
  if (missing.length === 0) return;
  const what = need === "gateway" ? "The gateway" : "This command";
  throw new CliError(`${what} needs packages that are not installed yet:\n  npm install ${missing.join(" ")}`, 2);
}

/** By the settings: each database has its driver. */
export function neededPeers(
  need: Need,
  { database, redisUrl, networks }: Pick<GatewaySettings, "database" | "redisUrl" | "networks">,
): readonly string[] {
  const driver = "file" in database ? "libsql" : "pg";
  if (need === "database") return ["kysely", driver];
  const hasEvm = networks.some(({ network }) => network.family === "evm");
  return [...GATEWAY_PEERS, driver, ...(redisUrl === undefined ? [] : ["ioredis"]), ...(hasEvm ? ["viem"] : [])];
}

function canResolve(name: string, resolve: (name: string) => unknown): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return false;
    // The package is there; what it exports to `import` is found out when it is loaded.
    if (error instanceof Error && "code" in error && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return true;
    throw error;
  }
}
