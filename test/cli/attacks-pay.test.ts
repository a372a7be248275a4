// `tollgate pay` under attack by what a seller answers: bombs and odd JSON in what was paid for, the key that guards the goods, and a
// file that somebody else has filled meanwhile. No chain: the seller is a script.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asks, goods, type Script, useSellers } from "../client/scripted-seller.js";
import { ownFolder, run } from "./cli.js";

const openSeller = useSellers();

/** Runs `tollgate pay` with a key that holds nothing: a script takes every proof. */
async function payAt(script: Script, argv: (folder: string) => readonly string[]) {
  const seller = await openSeller(script);
  const { folder } = ownFolder();
  const env = { TOLLGATE_WALLET_KEY: `0x${"5".repeat(64)}`, XDG_STATE_HOME: join(folder, "state") };
  return { seller, folder, ...(await run(["pay", seller.url, "--yes", ...argv(folder)], { env })) };
}

const sells =
  (body: string): Script =>
  ({ proof }) => {
    const answer = goods(body);
    return proof === undefined
      ? asks()
      : { ...answer, headers: { ...answer.headers, "Content-Type": "application/json" } };
  };
const nested = (depth: number, inner: string) => "[".repeat(depth) + inner + "]".repeat(depth);

describe("goods in JSON that are printed with --json", () => {
  it.each([
    ["digits that no number holds", '{"id": 12345678901234567890, "n": 1.10, "id": 2}'],
    ["more brackets than a stack holds", nested(20_000, "")],
    ["many values deep inside", nested(500, Array.from({ length: 20_000 }, () => 0).join(","))],
  ])("come as the seller wrote them: %s", async (_name, body) => {
    const { code, stdout, stderr } = await payAt(sells(body), () => ["--json"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Paid 0\.01 USDC/)]);
    expect(stdout).toContain(`"body": ${body}\n}`);
    expect(stdout.length).toBeLessThan(body.length + 2_000);
  });

  it("hold nothing that a terminal obeys, and mean the same", async () => {
    const body = '{"a":"x\u009b2J\u202e\u{e0001}",\r\n"b":[1,\r2]}';
    const { code, stdout } = await payAt(sells(body), () => ["--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { status: 200, body: JSON.parse(body) }]);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  });

  it("are text where they are no JSON, beside an error where it failed", async () => {
    const script: Script = ({ proof }) => (proof === undefined ? asks() : { status: 500, body: '{"a":' });
    const { code, stdout } = await payAt(script, () => ["--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([5, { status: 500, body: '{"a":', error: { exitCode: 5 } }]);
  });
});

describe("the retry key, with which a paid answer is collected", () => {
  it("is printed nowhere", async () => {
    const { seller, code, stdout, stderr } = await payAt(sells("{}"), () => ["--json"]);
    const key = String(seller.paid[0]?.headers["idempotency-key"]);
    expect([code, key]).toEqual([0, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(stdout + stderr).not.toContain(key);
  });
});

describe("a file for --output", () => {
  it("is taken away after a failure only where it stayed empty", async () => {
    const filled = ownFolder().folder;
    const script: Script = () => {
      writeFileSync(join(filled, "goods"), "the goods of another run");
      return { status: 402 };
    };
    expect((await payAt(script, () => ["-o", join(filled, "goods")])).code).toBe(3);
    expect(readFileSync(join(filled, "goods"), "utf8")).toBe("the goods of another run");
    const { folder } = await payAt(
      () => ({ status: 402 }),
      (own) => ["-o", join(own, "goods")],
    );
    expect(existsSync(join(folder, "goods"))).toBe(false);
  });
});

it.skipIf(process.platform === "win32")(
  "a folder of memories that others can write to stops every payment",
  async () => {
    const seller = await openSeller(sells("{}"));
    const { folder } = ownFolder();
    mkdirSync(join(folder, "tollgate"));
    chmodSync(join(folder, "tollgate"), 0o777);
    const env = { TOLLGATE_WALLET_KEY: `0x${"5".repeat(64)}`, XDG_STATE_HOME: folder };
    const { code, stderr } = await run(["pay", seller.url, "--yes"], { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/other users can write there/)]);
    expect(seller.paid).toEqual([]);
  },
);
