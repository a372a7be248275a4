import { describe, expect, it } from "vitest";
import type { Offer } from "../../src/client/offer.js";
import { challengeOf, evm, spl } from "./challenges.js";
import { choose, chosen, wallet } from "./choosing.js";

const onSolana = ({ method }: Offer) => method === "spl" || "only on Solana";
const onEvm = ({ method }: Offer) => method === "eip3009" || "only on EVM";

describe("what the wallets hold", () => {
  it("decides among the offers: the next best one where the best cannot be paid", async () => {
    const challenge = await challengeOf(evm({ amount: "5" }), spl({ amount: "9" }));
    const [poor, rich] = [wallet("0xA", onEvm, () => 4n), wallet("So1", onSolana, () => 9n)];
    expect(await choose(challenge, { wallets: [poor, rich] })).toMatchObject({
      ok: true,
      offer: { index: 1 },
      wallet: { address: "So1" },
    });
    expect(await chosen(challenge, { wallets: [wallet("0xA", onEvm, () => 5n), rich] })).toBe(0);
  });

  it("does not stand in the way where it cannot be known", async () => {
    const challenge = await challengeOf(evm());
    const failing = wallet("0xA", onEvm, () => Promise.reject(new Error("no node")));
    const { balance, ...mute } = wallet("0xA", onEvm);
    for (const one of [failing, mute, wallet("0xA", onEvm, () => undefined)]) {
      expect(await chosen(challenge, { wallets: [one] })).toBe(0);
    }
    expect(balance).toBeTypeOf("function");
  });

  it("is asked of the next wallet where the first has too little for the same offer", async () => {
    const challenge = await challengeOf(evm({ amount: "5" }));
    const wallets = [wallet("0xA", onEvm, () => 4n), wallet("0xB", onEvm, () => 5n)];
    expect(await choose(challenge, { wallets })).toMatchObject({ ok: true, wallet: { address: "0xB" } });
  });

  it("is named with what is needed when it is nowhere enough", async () => {
    const challenge = await challengeOf(spl({ amount: "30000" }), evm({ amount: "20000" }));
    const wallets = [wallet("0xA", onEvm, () => 1_500n), wallet("So1", onSolana, () => 0n)];
    expect(await choose(challenge, { wallets })).toMatchObject({
      ok: false,
      code: "insufficient_funds",
      facts: {
        expected: "0.02 USDC in 0xA on base-sepolia",
        got: "0.0015 USDC",
        offers: [
          "offer 1, 0.03 USDC on solana-devnet: So1 holds 0 USDC",
          "offer 2, 0.02 USDC on base-sepolia: 0xA holds 0.0015 USDC",
        ],
      },
    });
  });

  it("is asked once for each asset, however often the seller names it, and never for what is not payable", async () => {
    const offers = Array.from({ length: 50 }, (_, i) => evm({ amount: String(10 + i) }));
    const one = wallet("0xA", onEvm, () => 1n);
    expect(await chosen(await challengeOf(...offers, evm({ amount: "99999999" })), { wallets: [one] })).toBe(
      "insufficient_funds",
    );
    expect(one.asked).toEqual([0]);
  });

  it("is asked best offer first, and no further than needed", async () => {
    const one = wallet(
      "0xA",
      () => true,
      ({ method }) => (method === "spl" ? 100n : 0n),
    );
    expect(await chosen(await challengeOf(evm({ amount: "9" }), spl({ amount: "8" })), { wallets: [one] })).toBe(1);
    expect(one.asked).toEqual([1]);
  });

  it("is not waited for once the caller has aborted", async () => {
    const caller = new AbortController();
    const one = wallet("0xA", onEvm, () => {
      caller.abort(new Error("enough"));
      return 1n;
    });
    await expect(choose(await challengeOf(evm()), { wallets: [one], signal: caller.signal })).rejects.toThrow("enough");
    await expect(choose(await challengeOf(evm()), { wallets: [one], signal: caller.signal })).rejects.toThrow("enough");
    expect(one.asked).toEqual([0]);
  });
});
