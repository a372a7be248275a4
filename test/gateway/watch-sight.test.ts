// Where a payment stands: only a lookup proves that a proof has paid, only its transaction tells how finally. The chain's answers
// are scripted here, because real chains do not contradict themselves on demand.
import { describe, expect, it } from "vitest";
import type { ChainStanding, GatewayNetwork, TransferChain } from "../../src/gateway/chain.js";
import type { Payment, SettlementPursuit } from "../../src/gateway/payment.js";
import { sightOf } from "../../src/gateway/watch/sight.js";
import type { Lookup, Receiver, Trace } from "../../src/receive/receiver.js";

const HASH = `0x${"ab".repeat(32)}`;
const OTHER = `0x${"cd".repeat(32)}`;

const mined = (parts: Partial<Extract<ChainStanding, { state: "mined" }>> = {}): ChainStanding => ({
  state: "mined",
  signature: HASH,
  succeeded: true,
  blockHeight: 7,
  fee: 1n,
  confirmations: 1,
  level: "included",
  ...parts,
});

interface Said {
  readonly lookup: Lookup;
  readonly standing?: ChainStanding;
  readonly signature?: string | null;
  /** Of a proof that was presented here; absent = one that was given to a seller. */
  readonly settled?: { readonly method: "eip3009" | "transaction" } & Partial<Payment> & Partial<SettlementPursuit>;
}

/** What is seen of a proof's payment; with what was asked of the chain. */
async function seen({ lookup, standing = { state: "unseen" }, signature = null, settled }: Said) {
  const asked: { trace?: Trace; signature?: string } = {};
  const receiver = {
    lookup: async (trace: Trace) => {
      asked.trace = trace;
      return lookup;
    },
  } as Partial<Receiver> as Receiver;
  const transfers = {
    standingOf: async (of: string) => {
      asked.signature = of;
      return standing;
    },
  } as Partial<TransferChain> as TransferChain;
  const payment = { flow: "receive", ...toRecord(settled), signature } as Payment;
  const network = { receiver, transfers } as GatewayNetwork;
  return { ...(await sightOf(network, payment, AbortSignal.timeout(1_000))), asked };
}

function toRecord(settled: Said["settled"]): object {
  if (!settled) return { pursuit: { kind: "proof", trace: { transaction: null } } };
  const { method, facilitatorUrl, reverted, ...payment } = settled;
  const more = { ...(facilitatorUrl !== undefined && { facilitatorUrl }), ...(reverted && { reverted }) };
  return { ...payment, pursuit: { kind: "settlement", trace: { transaction: null, method }, ...more } };
}

const paid: Lookup = { outcome: "settled", transaction: HASH };
const unknown: Lookup = { outcome: "unknown", message: "not used so far" };

describe("a proof that the lookup has found settled", () => {
  it("stands where its transaction stands", async () => {
    expect(await seen({ lookup: paid, standing: mined({ confirmations: 3, level: "confirmed" }) })).toMatchObject({
      state: "mined",
      confirmations: 3,
      level: "confirmed",
    });
  });

  it("tells what came where that was more", async () => {
    expect((await seen({ lookup: { ...paid, received: 9n }, standing: mined() })).received).toBe(9n);
  });

  it("is on its way where another node does not know the transaction yet", async () => {
    expect(await seen({ lookup: paid })).toMatchObject({ state: "waiting", signature: HASH });
  });

  it("tells nothing where another node says that the transaction failed", async () => {
    expect((await seen({ lookup: paid, standing: mined({ succeeded: false }) })).state).toBe("unreadable");
  });
});

describe("a proof that the lookup has not found", () => {
  it("is unseen while it has no transaction", async () => {
    expect((await seen({ lookup: unknown })).state).toBe("unseen");
  });

  it("is never confirmed by its transaction alone: that may have moved nothing, or something else", async () => {
    const standing = mined({ level: "finalized", confirmations: 99 });
    expect((await seen({ lookup: unknown, standing, signature: HASH })).state).toBe("unreadable");
  });

  it("is as good as it was where its transaction was reverted", async () => {
    const standing = mined({ succeeded: false, level: "finalized" });
    expect((await seen({ lookup: unknown, standing, signature: HASH })).state).toBe("unseen");
  });

  it("waits where its transaction waits, and is looked up by it", async () => {
    const sight = await seen({ lookup: unknown, standing: { state: "waiting", signature: OTHER }, signature: OTHER });
    expect(sight.state).toBe("waiting");
    expect([sight.asked.trace?.transaction, sight.asked.signature]).toEqual([OTHER, OTHER]);
  });
});

it("a proof whose time is finally over moves nothing any more", async () => {
  expect((await seen({ lookup: { outcome: "expired" }, signature: HASH })).state).toBe("over");
});

describe("a transaction of this gateway's that was mined in vain", () => {
  const standing = mined({ succeeded: false });
  const settled = { method: "eip3009" } as const;
  const over: Lookup = { outcome: "expired" };

  it.each([
    ["while the proof is still good", unknown, "unseen"],
    ["when the proof's time is over", over, "over"],
  ])("is told %s", async (_, lookup, state) => {
    expect(await seen({ lookup, standing, signature: HASH, settled })).toMatchObject({ state, reverted: HASH });
  });

  it.each([
    ["the payer has paid for himself", { method: "transaction" }],
    ["the seller has sent himself", { ...settled, flow: "build_receive" }],
    ["a foreign facilitator has sent", { ...settled, facilitatorUrl: "https://facilitator.example" }],
    ["nobody here has settled", undefined],
  ] as const)("is not what %s", async (_, other) => {
    for (const lookup of [unknown, over]) {
      const sight = await seen({ lookup, standing, signature: HASH, ...(other && { settled: other }) });
      expect(sight).not.toHaveProperty("reverted");
    }
  });

  it("is not one that succeeded, that waits, or of which nothing is known", async () => {
    const others: readonly ChainStanding[] = [
      mined(),
      { state: "waiting", signature: HASH },
      { state: "unseen" },
      { state: "unreadable", message: "no answer" },
    ];
    for (const one of others) {
      expect(await seen({ lookup: over, standing: one, signature: HASH, settled })).not.toHaveProperty("reverted");
    }
  });

  it("is not asked for again at the end where it was counted already", async () => {
    const sight = await seen({ lookup: over, standing, signature: HASH, settled: { ...settled, reverted: [HASH] } });
    expect([sight.state, sight.asked.signature]).toEqual(["over", undefined]);
  });
});
