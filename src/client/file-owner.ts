// Who holds a lock: a process by what tells it from every other one that had or will have its number. Judges whether it is gone,
// and says so only where that is certain, because a lock that is taken from a living process is none.
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod/mini";

const ownerSchema = z.strictObject({
  /** Of this lock alone. Part of a file's name, so it holds nothing else. */
  token: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  pid: z.int().check(z.minimum(1)),
  /** When the process began, as the system counts it; null where it does not tell. */
  start: z.nullable(z.string()),
  /** The start of the system; null where it does not tell. */
  boot: z.nullable(z.string()),
  /** Where numbers of processes mean the same: machine and container. */
  place: z.string(),
});
export type Owner = z.infer<typeof ownerSchema>;

/** This process, as the owner of a new lock. */
export const newOwner = (): Owner => ({ ...self(), token: randomBytes(8).toString("hex") });

/** The owner that a lock names; undefined where it names none that can be read. */
export function parseOwner(text: string): Owner | undefined {
  try {
    return ownerSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Has the process ended for certain? */
export function isGone({ pid, start, boot, place }: Owner): boolean {
  const here = self();
  if (place !== here.place) return false;
  if (boot !== null && here.boot !== null && boot !== here.boot) return true;
  if (!isRunning(pid)) return true;
  const now = startOf(pid);
  // Another process may have the number of one that ended.
  return now === ENDED || (start !== null && now !== null && now !== start);
}

/** Asks for its number only; one that may not be asked is there. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && Reflect.get(error, "code") === "ESRCH");
  }
}

let known: Omit<Owner, "token"> | undefined;
function self(): Omit<Owner, "token"> {
  known ??= {
    pid: process.pid,
    start: startOf(process.pid),
    boot: textOf("/proc/sys/kernel/random/boot_id"),
    place: [hostname(), textOf("/etc/machine-id"), linkOf("/proc/self/ns/pid")].map((part) => part ?? "").join(" "),
  };
  return known;
}

const ENDED = "ended";

/** Ticks since the start of the system; `ended` for one whose parent did not fetch its end yet. Linux only. */
function startOf(pid: number): string | null {
  // The name of the program stands in brackets and may hold anything.
  const fields = textOf(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ");
  if (fields?.[0] === "Z" || fields?.[0] === "X") return ENDED;
  return fields?.[19] ?? null;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
