// How old a public transfer of SOL is, where the clocks of server and chain disagree: neither may make it younger.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { minedBy } from "../../../src/chains/solana/native-time.js";
import { secretOf } from "./native-payment.js";
import { createNativeWorld, type NativeWorld, RENT } from "./native-world.js";
import { fault, verifyContext } from "./world.js";

let world: NativeWorld;
beforeAll(async () => {
  world = await createNativeWorld();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterAll(() => world.close());
afterEach(() => {
  world.rpc.clear();
  setTime(0);
});

/** The chain's clock, in seconds from this server's. */
function setTime(skew: number): void {
  world.sandbox.chain.setTime(Math.floor(Date.now() / 1000) + skew);
  world.sandbox.chain.advanceSlots(1);
}

async function pay(label: string) {
  const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: label });
  await world.broadcast(signed);
  const [at, proof] = [Date.now(), await world.prove(signed, { secret: secretOf(label).secret })];
  return { at, verify: () => world.chain.verify(proof, verifyContext()) };
}

it.each([
  ["a minute ahead", 60],
  ["a minute behind", -60],
  ["right", 0],
])("a transfer counts as mined no later than it was where the chain's clock is %s", async (name, skew) => {
  setTime(skew);
  const { at, verify } = await pay(name);
  const verdict = await verify();
  expect(verdict).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
  const minedAt = verdict.outcome === "valid" ? (verdict.minedAt ?? 0) : 0;
  expect(minedAt).toBeLessThanOrEqual(at);
  expect(minedAt).toBeGreaterThan(at - 75_000);
});

it("a transfer is too old after 15 minutes of the chain, though this server's clock has not reached them", async () => {
  setTime(60);
  const { verify } = await pay("aged");
  setTime(60 + 14 * 60);
  expect(await verify()).toMatchObject({ outcome: "valid" });
  setTime(60 + 15 * 60 + 5);
  expect(await verify()).toMatchObject({ outcome: "invalid", code: "payment_too_old" });
});

it("a node that tells no time, or is behind the transfer's own block, leaves no verdict", async () => {
  const { verify } = await pay("no clock");
  const clock = (data: Buffer) => {
    const account = { owner: "1".repeat(32), lamports: 1, data: [data.toString("base64"), "base64"] };
    return fault.lie({ context: { slot: 1 }, value: account });
  };
  for (const next of [
    fault.resetBefore(),
    fault.lie(null),
    fault.lie({ context: { slot: 1 }, value: null }),
    clock(Buffer.alloc(39)),
    clock(Buffer.alloc(40, 0x7f)),
    clock(Buffer.alloc(40, 0xff)),
    fault.error(-32016, "Minimum context slot has not been reached"),
  ]) {
    world.rpc.script("getAccountInfo", next);
    expect(await verify()).toMatchObject({ outcome: "unavailable" });
  }
  expect(await verify()).toMatchObject({ outcome: "valid" });
  const asked = world.rpc.params("getAccountInfo").map(([, config]) => config);
  const slots = asked.map((config) => (config as { readonly minContextSlot: number }).minContextSlot);
  expect(Math.min(...slots)).toBeGreaterThan(1_000);
});

it("a block's time is taken as it is where the chain has lived for less than this server, and never as later", () => {
  const now = 1_000_000_000;
  expect(minedBy({ block: now - 60_000, chain: now - 60_000, now })).toBe(now - 60_000);
  // The newest block may be older than the one in question, where nodes disagree.
  expect(minedBy({ block: now + 60_000, chain: now + 50_000, now })).toBe(now - 2_000);
  expect(minedBy({ block: now + 60_000, chain: now + 70_000, now })).toBe(now - 12_000);
  expect(minedBy({ block: now - 60_000, chain: now + 60_000, now })).toBe(now - 122_000);
});
