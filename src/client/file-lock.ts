// A lock between processes: a file that names its owner, and appears whole or not at all. The lock of a process that is certainly
// gone is taken away, by one taker; that of a living one never, however long it is held.
//
// Invariant: a lock is removed by its owner, or by the one that holds the lock named after its token while the owner is gone.
// Tokens are never used again, so a taker that comes late finds another token and leaves it alone.
import { link, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { isGone, newOwner, type Owner, parseOwner } from "./file-owner.js";

/** A taker may be killed in turn, and so may the taker of its lock; nobody is that unlucky for ever. */
const DEEPEST = 4;
const LONGEST_PAUSE_MS = 20;

/** Waits for the lock, at most so long; resolves with what gives it back. */
export async function takeLock(path: string, waitMs: number): Promise<() => Promise<void>> {
  return take(path, performance.now() + waitMs, 0);
}

async function take(path: string, until: number, depth: number): Promise<() => Promise<void>> {
  const owner = newOwner();
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const text = await readFile(path, "utf8").catch(onCode("ENOENT", undefined));
    if (text === undefined) {
      if (await appear(path, owner)) return () => give(path, owner);
      continue;
    }
    const holder = parseOwner(text);
    if (holder && depth < DEEPEST && isGone(holder)) await removeLeft(path, holder, until, depth);
    else if (performance.now() >= until) throw new Error(heldBy(path, holder));
    else await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}

/** A file that were made first and written then could be left empty, and nobody would know by whom: so it is written elsewhere. */
async function appear(path: string, owner: Owner): Promise<boolean> {
  const draft = `${path}-${owner.token}`;
  try {
    await writeFile(draft, JSON.stringify(owner), { flag: "wx", mode: 0o600 });
    return await link(draft, path).then(() => true, onCode("EEXIST", false));
  } finally {
    await rm(draft, { force: true });
  }
}

async function give(path: string, { token }: Owner): Promise<void> {
  if ((await tokenAt(path)) === token) await unlink(path);
}

async function removeLeft(path: string, { token }: Owner, until: number, depth: number): Promise<void> {
  const giveTurn = await take(`${path}.${token}`, until, depth + 1);
  try {
    if ((await tokenAt(path)) === token) await unlink(path);
  } finally {
    await giveTurn();
  }
}

async function tokenAt(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(onCode("ENOENT", undefined));
  return text === undefined ? undefined : parseOwner(text)?.token;
}

function heldBy(path: string, holder: Owner | undefined): string {
  const who = holder ? `process ${holder.pid} (${holder.place.split(" ", 1)[0]})` : "a process that is not named in it";
  return `${path} is held by ${who}: if that does not run any more, remove the file; nothing is paid until then`;
}

/** An answer in place of an error of this code. */
const onCode =
  <Answer>(code: string, answer: Answer) =>
  (error: unknown): Answer => {
    if (error instanceof Error && Reflect.get(error, "code") === code) return answer;
    throw error;
  };
