// The state machine of a payment: what the chain was seen to say, and what that makes of the record.
import { describe, expect, it } from "vitest";
import { NEXT_STATUSES, PAYMENT_STATUSES, type Payment, type Pursuit } from "../../src/gateway/payment.js";
import { nextLookAt } from "../../src/gateway/watch/pace.js";
import { type Sight, transit } from "../../src/gateway/watch/transitions.js";
import { findNetwork } from "../../src/networks.js";

const NOW = Date.UTC(2026, 0, 1);
const evm = { network: findNetwork("base-sepolia")!, confirmations: 3 };
const solana = { network: findNetwork("solana-devnet")!, confirmations: 1 };

const EVM: Pursuit = {
  kind: "evm",
  sender: "0x00000000000000000000000000000000000000aa",
  nonce: 7,
  reference: null,
  raw: null,
  hash: null,
  block: 100,
  lastValidBlockHeight: 130,
};
const SOLANA: Pursuit = {
  kind: "solana",
  sender: "1",
  reference: null,
  wire: null,
  slot: 100,
  lastValidBlockHeight: 250,
};

function payment(parts: Partial<Payment> = {}): Payment {
  return {
    id: "pay_1111111111111111111111",
    account: "acc",
    mode: "test",
    type: "sent",
    flow: "build_send",
    status: "created",
    network: "eip155:84532",
    asset: "native",
    amount: 5n,
    sender: null,
    recipient: "somebody",
    signature: null,
    fee: 1n,
    blockHeight: null,
    confirmations: null,
    resource: null,
    metadata: null,
    createdAt: NOW - 30_000,
    updatedAt: NOW - 30_000,
    expiresAt: NOW + 30_000,
    error: null,
    late: false,
    proofId: null,
    wallet: null,
    idempotency: null,
    sealed: null,
    pursuit: EVM,
    version: 1,
    dueAt: NOW,
    ...parts,
  };
}

const mined = (parts: Partial<Extract<Sight, { state: "mined" }>> = {}): Sight => ({
  state: "mined",
  signature: "0xabc",
  succeeded: true,
  blockHeight: 101,
  fee: 21_000n,
  confirmations: 1,
  level: "included",
  ...parts,
});
const unseen: Sight = { state: "unseen" };

describe("a payment that the chain shows", () => {
  it("stays submitted until as many blocks stand on it as the operator asks for", () => {
    const seen = [1, 2, 3].map((confirmations) => transit(payment(), mined({ confirmations }), evm, NOW)?.status);
    expect(seen).toEqual(["submitted", "submitted", "confirmed"]);
  });

  it("is confirmed on Solana by the commitment of that name", () => {
    const levels = (["included", "confirmed", "finalized"] as const).map((level) => mined({ level }));
    const seen = levels.map((sight) => transit(payment({ pursuit: SOLANA }), sight, solana, NOW)?.status);
    expect(seen).toEqual(["submitted", "confirmed", "finalized"]);
  });

  it("keeps transaction, height, number of blocks and what it has cost", () => {
    const change = transit(payment(), mined({ confirmations: 3 }), evm, NOW)?.change;
    expect(change).toMatchObject({ signature: "0xabc", blockHeight: 101, confirmations: 3, fee: 21_000n });
  });

  it("is over with finality, and only then", () => {
    expect(transit(payment(), mined({ confirmations: 9, level: "confirmed" }), evm, NOW)?.final).toBe(false);
    expect(transit(payment(), mined({ confirmations: 9, level: "finalized" }), evm, NOW)?.final).toBe(true);
  });

  it("counts what came where that is more than the price", () => {
    expect(transit(payment(), { ...mined(), received: 6n }, evm, NOW)?.change.amount).toBe(6n);
  });

  it("has failed only when its block is final: in another block the same bytes could succeed", () => {
    const young = transit(
      payment({ flow: "send" }),
      mined({ succeeded: false, reason: "reverted", level: "confirmed", confirmations: 9 }),
      evm,
      NOW,
    );
    expect(young).toMatchObject({ status: "submitted", final: false });
    expect(young?.change.error).toEqual({
      code: "PAYMENT_VERIFICATION_FAILED",
      message: "the transaction failed on the chain: reverted",
    });
    const final = mined({ succeeded: false, level: "finalized" });
    expect(transit(payment({ flow: "send", status: "submitted" }), final, evm, NOW)).toMatchObject({
      status: "failed",
      final: true,
    });
  });

  it("loses the error of an earlier block when it succeeds in another one", () => {
    const failed = payment({
      status: "submitted",
      error: { code: "PAYMENT_VERIFICATION_FAILED", message: "reverted" },
    });
    expect(transit(failed, mined(), evm, NOW)?.change.error).toBeNull();
  });
});

