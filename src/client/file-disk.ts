// The file of a buyer's store on the disk: read as a whole, and replaced as a whole, so that nobody ever sees a part of it.
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { decodeLedger, encodeLedger } from "./file-format.js";
import { takeLock } from "./file-lock.js";
import { emptyLedger, type Ledger } from "./ledger.js";

export interface Disk {
  /** What the file holds; nothing, where there is none yet. Rejects, with what to do, where it cannot be read. */
  read(): Promise<Ledger>;
  /** Lets `change` work on what the file holds, alone among all processes; resolves when the disk has what came of it. */
  update(change: (ledger: Ledger) => void): Promise<void>;
}

export function createDisk(path: string, lockWaitMs: number): Disk {
  let wasThere = false;

  async function readText(file: string): Promise<string | undefined> {
    const text = await readFile(file, "utf8").catch(unlessMissing);
    // Invariant: what was counted is not forgotten because a file went away.
    if (text === undefined && wasThere) {
      throw new Error(
        `${path} is gone, and with it what was spent: restore it, or start the program anew to begin anew`,
      );
    }
    wasThere ||= text !== undefined;
    return text;
  }

  function decode(text: string | undefined): Ledger {
    if (text === undefined) return emptyLedger();
    const decoded = decodeLedger(text);
    if (!decoded.ok) throw new Error(`${path} ${decoded.problem}`);
    return decoded.ledger;
  }

  return {
    read: async () => decode(await readText(path)),
    async update(change) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // A symbolic link would be replaced by a file, and what it points to be left behind.
      const file = (await realpath(path).catch(unlessMissing)) ?? path;
      const unlock = await takeLock(`${file}.lock`, lockWaitMs);
      try {
        const before = await readText(file);
        const ledger = decode(before);
        change(ledger);
        const after = encodeLedger(ledger);
        if (after !== before) await replace(file, after);
        wasThere = true;
      } finally {
        await unlock();
      }
    },
  };
}

/** Call it under the lock only. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`;
  // A process that was killed may have left one: it writes no more, since the lock is ours.
  await rm(next, { force: true });
  const handle = await open(next, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
  await syncFolder(dirname(file));
}

/** The new name is on the disk once the folder is, which some systems do not write out when they are told to. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return undefined;
  throw error;
}
