// Runtimes on which a request takes with it whatever it began (Workers): what others wait for goes on without it.
import { expect, it } from "vitest";
import { createReceiptWatch } from "../../src/chains/evm/receipts.js";
import type { Rpc, RpcReply } from "../../src/chains/evm/rpc.js";
import type { Clock } from "../../src/clock.js";
import { silentLogger } from "../../src/logger.js";
import { createReadiness } from "../../src/readiness.js";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Requirement } from "../../src/requirement.js";
import { PAY_TO, scriptedReceiver, TRANSACTION } from "../support/world.js";

const REQUIREMENT: Requirement = {
  scheme: "exact",
  method: "eip3009",
  network: "eip155:84532",
  amount: 10_000n,
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: PAY_TO,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};

/** Checks that the test ends by hand, in the order in which they were begun. */
function handReceiver() {
  const checks: ((result: Awaited<ReturnType<Receiver["ready"]>>) => void)[] = [];
  const ready = () => new Promise<Awaited<ReturnType<Receiver["ready"]>>>((resolve) => checks.push(resolve));
  return { receiver: { ...scriptedReceiver(), ready }, checks };
}

const stillClock: Clock = { now: () => 1_000_000, after: () => () => {} };

it("the first request that waits for the start-up checks makes them itself, and the next ones share them", async () => {
  const { receiver, checks } = handReceiver();
  const gate = createReadiness(receiver, stillClock, silentLogger);
  gate.cover([REQUIREMENT]);
  const [first, second] = [gate.settled([REQUIREMENT]), gate.settled([REQUIREMENT])];
  expect(checks).toHaveLength(2);
  // The check of the construction never ends.
  checks[1]!({ state: "ready" });
  expect([await first, await second]).toEqual(["ready", "ready"]);
});

it("checks that cannot even be put off are made by the next request", async () => {
  const { receiver, checks } = handReceiver();
  const outside: Clock = {
    now: () => 1_000_000,
    after() {
      if (checks.length < 2) throw new Error("no timers outside of a request");
      return () => {};
    },
  };
  let hear = (_message: string): void => undefined;
  const heard = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const gate = createReadiness(receiver, outside, { ...silentLogger, debug: hear });
  gate.cover([REQUIREMENT]);
  checks[0]!({ state: "unreachable", message: "no connections outside of a request" });
  expect(await heard).toBe("the start-up checks wait for the first payment");
  const settled = gate.settled([REQUIREMENT]);
  checks[1]!({ state: "ready" });
  expect(await settled).toBe("ready");
});

it("a receipt is found for one buyer although the poll of another never ends", async () => {
  let now = 1_000_000;
  let asked = 0;
  const receipt = {
    ...{ transactionHash: TRANSACTION, blockHash: `0x${"cd".repeat(32)}`, blockNumber: "0x1", status: "0x1" },
    ...{ gasUsed: "0x1", effectiveGasPrice: "0x1", logs: [] },
  };
  const rpc: Rpc = {
    requests: 0,
    each: [],
    close() {},
    batch(calls) {
      asked += 1;
      if (asked === 1) return new Promise<RpcReply>(() => {});
      const answers = calls.map(
        ({ method }) => ({ ok: true, result: /Count$/.test(method) ? "0x1" : receipt }) as const,
      );
      return Promise.resolve({ ok: true, answers });
    },
  };
  const watch = createReceiptWatch(rpc, 2_000, () => now);
  const sent = { raw: "0x02", settler: "0x01", nonce: 0, deadlineAt: now + 60_000 } as const;
  const gone = watch.wait({ ...sent, hash: `0x${"ef".repeat(32)}` });
  now += 4_000;
  expect(await watch.wait({ ...sent, hash: TRANSACTION as `0x${string}` })).toMatchObject({ outcome: "receipt" });
  watch.close();
  expect(await gone).toEqual({ outcome: "timeout" });
});
