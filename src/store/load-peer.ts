// Drivers are optional packages, loaded when a store is opened. A missing one is said in a sentence that installs it.
import { PaywallConfigError } from "../errors.js";

/** The names are no literals, so that a bundler leaves the packages out. */
const PEERS = { kysely: "kysely", libsql: "libsql", pg: "pg", ioredis: "ioredis", redis: "redis" } as const;
export type Peer = keyof typeof PEERS;

/** The package, or undefined where it is not installed. */
export async function findPeer<Module>(peer: Peer): Promise<Module | undefined> {
  const name: string = PEERS[peer];
  try {
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as Module;
  } catch (error) {
    if (isMissing(error, name)) return undefined;
    throw error;
  }
}

/** Who needs a package or a database, as errors name it. */
export interface Owner {
  readonly name: "store" | "gateway";
  /** The option that it is configured by, and whose. */
  readonly path: string;
  readonly of: "paywall" | "gateway";
}
export const STORE: Owner = { name: "store", path: "store", of: "paywall" };

/** @throws PaywallConfigError that names the packages to install. */
export async function loadPeer<Module>(peer: Peer, all: readonly Peer[], owner = STORE): Promise<Module> {
  const found = await findPeer<Module>(peer);
  if (found) return found;
  const message = `the ${owner.name} needs ${all.join(" and ")}, and ${peer} is not installed: npm install ${all.join(" ")}`;
  throw new PaywallConfigError([{ path: owner.path, code: "missing_package", message }], owner.of);
}

/** The package itself, and not one that it needs. */
const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  "code" in error &&
  error.code === "ERR_MODULE_NOT_FOUND" &&
  error.message.includes(`'${name}'`);
