import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { NATIVE } from "../../../src/requirement.js";
import { createTransfers, newSecret, TOKEN, type Transfers } from "./transfers.js";
import { fault } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

describe("a transaction shown as a payment", () => {
  it.each([
    ["native currency", NATIVE],
    ["a token", TOKEN],
  ])("is known by its sender and nonce, by its bytes as by its hash: %s", async (_, asset) => {
    const account = await world.buyer();
    const { reference } = await newSecret();
    const signed = await world.sign(account, world.requirement(asset), { reference });
    const before = world.rpc.count();
    const identity = await world.identify(signed.base64);
    expect(identity).toEqual({
      ok: true,
      key: `${account.address.toLowerCase()}/0`,
      canonical: signed.hash,
      payer: account.address,
      asset,
      transaction: signed.base64,
    });
    expect(world.rpc.count()).toBe(before);
    await world.broadcast(signed);
    expect(await world.identify(signed.hash)).toEqual(identity);
    expect(await world.identify(signed.hash.toUpperCase().replace("X", "x"))).toEqual(identity);
  });

  it("has the same key where it moves something else with the same nonce, and another canonical form", async () => {
    const account = await world.buyer();
    const requirement = world.requirement();
    const [one, two] = [
      await world.identify((await world.sign(account, requirement)).base64),
      await world.identify((await world.sign(account, requirement, { data: "0x1234" })).base64),
    ];
    if (!one.ok || !two.ok) throw new Error("both are transactions");
    expect(two.key).toBe(one.key);
    expect(two.canonical).not.toBe(one.canonical);
    expect(two.asset).toBeUndefined();
  });

  it("is not seen where the chain does not know the hash", async () => {
    const hash: Hex = `0x${"12".repeat(32)}`;
    expect(await world.identify(hash)).toMatchObject({ ok: false, code: "payment_not_seen" });
  });

  it("is malformed where it is no base64 of its one spelling, or no transaction", async () => {
    const { base64 } = await world.sign(await world.buyer(), world.requirement());
    const wrong = [
      "AAAA",
      "A",
      `${base64}=`,
      base64.replace(/=+$/, "").slice(0, -1),
      Buffer.from("{}").toString("base64"),
    ];
    for (const text of wrong) {
      expect(await world.identify(text), text).toMatchObject({ ok: false, code: "payment_malformed" });
    }
  });

  it("is believed of the node only where what it tells has the hash", async () => {
    const signed = await world.sign(await world.buyer(), world.requirement());
    await world.broadcast(signed);
    const lies = [
      { value: "0x1" },
      { to: world.sandbox.settler.address },
      { input: `0x${"00".repeat(32)}` },
      { chainId: "0x1" },
      { hash: `0x${"34".repeat(32)}` },
      { r: "0x1" },
      { nonce: "0x" },
      { accessList: undefined },
    ];
    for (const lie of lies) {
      world.rpc.script(
        "eth_getTransactionByHash",
        fault.twist((truth) => ({ ...(truth as object), ...lie })),
      );
      const identity = await world.identify(signed.hash);
      expect(identity, JSON.stringify(lie)).toMatchObject({ ok: false, code: "receiver_bad_response" });
    }
    world.rpc.script("eth_chainId", fault.resetBefore());
    expect(await world.identify(signed.hash)).toMatchObject({ ok: false, code: "receiver_unreachable" });
    expect(await world.identify(signed.hash)).toMatchObject({ ok: true });
  });

  it("is refused by name where the chain knows it as another type, or with an access list", async () => {
    const [from] = z.array(z.string()).parse(await world.sandbox.chain.rpc("eth_accounts"));
    const send = async (parts: object): Promise<string> => {
      const transaction = { from, to: world.sandbox.seller, value: "0x1", ...parts };
      return z.string().parse(await world.sandbox.chain.rpc("eth_sendTransaction", [transaction]));
    };
    const accessList = [{ address: world.sandbox.seller, storageKeys: [] }];
    const cases = [
      [{ gasPrice: "0x77359400" }, "a legacy transaction"],
      [{ gasPrice: "0x77359400", accessList }, "type 1 (EIP-2930)"],
      [{ accessList, maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x0" }, "an access list"],
      [{ to: undefined, data: "0x00" }, "the creation of a contract"],
    ] as const;
    for (const [parts, got] of cases) {
      const identity = await world.identify(await send(parts));
      expect(identity).toMatchObject({ ok: false, code: "payment_rejected", got });
    }
  });
});
