// The background of the watcher: batches, bounded work, and a loop that nothing ends but `close`.
import { describe, expect, it } from "vitest";
import type { GatewayLogger } from "../../src/gateway/parts.js";
import type { Payment } from "../../src/gateway/payment.js";
import { createRounds } from "../../src/gateway/watch/rounds.js";
import { createFakeClock, settle } from "../support/fake-clock.js";

/** Only what the rounds look at. */
const due = (id: string, network = "eip155:84532") => ({ id, network }) as Payment;
const many = (count: number, network?: string) =>
  Array.from({ length: count }, (_, n) => due(`${network ?? ""}${n}`, network));

interface Script {
  readonly batches: (readonly Payment[] | Error)[];
  look?(payment: Payment): Promise<boolean>;
}

function openRounds({ batches, look = async () => true }: Script) {
  const clock = createFakeClock();
  const said: string[] = [];
  const say = (_facts: object, message: string) => void said.push(message);
  const logger: GatewayLogger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  const seen: string[] = [];
  let [taken, most, now] = [0, 0, 0];
  const rounds = createRounds({
    clock,
    random: () => 0.5,
    logger,
    intervalMs: 1_000,
    async takeDue() {
      taken += 1;
      const batch = batches.shift() ?? [];
      if (batch instanceof Error) throw batch;
      return batch;
    },
    async look(payment) {
      now += 1;
      most = Math.max(most, now);
      seen.push(payment.id);
      try {
        return await look(payment);
      } finally {
        now -= 1;
      }
    },
  });
  return { rounds, clock, said, seen, counts: () => ({ taken, most }) };
}

describe("the watcher's rounds", () => {
  it("take what is due once an interval, and at once again after a full batch", async () => {
    const { rounds, clock, seen, counts } = openRounds({ batches: [many(32), many(5)] });
    rounds.start();
    await clock.advance(0);
    await clock.advance(0);
    expect(seen).toHaveLength(37);
    expect(counts().taken).toBe(2);
    await clock.advance(999);
    expect(counts().taken).toBe(2);
    await clock.advance(1);
    expect(counts().taken).toBe(3);
    await rounds.close();
  });

  it("work on eight payments at once and no more", async () => {
    const { rounds, clock, counts } = openRounds({ batches: [many(32)], look: () => settle().then(() => true) });
    rounds.start();
    await clock.advance(0);
    await rounds.close();
    expect(counts().most).toBe(8);
  });

  it("go on when the database fails, and when a look does", async () => {
    const look = async ({ id }: Payment) => {
      if (id === "1") throw new Error("broken");
      return true;
    };
    const { rounds, clock, said, seen } = openRounds({ batches: [new Error("no database"), many(3)], look });
    rounds.start();
    await clock.advance(0);
    expect(said).toEqual(["the watcher could not take what is due"]);
    await clock.advance(5_000);
    expect(seen).toEqual(["0", "1", "2"]);
    expect(said).toContain("a payment could not be followed");
    await rounds.close();
  });

  it("leave a silent chain alone for the rest of the batch, so that the others are not held up", async () => {
    const silent = many(20, "eip155:1");
    const look = async ({ network }: Payment) => network !== "eip155:1";
    const { rounds, clock, seen } = openRounds({ batches: [[...silent, ...many(12)]], look });
    rounds.start();
    await clock.advance(0);
    expect(seen.filter((id) => !id.startsWith("eip155"))).toHaveLength(12);
    expect(seen.filter((id) => id.startsWith("eip155:1")).length).toBeLessThan(12);
    await rounds.close();
  });

  it("end with what is under way: `close` waits for it, and nothing begins after it", async () => {
    let finish = () => {};
    const going = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { rounds, clock, seen, counts } = openRounds({ batches: [many(20)], look: () => going.then(() => true) });
    rounds.start();
    await clock.advance(0);
    let closed = false;
    const closing = rounds.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    finish();
    await closing;
    expect(seen).toHaveLength(8);
    await clock.advance(60_000);
    expect(counts().taken).toBe(1);
  });
});