describe("a confirmed payment", () => {
  const confirmed = payment({ status: "confirmed", signature: "0xabc", blockHeight: 101, confirmations: 3 });

  it.each([
    ["that no node knows", unseen],
    ["that waits for a block again", { state: "waiting", signature: "0xabc" } as const],
    ["that stands in a younger block", mined({ blockHeight: 104 })],
  ])("%s is taken back at the second look: one may have met a node that lags", (_, sight) => {
    const first = transit(confirmed, sight, evm, NOW);
    expect(first?.status).toBe("confirmed");
    expect(first?.change.confirmations).toBeLessThan(3);
    const second = transit({ ...confirmed, ...first?.change }, sight, evm, NOW);
    expect(second).toMatchObject({ status: "submitted", final: false });
  });

  it("that is found again at the second look has never been away", () => {
    const first = transit(confirmed, unseen, evm, NOW);
    expect(transit({ ...confirmed, ...first?.change }, mined({ confirmations: 4 }), evm, NOW)?.status).toBe(
      "confirmed",
    );
  });

  it("of Solana that no node has confirmed any more is taken back at the second look, too", () => {
    const known = payment({ status: "confirmed", pursuit: SOLANA, confirmations: 5 });
    const first = transit(known, unseen, solana, NOW);
    expect(first).toMatchObject({ status: "confirmed", change: { confirmations: 0 } });
    expect(transit({ ...known, ...first?.change }, unseen, solana, NOW)?.status).toBe("submitted");
  });

  it("whose nonce another transaction has taken for good has failed", () => {
    const gone: Sight = { state: "impossible", reason: "its nonce was used", replacedBy: "0xdef" };
    expect(transit(confirmed, gone, evm, NOW)).toMatchObject({ status: "failed", final: true });
  });
});

describe("a built payment that nobody has seen", () => {
  const late = NOW + 31_000;

  it("expires on EVM with its time, and is watched on", () => {
    expect(transit(payment(), unseen, evm, NOW)).toBeUndefined();
    expect(transit(payment(), unseen, evm, late)).toMatchObject({ status: "expired", final: false });
  });

  it("that was waiting in a node's pool is given up later: a pool forgets, and a node may be another one", () => {
    const waiting = payment({ status: "submitted" });
    expect(transit(waiting, unseen, evm, late)).toBeUndefined();
    expect(transit(waiting, unseen, evm, late + 10 * 60_000)?.status).toBe("expired");
  });

  it("does not expire on Solana by the clock: only by evidence", () => {
    expect(transit(payment({ pursuit: SOLANA }), unseen, solana, late)).toBeUndefined();
    const over: Sight = { state: "impossible", reason: "its blockhash is over" };
    expect(transit(payment({ pursuit: SOLANA }), over, solana, late)).toMatchObject({ status: "expired", final: true });
  });

  it("never expires because the chain cannot be read", () => {
    expect(transit(payment(), { state: "unreadable", message: "down" }, evm, late)).toBeUndefined();
  });

  it("that arrives after all is late", () => {
    const given = payment({ status: "expired" });
    expect(transit(given, { state: "waiting", signature: "0xabc" }, evm, late)).toMatchObject({
      status: "submitted",
      change: { late: true, signature: "0xabc" },
    });
    expect(transit(given, mined({ confirmations: 3 }), evm, late)).toMatchObject({
      status: "confirmed",
      change: { late: true },
    });
  });

  it("is over when another transaction has taken its nonce", () => {
    const replaced: Sight = { state: "impossible", reason: "its nonce was used", replacedBy: "0xdef" };
    for (const status of ["created", "submitted", "expired"] as const) {
      const over = transit(payment({ status }), replaced, evm, late);
      expect(over).toMatchObject({
        status: "expired",
        final: true,
        change: { error: { message: "its nonce was used" } },
      });
    }
  });
});

