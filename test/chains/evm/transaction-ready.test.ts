import { generatePrivateKey } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedChain } from "../../../src/chains/chain.js";
import { NATIVE, type Requirement } from "../../../src/requirement.js";
import { REQUIREMENT } from "../../support/bound-proof.js";
import { createTransfers, TOKEN, type Transfers } from "./transfers.js";
import { fault } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

const ready = (requirements: readonly Requirement[], chain: OpenedChain = world.chain) =>
  chain.ready(requirements, AbortSignal.timeout(5_000));
const misconfigured = (check: string) => ({
  state: "misconfigured",
  problems: [{ check: expect.stringContaining(check), expected: expect.any(String), got: expect.any(String) }],
});

describe("the start-up checks of what buyers pay by their own transaction", () => {
  it("pass for native currency and for a token without EIP-3009", async () => {
    expect(await ready([world.requirement(), world.requirement(TOKEN)])).toEqual({ state: "ready" });
  });

  it("name a token that has no code, or other decimals than the offers", async () => {
    const nowhere = "0x3333333333333333333333333333333333333333";
    expect(await ready([world.requirement(nowhere)])).toMatchObject(misconfigured("code of"));
    world.rpc.script("eth_call", fault.lie(`0x${"0".repeat(63)}7`));
    expect(await ready([world.requirement(TOKEN)])).toMatchObject(misconfigured("decimals of"));
    world.rpc.script("eth_call", fault.lie("0x"));
    expect(await ready([world.requirement(TOKEN)])).toMatchObject(misconfigured("decimals of"));
  });

  it("name a payee that is a contract and refuses native currency, for native currency alone", async () => {
    const payTo = "0x4444444444444444444444444444444444444444";
    await world.sandbox.chain.rpc("anvil_setCode", [payTo, "0x60006000fd"]);
    expect(await ready([world.requirement(NATIVE, { payTo })])).toMatchObject(misconfigured(payTo));
    expect(await ready([world.requirement(TOKEN, { payTo })])).toEqual({ state: "ready" });
  });

  it("name a payee that is the zero address or the token itself", async () => {
    const zero = `0x${"0".repeat(40)}`;
    expect(await ready([world.requirement(NATIVE, { payTo: zero })])).toMatchObject(misconfigured("payTo"));
    expect(await ready([world.requirement(TOKEN, { payTo: TOKEN })])).toMatchObject(misconfigured("payTo"));
  });

  it("ask no gas of the settler, who sends nothing at his own cost, unless a sale needs him", async () => {
    const poor = await world.open({ settlers: [generatePrivateKey()] });
    expect(await ready([world.requirement(), world.requirement(TOKEN)], poor)).toEqual({ state: "ready" });
    const signed = { ...REQUIREMENT, payTo: world.sandbox.seller };
    expect(await ready([world.requirement(), signed], poor)).toMatchObject(misconfigured("gas of settler"));
  });

  it("say that a node cannot be reached, which is no mismatch", async () => {
    world.rpc.script("eth_chainId", fault.pass());
    world.rpc.script("eth_chainId", fault.resetBefore());
    expect(await ready([world.requirement()])).toMatchObject({ state: "unreachable" });
  });
});
