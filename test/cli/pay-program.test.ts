// `tollgate pay` as a program of its own: bytes unchanged through a pipe and into a file, signals, and readers that leave.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { buildProgram, ownFolder } from "./cli.js";
import { BINARY, type Buyer, openLine, openTown, type Shop, type Town } from "./paying.js";

let town: Town;
let program: string;
beforeAll(async () => {
  [town, program] = await Promise.all([openTown(), buildProgram()]);
});
afterAll(() => town?.close());

async function ownShop(): Promise<Shop> {
  const opened = await town.openShop();
  onTestFinished(() => opened.close());
  return opened;
}

function start({ env }: Buyer, ...argv: string[]) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, "pay", ...argv], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const stderr = buffer(child.stderr).then(String);
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, stderr, ended };
}

it("a megabyte of all bytes goes through a pipe, and into a file, unchanged", async () => {
  const [shop, buyer] = [await ownShop(), await town.newBuyer()];
  const piped = start(buyer, `${shop.origin}/binary`, "--yes");
  const [bytes, code] = await Promise.all([buffer(piped.child.stdout), piped.ended]);
  expect([code, bytes.equals(BINARY)]).toEqual([0, true]);
  const file = join(ownFolder().folder, "goods.zip");
  const filed = start(buyer, `${shop.origin}/binary?2`, "--yes", "-o", file);
  const [shown, filedCode] = await Promise.all([buffer(filed.child.stdout), filed.ended]);
  expect([filedCode, readFileSync(file).equals(BINARY), shown.length]).toEqual([0, true, 0]);
});

it("a file that cannot be written is found before anything is paid, and one that stays empty is taken away", async () => {
  const [shop, buyer] = [await ownShop(), await town.newBuyer()];
  const { folder } = ownFolder();
  const nowhere = await buyer.pay([`${shop.origin}/report`, "-y", "-o", join(folder, "no/such/file")]);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/^--output .* cannot be written/)]);
  const file = join(folder, "out");
  expect((await buyer.pay([`${shop.origin}/dear`, "-y", "-o", file])).code).toBe(3);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "earlier, and longer than what comes");
  expect((await buyer.pay([`${shop.origin}/dear`, "-y", "-o", file])).code).toBe(3);
  expect(readFileSync(file, "utf8")).toMatch(/^earlier/);
  expect((await buyer.pay([`${shop.origin}/report`, "-y", "-o", file])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("the goods\n");
  expect(await shop.debits()).toEqual([10_000n]);
});

it.each(["SIGINT", "SIGTERM"] as const)(
  "%s while it waits keeps the payment: exit code 5, and the same command collects",
  async (signal) => {
    const [shop, buyer] = [await ownShop(), await town.newBuyer()];
    const line = await openLine(shop);
    onTestFinished(() => line.close());
    line.paid = ["hang"];
    const stopped = start(buyer, `${line.origin}/report`, "--yes");
    await line.hanging;
    stopped.child.kill(signal);
    expect([await stopped.ended, await stopped.stderr]).toEqual([
      5,
      "Interrupted while a payment is on its way. Run the same command again: it sends the same payment, and nothing is paid anew.\n",
    ]);
    const again = start(buyer, `${line.origin}/report`);
    const [bytes, code] = await Promise.all([buffer(again.child.stdout), again.ended]);
    expect([code, String(bytes), await shop.debits()]).toEqual([0, "the goods\n", [10_000n]]);
  },
);

it("killed while it waits, it has kept the payment all the same", async () => {
  const [shop, buyer] = [await ownShop(), await town.newBuyer()];
  const line = await openLine(shop);
  onTestFinished(() => line.close());
  line.paid = ["hang"];
  const killed = start(buyer, `${line.origin}/report`, "--yes");
  await line.hanging;
  killed.child.kill("SIGKILL");
  expect(await killed.ended).toBe("SIGKILL");
  expect(await buyer.pay([`${line.origin}/report`])).toMatchObject({ code: 0, stdout: "the goods\n" });
  expect(await shop.debits()).toEqual([10_000n]);
});

it("a reader that has seen enough is no failure", async () => {
  const [shop, buyer] = [await ownShop(), await town.newBuyer()];
  const { child, ended, stderr } = start(buyer, `${shop.origin}/binary`, "--yes");
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect([await ended, await stderr]).toEqual([0, expect.stringMatching(/^Paid 0\.01 USDC[^\n]*\n$/)]);
});
