// Goods that break off after they were paid for: the next equal call collects them with the same proof.
import { describe, expect, it } from "vitest";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, receipt, type Script, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
/** Half of what its length promises, and the connection is closed. */
const half = {
  status: 200,
  headers: { "Content-Length": "100", Connection: "close", ...receipt() },
  body: "the first half",
};
const breaksOff = (count: number): Script => sells(...Array(count).fill(half), goods());

describe("a paid answer whose body breaks off", () => {
  it("is collected with the same proof by the next equal call, and paid once", async () => {
    const shop = await seller(breaksOff(2));
    const { pay, wallet, counted, payments } = flowBuyer();
    for (let at = 0; at < 2; at += 1) {
      const broken = await pay(shop.url);
      expect(broken.status).toBe(200);
      await expect(broken.text()).rejects.toThrow();
      expect(await pay.receipts()).toMatchObject([{ status: "settled", served: false }]);
    }
    expect(await (await pay(shop.url)).text()).toBe("the goods");
    expect(wallet.signed).toHaveLength(1);
    expect(new Set(shop.paid.map(({ proof }) => proof)).size).toBe(1);
    expect(await counted()).toBe(10_000);
    expect(payments).toHaveLength(1);
    expect(await pay.receipts()).toMatchObject([{ status: "settled", served: true }]);
  });

  it("is not paid anew by a seller who asks for money again", async () => {
    const shop = await seller(sells(half));
    const { pay, wallet } = flowBuyer();
    await expect((await pay(shop.url)).text()).rejects.toThrow();
    shop.script = () => asks();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "charged_without_goods" });
    expect(wallet.signed).toHaveLength(1);
  });

  it("that the caller gives up himself was served: the next call buys anew", async () => {
    const shop = await seller(sells(goods(), goods()));
    const { pay, wallet } = flowBuyer();
    await (await pay(shop.url)).body?.cancel();
    await (await pay(shop.url)).text();
    expect(wallet.signed).toHaveLength(2);
  });

  it("looks like the seller's own answer", async () => {
    const shop = await seller(sells(goods()));
    const { pay } = flowBuyer();
    const answer = await pay(shop.url);
    expect(answer).toBeInstanceOf(Response);
    expect([answer.url, answer.redirected, answer.type, answer.ok, answer.bodyUsed]).toEqual([
      shop.url,
      false,
      "basic",
      true,
      false,
    ]);
    expect(await answer.clone().text()).toBe("the goods");
    expect(await answer.text()).toBe("the goods");
  });
});
