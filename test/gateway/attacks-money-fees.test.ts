// A thief who has a key of few rights and gives a wallet's native currency to whoever mines its payments: what a caller adds to
// the network's fee counts against the wallet's limits as the amount does.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { faultOf, openSending } from "./sending.js";

let evm: Sandbox;
beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(() => evm.close());

const USDC = 10n ** 6n;
const CENT = 10n ** 16n;

/** A wallet with one ether, and limits of its own. */
async function open(native: { readonly perPayment: bigint; readonly perDay: bigint } | undefined) {
  const world = await openSending({ evm });
  const network = "eip155:84532";
  const limits = [
    { network, asset: evm.token.address, perPayment: USDC, perDay: USDC },
    ...(native ? [{ network, asset: "native", ...native }] : []),
  ];
  const wallet = await world.newWallet("evm", { limits, native: 10n ** 18n });
  const own = wallet.address as `0x${string}`;
  const payee = await world.newPayee("evm");
  const send = async (more: object) =>
    faultOf(await world.send({ walletAddress: own, recipientAddress: payee, amount: 0.001, ...more }));
  return { world, own, send };
}

const byToken = { asset: "USDC", priorityFee: 0.01 };

describe("a priority fee", () => {
  it("is not paid from a wallet that may send no native currency", async () => {
    const { own, send } = await open(undefined);
    const before = await evm.native.balanceOf(own);
    expect(await send(byToken)).toBe("FORBIDDEN priorityFee");
    expect(await evm.native.balanceOf(own)).toBe(before);
    expect(await send({ asset: "USDC" })).toBe("ok");
  });

  it("of a token payment counts against the day of the native currency, to the last unit", async () => {
    const { send } = await open({ perPayment: CENT, perDay: 2n * CENT + CENT / 2n });
    expect([await send(byToken), await send(byToken), await send(byToken)]).toEqual([
      "ok",
      "ok",
      "FORBIDDEN priorityFee",
    ]);
    expect(await send({ asset: "USDC", priorityFee: 0.005 })).toBe("ok");
    expect(await send({ asset: "USDC", priorityFee: 0.00001 })).toBe("FORBIDDEN priorityFee");
  });

  it("of a payment in the native currency counts with its amount", async () => {
    const { send } = await open({ perPayment: CENT, perDay: 2n * CENT });
    expect(await send({ amount: 0.005, priorityFee: 0.006 })).toBe("FORBIDDEN amount");
    expect(await send({ amount: 0.005, priorityFee: 0.005 })).toBe("ok");
    expect(await send({ amount: 0.01 })).toBe("ok");
    expect(await send({ amount: 0.001 })).toBe("FORBIDDEN amount");
  });

  it("is free again with a payment that never left", async () => {
    const { world, own, send } = await open({ perPayment: CENT, perDay: CENT });
    const refused = await world.start((parts) => {
      const network = parts.networks.defaultFor("evm", "test");
      if (!network) throw new Error("there is no network");
      const broadcast = async () => ({ outcome: "refused", message: "no" }) as const;
      const deaf = { ...network, transfers: { ...network.transfers, broadcast } };
      return { ...parts, networks: { ...parts.networks, find: () => deaf, defaultFor: () => deaf } };
    });
    const asked = { walletAddress: own, recipientAddress: await world.newPayee("evm"), amount: 0.001, ...byToken };
    expect(faultOf(await refused.send(asked))).toBe("UNAVAILABLE");
    expect([await send(byToken), await send(byToken)]).toEqual(["ok", "FORBIDDEN priorityFee"]);
  });
});
