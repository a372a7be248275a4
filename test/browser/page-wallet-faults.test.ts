// Wallets that answer with anything, too late, under another name or on another network, and people who take their time: the page
// stays usable, and one price is paid once.
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { storeOfAge } from "../e2e/world.js";
import { reasonToSkip } from "./chromium.js";
import { newPerson, PRICE, SEND, SIGN, useChainAndBrowser } from "./person.js";

const skipped = reasonToSkip();
const world = useChainAndBrowser();
const NATIVE = { table: { "/*": "0.0002 ETH" } } as const;

describe.skipIf(skipped)("a wallet at the page", { timeout: 60_000 }, () => {
  it.each([
    ["no accounts", "eth_requestAccounts", null, "Your wallet shows no account"],
    ["an account that is none", "eth_requestAccounts", [7], "Your wallet shows no account"],
    ["no signature", SIGN, { signature: "0x" }, "something else than a signature"],
    ["the signature of nobody", SIGN, `0x${"11".repeat(64)}1b`, "Nothing was taken."],
  ])("that answers with %s is told so, and may try again", async (_, method, answer, words) => {
    const me = await newPerson(world);
    me.wallet.answers.set(method, () => answer);
    await me.open("/html");
    await me.pay();
    await expect.poll(me.at.status).toContain(words);
    expect([await me.debits(), me.shop.runs]).toEqual([[], []]);
    me.wallet.answers.clear();
    await me.pay();
    await me.bought();
    expect(await me.debits()).toEqual([PRICE]);
  });

  it("that changes its network just before a transfer sends nothing there", async () => {
    const me = await newPerson(world, NATIVE);
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    me.wallet.before = (method) => {
      if (method === SEND) me.wallet.chainId = 1;
    };
    await me.open("/html");
    await me.pay();
    await expect.poll(me.at.status).toContain("invalid chain id");
    expect(await world.sandbox.native.transfers({ from: me.buyer.address })).toEqual([]);
  });

  it("that does not say which transfer it sent is looked for on the chain, and pays once", async () => {
    const me = await newPerson(world, NATIVE);
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    await me.at.page.addInitScript(`addEventListener("eip6963:announceProvider", ({ detail: { provider } }) => {
      const { request } = provider;
      provider.request = async (call) => {
        const answer = await request(call);
        return call.method === "${SEND}" ? null : answer;
      };
    })`);
    await me.open("/html");
    await me.pay();
    await me.at.button(/^Look for it/).click();
    await me.bought();
    const sent = await world.sandbox.native.transfers({ from: me.buyer.address });
    expect([me.count(SEND), sent.length, me.shop.runs.length]).toEqual([1, 1, 1]);
  });

  it("that replaced its transfer by a dearer one is found by the mark of the transfer, and sends no other", async () => {
    const me = await newPerson(world, NATIVE);
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    await me.at.page.addInitScript(`addEventListener("eip6963:announceProvider", ({ detail: { provider } }) => {
      const { request } = provider;
      provider.request = async (call) => {
        const answer = await request(call);
        return call.method === "${SEND}" ? "0x${"22".repeat(32)}" : answer;
      };
    })`);
    await me.open("/html");
    await me.pay();
    await me.bought();
    expect([me.count(SEND), me.shop.runs.length]).toEqual([1, 1]);
  });

  it("whose transfer is too old for the seller is told so at once, and the transfer is kept", async () => {
    const me = await newPerson(world, { ...NATIVE, options: { store: storeOfAge(-60_000) } });
    let shown = 0;
    me.shop.door = ({ headers }) => {
      if (headers.cookie?.includes("tollgate-payment-")) shown += 1;
      return false;
    };
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    await me.open("/html");
    await me.pay();
    await expect.poll(me.at.status).toContain("It buys nothing here.");
    expect(await me.at.status()).not.toContain("is sent again");
    await me.at.button(/^Look for it/).waitFor();
    expect([shown, await me.at.button("Pay anew").count(), me.count(SEND)]).toEqual([1, 1, 1]);
  });

  it("that is slow to change its network is waited for", async () => {
    const me = await newPerson(world);
    let questions = 0;
    me.wallet.chainId = 1;
    me.wallet.answers.set("wallet_switchEthereumChain", () => null);
    me.wallet.answers.set("eth_chainId", () => {
      questions += 1;
      return questions > 3 ? "0x14a34" : "0x1";
    });
    await me.open("/html");
    await me.pay();
    await me.bought();
    expect(await me.debits()).toEqual([PRICE]);
  });

  it("of a person who takes 50 seconds to connect and 30 to sign is in time", async () => {
    const me = await newPerson(world);
    const now = Date.now;
    let late = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + late);
    onTestFinished(() => clock.mockRestore());
    me.wallet.before = async (method) => {
      if (method === "eth_requestAccounts") {
        late += 50_000;
        await me.at.page.evaluate(
          "{ const now = performance.now.bind(performance); performance.now = () => now() + 50_000 }",
        );
      }
      if (method === SIGN) late += 30_000;
    };
    await me.open("/html");
    await me.pay();
    await me.bought();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });

  it("that signs with another account than it named takes nothing from either", async () => {
    const me = await newPerson(world);
    const other = await world.sandbox.newBuyer();
    me.wallet.answers.set("eth_requestAccounts", () => [other.address]);
    await me.open("/html");
    await me.pay();
    await expect.poll(me.at.status).toContain("Nothing was taken.");
    expect([await me.debits(), await world.sandbox.token.transfers({ from: other.address })]).toEqual([[], []]);
    expect([me.shop.runs, await me.at.button(/^Pay with/).count()]).toEqual([[], 1]);
  });

  it("whose answer to a page that was reloaded comes late pays nothing, and the new page pays once", async () => {
    const me = await newPerson(world);
    let release = () => {};
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    me.wallet.before = (method) => (method === SIGN ? late : undefined);
    await me.open("/html");
    await me.pay();
    await expect.poll(() => me.count(SIGN)).toBe(1);
    await me.at.page.reload();
    await me.at.button(/^Pay with/).waitFor();
    release();
    expect([await me.debits(), me.shop.runs]).toEqual([[], []]);
    await me.pay();
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([2, [PRICE], 1]);
  });
});
