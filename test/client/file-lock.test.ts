// The lock of a buyer's file: one holder at a time; that of a dead process is taken over once, that of a living one never.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { takeLock } from "../../src/client/file-lock.js";
import { isGone, newOwner, type Owner, parseOwner } from "../../src/client/file-owner.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const newPath = () => join(folder, `${randomUUID()}.lock`);

/** The number of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid!;
}
const dead = async (more: Partial<Owner> = {}): Promise<Owner> => ({ ...newOwner(), pid: await deadPid(), ...more });
const leave = (path: string, owner: Owner) => writeFileSync(path, JSON.stringify(owner));
const WAIT_MS = 150;

/** Many take the lock at once; how many held it at each moment that somebody got it. */
async function crowd(path: string, count: number): Promise<number[]> {
  let holders = 0;
  const seen: number[] = [];
  const work = async () => {
    const give = await takeLock(path, 20_000);
    holders += 1;
    seen.push(holders);
    await new Promise((resolve) => setImmediate(resolve));
    holders -= 1;
    await give();
  };
  await Promise.all(Array.from({ length: count }, work));
  return seen;
}
const alone = (count: number) => Array.from({ length: count }, () => 1);

describe("a lock between processes", () => {
  it("is held by one at a time and gone when all gave it back", async () => {
    const path = newPath();
    expect(await crowd(path, 40)).toEqual(alone(40));
    expect(readdirSync(folder).filter((name) => name.startsWith(basename(path)))).toEqual([]);
  });

  it("is not taken from a living process, however long it holds it: the wait ends with who holds it", async () => {
    const path = newPath();
    const give = await takeLock(path, WAIT_MS);
    await expect(takeLock(path, WAIT_MS)).rejects.toThrow(`${path} is held by process ${process.pid}`);
    await give();
    await (await takeLock(path, WAIT_MS))();
  });

  it("is taken over from a dead process by one of many that wait", async () => {
    for (let round = 0; round < 10; round += 1) {
      const path = newPath();
      leave(path, await dead());
      expect(await crowd(path, 12)).toEqual(alone(12));
    }
  });

  it("is taken over although one who was about to do so died over it", async () => {
    const path = newPath();
    const first = await dead();
    const second = await dead();
    leave(path, first);
    leave(`${path}.${first.token}`, second);
    leave(`${path}.${first.token}.${second.token}`, await dead());
    await (await takeLock(path, 5_000))();
    expect(existsSync(path)).toBe(false);
  });

  it("is left alone by one who comes late to a lock that another one took over", async () => {
    const path = newPath();
    const gone = await dead();
    leave(path, gone);
    // The turn to remove it is held by somebody else, until a living owner stands in the lock.
    const giveTurn = await takeLock(`${path}.${gone.token}`, WAIT_MS);
    const late = takeLock(path, 400);
    const living = { ...newOwner(), token: "00000000000000aa" };
    leave(path, living);
    await giveTurn();
    await expect(late).rejects.toThrow("is held by");
    expect(parseOwner(readFileSync(path, "utf8"))).toEqual(living);
  });

  it("is not given back by one who lost it", async () => {
    const path = newPath();
    const give = await takeLock(path, WAIT_MS);
    leave(path, newOwner());
    await give();
    expect(existsSync(path)).toBe(true);
  });

  it.each([
    ["of text", "locked"],
    ["empty", ""],
    ["of another form", '{"pid":1}'],
    ["of a path", '{"token":"../../x"}'],
  ])("whose owner cannot be read is nobody's to take: one that is %s", async (_, text) => {
    const path = newPath();
    writeFileSync(path, text);
    await expect(takeLock(path, WAIT_MS)).rejects.toThrow(/is held by a process that is not named.*remove the file/);
    expect(readFileSync(path, "utf8")).toBe(text);
  });
});

describe("the owner of a lock", () => {
  const self = newOwner();

  it("is told from every other lock of the same process", () => {
    expect(newOwner().token).not.toBe(self.token);
    expect(parseOwner(JSON.stringify(self))).toEqual(self);
  });

  it("is gone when its process has ended, when its number is another's by now, or when the system was started anew", async () => {
    expect(isGone(self)).toBe(false);
    expect(isGone(await dead())).toBe(true);
    if (process.platform !== "linux") return;
    expect(isGone({ ...self, start: "1" })).toBe(true);
    expect(isGone({ ...self, boot: "another" })).toBe(true);
  });

  it("is not gone where that cannot be known: on another machine, in another container, without a start", async () => {
    expect(isGone(await dead({ place: "another machine" }))).toBe(false);
    expect(isGone(await dead({ place: "another machine", boot: "another" }))).toBe(false);
    expect(isGone({ ...self, start: null })).toBe(false);
    // The first process may not be asked by everybody, and is there.
    expect(isGone({ ...self, pid: 1, start: null })).toBe(false);
  });

  it.runIf(process.platform === "linux")("is gone where its parent did not fetch its end yet", async () => {
    const child = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 30"], { stdio: ["ignore", "pipe", "ignore"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    const stateOf = () => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0];
    await expect.poll(stateOf).toBe("Z");
    expect(isGone({ ...self, pid, start: null })).toBe(true);
    child.kill();
    await once(child, "exit");
  });
});
