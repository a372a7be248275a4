// What `tollgate pay` remembers from one run to the next, in a folder that only its user can read: what was spent, payments
// whose outcome is not known yet, and hosts that were approved.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import * as z from "zod/mini";
import { fileBuyerStore } from "../../client/file.js";
import type { BuyerStore } from "../../client/store.js";
import type { Environment } from "../../environment.js";
import { CliError } from "../io.js";

export interface PayState {
  readonly folder: string;
  /** Budget, pending proofs, purchases. */
  readonly store: BuyerStore;
  /** Was this host approved at a terminal? */
  knows(host: string): boolean;
  remember(host: string): void;
}

const hostsSchema = z.object({ hosts: z.record(z.string(), z.object({ approvedAt: z.number() })) });
type Hosts = z.infer<typeof hostsSchema>["hosts"];

/** `$XDG_STATE_HOME/tollgate`, or `~/.local/state/tollgate`. */
export function stateFolder({ XDG_STATE_HOME: xdg = "", HOME: home }: Environment): string {
  // Where it is relative it counts as not set: XDG Base Directory.
  return join(isAbsolute(xdg) ? xdg : join(home || homedir(), ".local/state"), "tollgate");
}

/** @throws CliError (1) where the folder cannot be made, or is not this user's own. */
export function openState(env: Environment, now: () => number = Date.now): PayState {
  const folder = stateFolder(env);
  const file = join(folder, "hosts.json");
  attempt(folder, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isOpenToOthers(folder)) throw new Error("other users can write there. Make it yours alone (chmod 700)");
  });
  return {
    folder,
    store: fileBuyerStore(join(folder, "spending.json")),
    knows: (host) => Object.hasOwn(readHosts(file), host),
    remember(host) {
      const hosts = { ...readHosts(file), [host]: { approvedAt: now() } };
      const next = `${file}.${process.pid}`;
      attempt(file, () => {
        writeFileSync(next, `${JSON.stringify({ hosts }, null, 2)}\n`, { mode: 0o600 });
        renameSync(next, file);
      });
    },
  };
}

/** Invariant: who could put other files there would set the budget back, and approve hosts. Windows has no such modes. */
function isOpenToOthers(folder: string): boolean {
  const user = process.getuid?.();
  if (user === undefined) return false;
  const { uid, mode } = statSync(folder);
  // A container's root works on the folders of others.
  return (mode & 0o002) !== 0 || (user !== 0 && uid !== user && uid !== 0);
}

/** One that cannot be read knows nobody: then it is asked again. */
function readHosts(file: string): Hosts {
  try {
    return hostsSchema.parse(JSON.parse(readFileSync(file, "utf8"))).hosts;
  } catch {
    return {};
  }
}

function attempt(what: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`${what} cannot be written, and without it nothing is paid: ${why}`);
  }
}

export interface HeldStore {
  readonly store: BuyerStore;
  /** The answer is complete: what paid for it need not be kept any more. */
  release(): Promise<void>;
}

/**
 * The store, which keeps a sent proof until the answer that it bought has been written out whole. Until then an equal run sends
 * the same proof again, so that a broken answer is collected and not paid for twice.
 *
 * @param isSent has the proof left? One that has not is forgotten at once, because its money leaves the count.
 */
export function holdProofs(store: BuyerStore, isSent: (id: string) => boolean): HeldStore {
  const held: (readonly [request: string, id: string])[] = [];
  return {
    store: {
      ...store,
      async forget(request, id) {
        if (isSent(id)) held.push([request, id]);
        else await store.forget(request, id);
      },
    },
    async release() {
      for (const [request, id] of held.splice(0)) await store.forget(request, id);
    },
  };
}
