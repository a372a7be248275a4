// `tollgate pay` buys from real shops on both chains: the body goes out unchanged, one payment is made, and the exit code says what
// became of the money.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { freePort } from "../support/process.js";
import { openLine, openTown, type Shop, type Town } from "./paying.js";

let town: Town;
let shop: Shop;
beforeAll(async () => {
  town = await openTown();
  shop = await openShop();
  await outliveFirstSecond(town.sol);
});
afterAll(() => town?.close());

async function openShop(description?: string): Promise<Shop> {
  const opened = await town.openShop(description);
  afterAll(() => opened.close());
  return opened;
}

/** A shop of the test's own, to count its debits. */
async function ownShop(description?: string): Promise<Shop> {
  const opened = await town.openShop(description);
  onTestFinished(() => opened.close());
  return opened;
}

describe("a purchase", () => {
  it.each([
    [
      "USDC on EVM",
      "evm",
      "/report",
      "USDC",
      10_000n,
      [],
      /^Paid 0\.01 USDC on base-sepolia to 0x\w{40}, transaction 0x[0-9a-f]{64}\n$/,
    ],
    ["ETH", "evm", "/ether", "ETH", 10n ** 15n, ["--max", "0.001 ETH"], /^Paid 0\.001 ETH on base-sepolia/],
    [
      "USDC on Solana",
      "sol",
      "/solana",
      "USDC on Solana",
      10_000n,
      [],
      /^Paid 0\.01 USDC on solana-devnet to \w{32,44}, transaction \w{80,90}\n$/,
    ],
    ["SOL", "sol", "/sol", "SOL", 2_000_000n, ["--max", "0.002 SOL"], /^Paid 0\.002 SOL on solana-devnet/],
  ] as const)(
    "in %s: the body, one debit, a receipt line, exit code 0",
    async (_name, family, path, asset, amount, more, receipt) => {
      const buyer = await town.newBuyer(family);
      const before = (await shop.debits(asset)).length;
      const { code, stdout, stderr } = await buyer.pay([`${shop.origin}${path}`, "--yes", ...more]);
      expect(stderr).toMatch(receipt);
      expect([code, stdout]).toEqual([0, "the goods\n"]);
      expect((await shop.debits(asset)).slice(before)).toEqual([amount]);
    },
  );

  it("at a seller of version 1, and with one key for each family", async () => {
    const own = await ownShop();
    const line = await openLine(own);
    onTestFinished(() => line.close());
    line.v1 = true;
    const [evm, sol] = await Promise.all([town.newBuyer("evm"), town.newBuyer("sol")]);
    const env = { TOLLGATE_WALLET_KEY: `${evm.key},${sol.key}` };
    for (const path of ["/report", "/solana"]) {
      expect(await evm.pay([line.origin + path, "-y"], { env })).toMatchObject({ code: 0, stdout: "the goods\n" });
    }
    expect([await own.debits(), await own.debits("USDC on Solana")]).toEqual([[10_000n], [10_000n]]);
  });

  it("sends method, headers and body unchanged on the paid try, and a body of JSON as JSON", async () => {
    const own = await ownShop();
    const buyer = await town.newBuyer();
    const argv = ["-d", '{"text":"héllo"}', "-H", "X-Order: 7", "-H", "Accept: text/plain", "--yes"];
    const { code, stdout } = await buyer.pay([`${own.origin}/report?q=1`, ...argv]);
    expect([code, stdout]).toEqual([0, 'the goods for {"text":"héllo"}\n']);
    expect(own.runs).toHaveLength(1);
    expect(own.runs[0]?.headers).toMatchObject({
      "x-order": "7",
      accept: "text/plain",
      "content-type": "application/json",
    });
    const piped = await buyer.pay([`${own.origin}/report`, "-X", "PUT", "--data", "@-", "--yes"], { input: "a=1&b=2" });
    expect(piped.stdout).toBe("the goods for a=1&b=2\n");
  });

  it("that costs nothing is curl: no question, no receipt, no state of a payment", async () => {
    const buyer = await town.newBuyer();
    expect(await buyer.pay([`${shop.origin}/free`])).toEqual({ code: 0, stdout: "the goods\n", stderr: "" });
    const { stdout } = await buyer.pay([`${shop.origin}/free`, "-i"]);
    expect(stdout).toMatch(/^HTTP 200 OK\r\n(?:[\w-]+: .*\r\n)+\r\nthe goods\n$/);
  });

  it("as JSON for programs: { status, receipt, body }", async () => {
    const buyer = await town.newBuyer();
    const json = async (path: string) => JSON.parse((await buyer.pay([shop.origin + path, "--json", "--yes"])).stdout);
    const bought = await json("/json");
    expect(bought).toMatchObject({ status: 200, body: { goods: [1, 2] } });
    expect(bought.receipt).toMatchObject({
      price: "0.01 USDC",
      amount: "10000",
      network: "eip155:84532",
      status: "settled",
      served: true,
      paidEarlier: false,
    });
    expect(bought.receipt.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await json("/report")).toMatchObject({ status: 200, body: "the goods\n" });
    const { body, bodyEncoding } = await json("/binary");
    expect([bodyEncoding, Buffer.from(body, "base64").length]).toEqual(["base64", 1_048_576]);
    expect(await json("/free")).toEqual({ status: 200, receipt: null, body: "the goods\n" });
  });
});

