// A token payment on Solana stays with the receiver of its fee payer, whatever is down.
import { beforeEach, describe, expect, it } from "vitest";
import type { Receiver } from "../../src/receive/receiver.js";
import { STRANGER } from "../chains/solana/payment.js";
import { answer } from "../support/scripted-facilitator.js";
import {
  addressOf,
  DEVNET,
  makeSplProof,
  SOLANA_KINDS,
  SPL_REQUIREMENT,
  splTransaction,
} from "../support/spl-proof.js";
import { createFailoverWorld, type FailoverWorld, type Place, settleBy, signal, verifyBy } from "./failover-world.js";

const OTHER = addressOf("the fee payer of the second facilitator");
const OWN = SPL_REQUIREMENT.extra.feePayer;

let world: FailoverWorld;
let [first, second]: Place[] = [];
let both: Receiver;
beforeEach(async () => {
  world = createFailoverWorld();
  const others = SOLANA_KINDS.map((kind) => ({ ...kind, extra: { feePayer: OTHER } }));
  [first, second] = [await world.start({ kinds: SOLANA_KINDS }), await world.start({ kinds: others })];
  both = world.open([first.receiver, second.receiver]);
  expect(await both.ready([SPL_REQUIREMENT], signal())).toEqual({ state: "ready" });
  return () => world.close();
});

const proofOf = (feePayer: string) => makeSplProof(both, { transaction: splTransaction({ feePayer }) });
const asked = (endpoint: "verify" | "settle") => [first?.count(endpoint), second?.count(endpoint)];

describe("a token payment on Solana", () => {
  it("is verified and settled by whoever's fee payer it names, whatever the offer names by now", async () => {
    for (const feePayer of [OWN, OTHER]) {
      const proof = await proofOf(feePayer);
      expect(await verifyBy(both, proof)).toMatchObject({ outcome: "valid" });
      expect(await settleBy(both, proof, world.clock)).toMatchObject({ outcome: "settled" });
    }
    expect([asked("verify"), asked("settle")]).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it("waits for its receiver where that is down, and goes to nobody else", async () => {
    const proof = await proofOf(OWN);
    await first?.service.close();
    expect(await verifyBy(both, proof)).toMatchObject({ outcome: "unavailable" });
    expect(await settleBy(both, proof, world.clock)).toMatchObject({ outcome: "unavailable" });
    expect([asked("verify")[1], asked("settle")[1]]).toEqual([0, 0]);
  });

  it("with a stranger's fee payer is invalid, and is settled by nobody", async () => {
    const proof = await proofOf(STRANGER.key.toBase58());
    expect(await verifyBy(both, proof)).toMatchObject({ outcome: "invalid" });
    expect(await settleBy(both, proof, world.clock)).toMatchObject({ outcome: "unavailable" });
    expect(asked("settle")).toEqual([0, 0]);
  });

  it("is offered for the first fee payer, and for the second one's while the first is left out", async () => {
    expect(both.feePayer?.(DEVNET)).toBe(OWN);
    first?.service.always("verify", answer.status(500));
    for (let i = 0; i < 3; i += 1) await verifyBy(both, await proofOf(OWN));
    expect(both.feePayer?.(DEVNET)).toBe(OTHER);
    world.clock.advance(10_000);
    expect(both.feePayer?.(DEVNET)).toBe(OWN);
  });

  it("is not called invalid while somebody's fee payer is not known", async () => {
    const silent = await world.start({ kinds: SOLANA_KINDS });
    const proof = await proofOf(OWN);
    const waiting = world.open([silent.receiver, second!.receiver]);
    expect(await verifyBy(waiting, proof)).toMatchObject({ outcome: "unavailable" });
  });
});
