// What is checked at start of an offer in SOL: a payee that can have a key, and a price that can reach it.
import { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TransactionRequirement } from "../../../src/requirement.js";
import { createNativeWorld, emptyWallet, type NativeWorld, RENT } from "./native-world.js";
import { fault } from "./world.js";

let world: NativeWorld;
beforeAll(async () => {
  world = await createNativeWorld();
});
afterAll(() => world.close());

const ready = (changes: Partial<TransactionRequirement> = {}) =>
  world.chain.ready([{ ...world.requirement, ...changes }], AbortSignal.timeout(5_000));
const fresh = () => emptyWallet().publicKey.toBase58();

describe("an offer in SOL is ready", () => {
  it("when its price is what an empty address must hold, or its payee holds that already", async () => {
    expect(await ready({ payTo: fresh(), amount: RENT })).toEqual({ state: "ready" });
    const payTo = fresh();
    world.sandbox.chain.airdrop(payTo, RENT);
    expect(await ready({ payTo, amount: 1n })).toEqual({ state: "ready" });
  });

  it("when its payee is no point of the curve and exists: a vault of a program", async () => {
    const [vault] = PublicKey.findProgramAddressSync([Buffer.from("vault")], new PublicKey(world.sandbox.usdc));
    const payTo = vault.toBase58();
    expect(await ready({ payTo })).toMatchObject({ state: "misconfigured" });
    world.sandbox.chain.airdrop(payTo, RENT);
    expect(await ready({ payTo })).toEqual({ state: "ready" });
  });
});

describe("an offer in SOL stops the start", () => {
  it("when its price is less than an empty payee must get: both values, and the remedy (below rent)", async () => {
    const payTo = fresh();
    const state = await ready({ payTo, amount: RENT - 1n });
    expect(state).toEqual({
      state: "misconfigured",
      problems: [
        {
          check: `price in SOL for ${payTo}`,
          expected: `at least ${RENT} lamports: a SOL transfer to an address that holds nothing must carry at least ${RENT} lamports`,
          got: `${RENT - 1n} lamports`,
          remedy: `send ${RENT} lamports to ${payTo} on ${world.requirement.network} once, or raise the price`,
        },
      ],
    });
  });

  it("when its payee is a token account, no address, or not SOL is asked for", async () => {
    const { sandbox } = world;
    const account = sandbox.chain.mintTo(sandbox.usdc, fresh(), 0n);
    for (const changes of [{ payTo: account }, { payTo: "the seller" }, { asset: sandbox.usdc }]) {
      expect(await ready(changes), Object.keys(changes)[0]).toMatchObject({ state: "misconfigured" });
    }
  });

  it("never because a node cannot be reached", async () => {
    for (const method of ["getMultipleAccounts", "getMinimumBalanceForRentExemption"]) {
      world.rpc.script(method, fault.resetBefore());
      expect(await ready(), method).toMatchObject({ state: "unreachable" });
      expect(await ready()).toMatchObject({ state: "ready" });
    }
  });
});