describe("the limits", () => {
  it("a price above --max is not paid, and neither is native currency under a cap in dollars: exit code 3", async () => {
    const own = await ownShop();
    const buyer = await town.newBuyer();
    const dear = await buyer.pay([`${own.origin}/dear`, "--yes"]);
    expect(dear.code).toBe(3);
    expect(dear.stderr).toMatch(/The price is above what one request may cost \(.*\$0\.10.*\)/);
    expect(dear.stderr).toMatch(/Say a higher --max if the price is right\.\n$/);
    expect((await buyer.pay([`${own.origin}/report`, "--yes", "--max", "0.009999"])).code).toBe(3);
    const ether = await buyer.pay([`${own.origin}/ether`, "--yes", "--max", "$10"]);
    expect(ether.code).toBe(3);
    expect(await own.debits()).toEqual([]);
    expect(await own.debits("ETH")).toEqual([]);
    expect((await buyer.pay([`${own.origin}/dear`, "--yes", "--max", "1"])).code).toBe(0);
  });

  it("of a day hold over runs", async () => {
    const own = await ownShop();
    const buyer = await town.newBuyer();
    const codes: number[] = [];
    for (let i = 0; i < 3; i++)
      codes.push((await buyer.pay([`${own.origin}/report?${i}`, "-y", "--max", "0.01", "--per-day", "0.02"])).code);
    expect(codes).toEqual([0, 0, 3]);
    expect(await own.debits()).toEqual([10_000n, 10_000n]);
  });

  it("a network that is not named is not paid on", async () => {
    const buyer = await town.newBuyer();
    const { code, stderr } = await buyer.pay([`${shop.origin}/report`, "-y", "--network", "solana-devnet"]);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/base-sepolia/)]);
  });

  it("--quote says what it would cost and pays nothing, also without a wallet", async () => {
    const own = await ownShop("Fresh weather");
    const buyer = await town.newBuyer();
    const table = await buyer.pay([`${own.origin}/report`, "--quote"], { terminal: true });
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^\* +0\.01 USDC +base-sepolia +0x\w{40} +can be paid$/m);
    expect(table.stdout).toMatch(/It says: "Fresh weather"/);
    const dear = await buyer.pay([`${own.origin}/dear`, "--quote"]);
    expect([dear.code, JSON.parse(dear.stdout)]).toMatchObject([3, { free: false, error: { code: "over_cap" } }]);
    const bare = await buyer.pay([`${own.origin}/report`, "--quote"], { env: { TOLLGATE_WALLET_KEY: "" } });
    expect([bare.code, bare.stderr]).toEqual([3, expect.stringMatching(/there is no wallet: set TOLLGATE_WALLET_KEY/)]);
    expect(JSON.parse((await buyer.pay([`${own.origin}/free`, "--quote"])).stdout)).toMatchObject({
      free: true,
      status: 200,
    });
    expect(await own.debits()).toEqual([]);
  });
});

