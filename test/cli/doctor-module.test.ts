// `tollgate doctor` of a module of somebody else's: whatever that keeps open, throws or never answers, the program ends, says so in
// one line, and repeats neither a password nor what a terminal would obey.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { hideKeys } from "../../src/secret.js";
import { buildProgram, ownFolder, run } from "./cli.js";

let program: string;
let folder: string;
beforeAll(async () => {
  folder = ownFolder().folder;
  program = await buildProgram();
});

let made = 0;
function write(source: string): string {
  made += 1;
  const file = join(folder, `shop-${made}.mjs`);
  writeFileSync(file, source);
  return file;
}

/** The program itself, because it must come to its own end. */
async function doctor(source: string) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, "doctor", write(source)], {
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe"],
    // One that stays is no success, and outlives no test.
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  const ended = once(child, "close");
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const rows =
    stdout === "" ? [] : (JSON.parse(stdout) as { rows: { check: string; state: string; found: string }[] }).rows;
  return { code: code as number | null, stderr, rows };
}

const paywall = (ready: string, close = "async () => {}") =>
  `export const paywall = { ready: ${ready}, close: ${close} };`;
const STAYS = "setInterval(() => {}, 1e6);";
const OK = { check: "ready()", state: "ok" };

describe.concurrent("a module", { timeout: 90_000 }, () => {
  it.each([
    ["a timer", `${STAYS} ${paywall("async () => {}")}`],
    ["a server", `import http from "node:http"; http.createServer(() => {}).listen(0); ${paywall("async () => {}")}`],
  ])("that keeps %s open does not keep the doctor", async (_name, source) => {
    expect(await doctor(source)).toMatchObject({ code: 0, stderr: "", rows: [OK] });
  });

  it("whose close never ends is told", async () => {
    const { code, rows } = await doctor(`${STAYS} ${paywall("async () => {}", "() => new Promise(() => {})")}`);
    expect(code).toBe(0);
    expect(rows).toMatchObject([
      OK,
      { check: "close()", state: "note", found: expect.stringMatching(/no answer within/) },
    ]);
  });

  it.each([
    ["a promise", "() => new Promise(() => {})"],
    ["a thenable", "() => ({ then() {} })"],
  ])("whose ready gives %s that never settles is told", async (_name, ready) => {
    const { code, rows, stderr } = await doctor(`${STAYS} ${paywall(ready)}`);
    expect([code, stderr]).toEqual([1, "One thing is wrong.\n"]);
    expect(rows).toMatchObject([{ check: "ready()", state: "unreachable" }]);
  });

  it("whose top-level await never settles is told", async () => {
    const { code, stderr } = await doctor("await new Promise(() => {});");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^\S+ cannot be loaded: .*top-level await.*\n$/)]);
  });

  const LATE = paywall("() => new Promise((done) => setTimeout(done, 60_000))");
  it.each([
    ["throws later", `setTimeout(() => { throw new Error("later\\non"); }, 10); ${LATE}`, "later on"],
    ["leaves a promise rejected", `Promise.reject(new Error("alone")); ${LATE}`, "alone"],
    [
      "throws what has no words",
      `setTimeout(() => { throw Object.create(null); }, 10); ${LATE}`,
      "an error without words",
    ],
  ])("that %s is told in one line", async (_name, source, words) => {
    const { code, stderr, rows } = await doctor(source);
    expect([code, rows]).toEqual([1, []]);
    expect(stderr).toMatch(new RegExp(`^\\S+ fails where nobody waits for it: ${words}\\n$`));
  });
});

describe("what a module or a setting says", () => {
  const SECRET = "hunter2-hunter2";

  it.each([
    `throw new Error("boom \\u001b[2J https://user:${SECRET}@h/");`,
    `export const paywall = { ready: async () => { throw new Error("redis://user:${SECRET}@h \\u001b[2J"); } };`,
    `export const options = new Proxy({}, { ownKeys() { throw new Error("//u:${SECRET}@h \\u001b[2J"); } });`,
  ])("reaches no terminal with its passwords and escapes: %#", async (source) => {
    const { code, stdout, stderr } = await run(["doctor", write(source)]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain(SECRET);
    expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it.each(["null", "{ toString() { throw 1; } }", "Object.create(null)"])(
    "is told where it throws %s",
    async (thrown) => {
      const { code, stderr } = await run(["doctor", write(`throw ${thrown};`)]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/ cannot be loaded: (?:null|an error without words)\n$/),
      ]);
    },
  );

  it("is not repeated where a public URL has a query", async () => {
    const env = { TOLLGATE_PAY_TO: `0x${"11".repeat(20)}`, TOLLGATE_NETWORKS: "base-sepolia" };
    const url = `https://shop.example/?key=${SECRET}`;
    const asked = [
      run(["doctor", "--seller"], { env: { ...env, TOLLGATE_PUBLIC_URL: url } }),
      run(["doctor", write(`export const options = ${JSON.stringify({ publicUrl: url })};`)], { env }),
      run(["doctor", "--gateway"], { env: { ...env, TOLLGATE_PUBLIC_URL: url } }),
    ];
    for (const { code, stdout, stderr } of await Promise.all(asked)) {
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/publicUrl|TOLLGATE_PUBLIC_URL/);
      expect(stderr).not.toContain(SECRET);
    }
  });

  it("has neither user nor password in a URL of any scheme", () => {
    const told = hideKeys("redis://:a@b, https://u:p%40w@h/x?y, postgres://u:p@ss@[::1]:5432/db, file:///a/@b/c");
    expect(told).toBe(
      "redis://(not shown)@b, https://(not shown)@h/x?y, postgres://(not shown)@[::1]:5432/db, file:///a/@b/c",
    );
  });
});
