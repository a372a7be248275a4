// Whom `tollgate pay` pays without asking, whom it asks about, and that neither a seller's words nor a key reach the terminal raw.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { openSeller } from "../client/scripted-seller.js";
import { findProgram } from "../support/service.js";
import { buildProgram } from "./cli.js";
import { openTown, type Shop, type Town } from "./paying.js";

let town: Town;
beforeAll(async () => {
  town = await openTown();
});
afterAll(() => town?.close());

async function ownShop(description?: string): Promise<Shop> {
  const opened = await town.openShop(description);
  onTestFinished(() => opened.close());
  return opened;
}

describe("a host that was never paid", () => {
  it("is not paid where nobody can be asked: exit code 3, and what to do", async () => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    const { code, stdout, stderr } = await buyer.pay([`${shop.origin}/report`]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(
      /not approved \(0\.01 USDC\)\.\nNobody can be asked here, and 127\.0\.0\.1:\d+ was never paid before: say --yes/,
    );
    expect(await shop.debits()).toEqual([]);
    expect(existsSync(join(buyer.folder, "hosts.json"))).toBe(false);
  });

  it("is asked about at a terminal; a yes is remembered for the runs to come, of that host alone", async () => {
    const [shop, other, buyer] = [await ownShop("Weather"), await ownShop(), await town.newBuyer()];
    const first = await buyer.pay([`${shop.origin}/report`], { terminal: true, input: "y\n" });
    expect([first.code, first.stdout]).toEqual([0, "the goods\n"]);
    const { host } = new URL(shop.origin);
    expect(first.stderr).toContain(
      [
        `${host} was never paid from here.`,
        "  It asks    0.01 USDC on base-sepolia",
        `  for        GET ${shop.origin}/report`,
      ].join("\n"),
    );
    expect(first.stderr).toMatch(
      /paid to +0x\w{40}\n {2}it says +"Weather"\nPay, and from now on pay 127\.0\.0\.1:\d+ without asking, up to \$0\.10 a request\? \[y\/N\] /,
    );
    expect((statSync(join(buyer.folder, "hosts.json")).mode & 0o777).toString(8)).toBe("600");
    expect((await buyer.pay([`${shop.origin}/report?2`])).code).toBe(0);
    expect((await buyer.pay([`${other.origin}/report`])).code).toBe(3);
    expect([(await shop.debits()).length, (await other.debits()).length]).toEqual([2, 0]);
  });

  it.each(["n\n", "\n", "maybe\n"])("is not paid after %j, and asked about again", async (input) => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    for (let i = 0; i < 2; i++) {
      const { code, stderr } = await buyer.pay([`${shop.origin}/report`], { terminal: true, input });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/was never paid from here.*Nothing was signed\.\n$/s)]);
    }
    expect(await shop.debits()).toEqual([]);
  });

  it("is paid with --yes, which is not remembered", async () => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    expect((await buyer.pay([`${shop.origin}/report`, "--yes"])).code).toBe(0);
    expect((await buyer.pay([`${shop.origin}/report?2`])).code).toBe(3);
  });

  it("is asked about on a real terminal", async () => {
    const script = findProgram("script");
    if (script === undefined) return;
    const [shop, buyer, program] = [await ownShop(), await town.newBuyer(), await buildProgram()];
    const command = `'${process.execPath}' '${program}' pay ${shop.origin}/report`;
    const { PATH, HOME } = process.env;
    const child = spawn(script, ["-qec", command, "/dev/null"], { env: { PATH, HOME, ...buyer.env, TERM: "dumb" } });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk;
      if (shown.endsWith("[y/N] ")) child.stdin.write("y\n");
    });
    const [code] = await once(child, "close");
    expect([code, shown]).toEqual([
      0,
      expect.stringMatching(
        /was never paid from here.*Signed 0\.01 USDC.*Sending the payment.*Paid 0\.01 USDC.*the goods/s,
      ),
    ]);
    expect(await shop.debits()).toEqual([10_000n]);
  });
});

describe("a hostile seller", () => {
  const EVIL = "\u001b]0;pwned\u0007\u001b[2J\u001b[1A\u202eevil\u009b";
  const isHarmless = (text: string) => expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|[\u202a-\u202e]/u);

  it("whose words hold escape codes gets none of them to the terminal, in the question and in refusals", async () => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    const real = await fetch(`${shop.origin}/report`);
    const challenge = JSON.parse(atob(real.headers.get("payment-required") ?? ""));
    challenge.resource.description = EVIL;
    challenge.error = EVIL;
    challenge.accepts.push({ ...challenge.accepts[0], network: EVIL, payTo: EVIL });
    const headers = { "PAYMENT-REQUIRED": encodeHeader(challenge) };
    const seller = await openSeller(({ proof }) => ({ status: proof === undefined ? 402 : 404, headers, body: EVIL }));
    onTestFinished(() => seller.close());
    const asked = await buyer.pay([seller.url], { terminal: true, input: "n\n" });
    expect(asked.stderr).toContain("evil");
    isHarmless(asked.stderr);
    const refused = await buyer.pay([seller.url, "--max", "0.001"], { terminal: true });
    isHarmless(refused.stderr);
    const failed = await buyer.pay([seller.url, "--yes", "-i"], { terminal: true });
    expect(failed.code).toBe(5);
    isHarmless(failed.stdout.replaceAll("\t", "") + failed.stderr);
    isHarmless((await buyer.pay([seller.url, "--quote"], { terminal: true, env: { NO_COLOR: "1" } })).stdout);
    isHarmless((await buyer.pay([`${seller.url}2`, "--yes", "--json"])).stdout);
  });

  it("whose goods hold them: a pipe gets the bytes, a terminal does not obey them", async () => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    expect((await buyer.pay([`${shop.origin}/evil`, "-y"])).stdout).toBe("a\u001b[2Jb\u0007c\u202ed");
    expect((await buyer.pay([`${shop.origin}/evil?2`, "-y"], { terminal: true })).stdout).toBe("a?[2Jb?c?d\n");
  });

  it("whose answer is no text: a terminal is told where it is kept", async () => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    const { code, stdout, stderr } = await buyer.pay([`${shop.origin}/binary`, "-y"], { terminal: true });
    expect([code, stdout]).toEqual([0, ""]);
    const [, file = ""] = /The answer is no text \(application\/zip\): it is kept in (\S+)\n/.exec(stderr) ?? [];
    expect([readFileSync(file).length, (statSync(file).mode & 0o777).toString(8)]).toEqual([1_048_576, "600"]);
  });
});