describe("what goes wrong", () => {
  it("before anything is paid: nobody answers (1), a page that is not there (6)", async () => {
    const buyer = await town.newBuyer();
    const dead = await buyer.pay([`http://127.0.0.1:${await freePort()}/x`, "-y"]);
    expect([dead.code, dead.stderr]).toEqual([
      1,
      expect.stringMatching(/^127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/),
    ]);
    const missing = await buyer.pay([`${shop.origin}/missing`, "-y"]);
    expect(missing).toEqual({
      code: 6,
      stdout: "no such page",
      stderr: "The seller answered 404, and nothing was paid.\n",
    });
  });

  it("a handler that fails is told from one that fails after the money was taken: 5 and 4", async () => {
    const own = await ownShop();
    const buyer = await town.newBuyer();
    const failed = await buyer.pay([`${own.origin}/fails`, "-y", "--json"]);
    expect(failed.code).toBe(5);
    expect(JSON.parse(failed.stdout)).toMatchObject({ status: 500, error: { exitCode: 5 } });
    expect(await own.debits()).toEqual([]);
    const charged = await buyer.pay([`${own.origin}/charged`, "-y"]);
    expect([charged.code, await own.debits()]).toEqual([4, [10_000n]]);
    expect(charged.stderr).toMatch(/Run the same command again: it sends the same payment/);
    expect((await buyer.pay([`${own.origin}/charged`, "-y"])).code).toBe(4);
    expect(await own.debits()).toEqual([10_000n]);
  });

  it("an answer that is lost: exit code 5, and the same command collects it with one debit", async () => {
    const own = await ownShop();
    const line = await openLine(own);
    onTestFinished(() => line.close());
    const buyer = await town.newBuyer();
    line.paid = ["lose", "dead", "dead", "dead"];
    const lost = await buyer.pay([`${line.origin}/report`, "--yes"]);
    expect([lost.code, lost.stdout]).toEqual([5, ""]);
    expect(lost.stderr).toMatch(/Run the same command again: it sends the same payment, and nothing is paid anew\.\n$/);
    // No --yes: what is paid already needs no approval.
    const again = await buyer.pay([`${line.origin}/report`]);
    expect([again.code, again.stdout]).toEqual([0, "the goods\n"]);
    expect(again.stderr).toMatch(/^Paid by an earlier run, and not again: 0\.01 USDC/);
    expect([await own.debits(), own.runs.length]).toEqual([[10_000n], 1]);
    // What was collected is done with: another request is another purchase.
    expect((await buyer.pay([`${line.origin}/report`, "--yes"])).stderr).toMatch(/^Paid 0\.01 USDC/);
    expect(await own.debits()).toEqual([10_000n, 10_000n]);
  });

  it("an answer that breaks off in the middle: exit code 4, and the same command collects it with one debit", async () => {
    const own = await ownShop();
    const line = await openLine(own);
    onTestFinished(() => line.close());
    const buyer = await town.newBuyer();
    line.paid = ["cut"];
    const cut = await buyer.pay([`${line.origin}/report`, "--yes"]);
    expect([cut.code, "the goods\n".startsWith(cut.stdout)]).toEqual([4, true]);
    expect(cut.stderr).toMatch(/The answer broke off: .*\. Run the same command again/);
    const again = await buyer.pay([`${line.origin}/report`, "--json"]);
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { body: "the goods\n", receipt: { paidEarlier: true } },
    ]);
    expect(await own.debits()).toEqual([10_000n]);
  });
});

it("keeps what it remembers for its user alone", async () => {
  const buyer = await town.newBuyer();
  expect((await buyer.pay([`${shop.origin}/report`, "-y"])).code).toBe(0);
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect([modeOf(buyer.folder), modeOf(join(buyer.folder, "spending.json"))]).toEqual(["700", "600"]);
  expect(readFileSync(join(buyer.folder, "spending.json"), "utf8")).not.toContain(buyer.key.slice(2, 30));
});