describe("a payment from a hosted wallet", () => {
  it("does not expire: what may have left is never given up by the clock", () => {
    const sent = payment({ flow: "send", status: "submitted" });
    expect(transit(sent, unseen, evm, NOW + 86_400_000)).toBeUndefined();
  });

  it("that can never land as it was is not given up by the watcher: its bytes may be signed anew", () => {
    const over: Sight = { state: "impossible", reason: "its blockhash is over" };
    for (const status of ["created", "submitted"] as const) {
      expect(transit(payment({ flow: "send", status, pursuit: SOLANA }), over, solana, NOW)).toBeUndefined();
    }
    const counted = payment({ flow: "send", status: "confirmed", pursuit: SOLANA, confirmations: 5 });
    expect(transit(counted, over, solana, NOW)).toMatchObject({ status: "submitted", final: false });
  });
});

it("no sight of the chain leads where the states of a payment do not go", () => {
  const sights: Sight[] = [
    unseen,
    { state: "waiting", signature: "0xabc" },
    { state: "impossible", reason: "over" },
    { state: "over", reason: "over" },
    { state: "unreadable", message: "down" },
    ...(["included", "confirmed", "finalized"] as const).flatMap((level) =>
      [true, false].map((succeeded) => mined({ level, succeeded, confirmations: level === "included" ? 1 : 9 })),
    ),
  ];
  const open = PAYMENT_STATUSES.filter((status) => NEXT_STATUSES[status].length > 0);
  let moves = 0;
  for (const status of open) {
    for (const flow of ["send", "receive", "build_send", "build_receive", "settle"] as const) {
      for (const [pursuit, network] of [[EVM, evm] as const, [SOLANA, solana] as const]) {
        for (const confirmations of [null, 0, 9]) {
          for (const sight of sights) {
            const to = transit(
              payment({ status, flow, pursuit, confirmations }),
              sight,
              network,
              NOW + 86_400_000,
            )?.status;
            if (to === undefined || to === status) continue;
            moves += 1;
            expect(NEXT_STATUSES[status], `${status} by ${JSON.stringify(sight.state)}`).toContain(to);
          }
        }
      }
    }
  }
  expect(moves).toBeGreaterThan(500);
});

describe("the next look", () => {
  const delay = (ageMs: number, more: Partial<Payment> = {}, network = evm) =>
    nextLookAt({ ...payment({ flow: "send", status: "submitted", ...more }), createdAt: NOW - ageMs }, network, NOW) -
    NOW;

  it("comes with the next block while a payment is young, and ever later as it grows old", () => {
    expect([0, 10_000, 60_000, 3_600_000].map((age) => delay(age))).toEqual([2_000, 2_000, 7_500, 300_000]);
    expect(delay(0, {}, solana)).toBe(1_000);
  });

  it("at what nobody may ever sign comes so seldom that a year of it is a handful", () => {
    let [age, looks] = [0, 0];
    for (; age < 365 * 86_400_000; looks += 1) {
      age += delay(age, { flow: "build_send", status: age < 60_000 ? "created" : "expired" });
    }
    expect(looks).toBeLessThan(80);
  });
});
