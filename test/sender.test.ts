// A settlement whose outcome is not known ends by what the chain shows, or by the word of whoever was asked to settle, and of nobody
// else of the same name: a gateway that has never had it knows nothing of it, and a new bill would let the buyer pay twice.
import { expect, it } from "vitest";
import { facilitator } from "../src/receive/facilitator.js";
import { failover } from "../src/receive/failover.js";
import { hosted } from "../src/receive/hosted.js";
import { local } from "../src/receive/local.js";
import type { Receiver } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import { createFakeClock } from "./support/fake-clock.js";
import { codeOf, createWorld, scriptedReceiver, TRANSACTION, type World } from "./support/world.js";

const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const gateway = (baseUrl: string, key = "a") => hosted({ baseUrl, apiKey: `tg_test_${key.repeat(43)}` });
const own = (rpcUrl = "https://rpc.example", network = "base-sepolia") =>
  local({ networks: { [network]: { rpcUrl, settler: KEY } } });
const service = (url: string) => facilitator({ url });

const [A, B] = ["https://a.example", "https://b.example"];

/** Two processes of one seller, one after the other, and the record of what the first has left. */
async function leftBy(first: Receiver, second: Receiver, price?: string) {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const worldOf = ({ name, identity, evidence }: Receiver): World =>
    createWorld({
      ...{ clock, store },
      ...(price !== undefined && { price }),
      receiver: {
        ...{ ...scriptedReceiver(), name },
        ...(identity !== undefined && { identity }),
        ...(evidence && { evidence }),
      },
    });
  const one = worldOf(first);
  one.receiver.settlements.push(() => ({ outcome: "unknown", message: "the answer was lost" }));
  const headers = price === undefined ? await one.sign() : await one.show({ key: "one" });
  await one.send({ headers });
  one.context.lookups.close();
  const two = worldOf(second);
  two.context.lookups.watch();
  return { two, headers, record: async () => (await two.claims.list(undefined, 1)).records[0] };
}

const OTHERS: Record<string, readonly [Receiver, Receiver]> = {
  "a gateway at another address": [gateway(A), gateway(B)],
  "the same gateway by another key, which may be another account's": [gateway(A), gateway(A, "b")],
  "a list with another gateway in it": [failover([gateway(A), own()]), failover([gateway(B), own()])],
  "a list with another one in it that asks the chain": [
    failover([gateway(A), service(B)]),
    failover([gateway(A), own()]),
  ],
  "a list whose settler is there for other networks": [
    failover([gateway(A), own()]),
    failover([gateway(A), own("https://rpc.example", "polygon")]),
  ],
  "the same gateway behind a list": [gateway(A), failover([gateway(A), own()])],
  "a gateway, where the chain was asked before": [own(), gateway(A)],
};

it.each(Object.entries(OTHERS))("what is unknown stays so by the word of %s", async (_who, [first, second]) => {
  const { two, headers, record } = await leftBy(first, second);
  two.receiver.lookups = [{ outcome: "expired" }];
  await two.clock.advance(10 * 60_000);
  expect(two.receiver.calls.lookup).toBeGreaterThan(0);
  expect((await record())?.settlement).toBe("unknown");
  expect(codeOf(await two.send({ headers }))).toEqual([503, "settlement_unknown"]);
  // That the money is there is true, whoever says so.
  two.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await two.clock.advance(10 * 60_000);
  expect((await record())?.settlement).toBe("settled");
  two.context.lookups.close();
});

const SAME: Record<string, readonly [Receiver, Receiver]> = {
  "the same gateway, written otherwise": [gateway(A), gateway("https://A.example:443/")],
  "the same list in another order": [failover([gateway(A), own()]), failover([own(), gateway(A)])],
  "another node of the same chain": [own(), own("https://other.example")],
  "another facilitator, whose word is the chain's": [service(A), service(B)],
  "one that asks the chain, whoever was asked to settle": [gateway(A), own()],
  "one that asks the chain, where a list was asked": [failover([gateway(A), own()]), service(B)],
  "a list of such as ask the chain, where another list was asked": [
    failover([gateway(A), own()]),
    failover([service(A), own()]),
  ],
  "a list of such as ask the chain, where one of another kind was asked": [own(), failover([service(A), own()])],
  "a list of nothing but such as ask the chain": [failover([service(A), own()]), failover([own(), service(B)])],
};

it.each(Object.entries(SAME))("what is unknown ends by the word of %s", async (_who, [first, second]) => {
  const { two, record } = await leftBy(first, second);
  two.receiver.lookups = [{ outcome: "expired" }];
  await two.clock.advance(60_000);
  expect((await record())?.settlement).toBe("expired");
  two.context.lookups.close();
});

it("a transaction that nobody has named stays unknown by the chain's word, where another was asked: it may be anywhere", async () => {
  const { two, headers, record } = await leftBy(gateway(A), own(), "0.001 ETH");
  two.receiver.lookups = [{ outcome: "expired" }];
  await two.clock.advance(10 * 60_000);
  expect(two.receiver.calls.lookup).toBeGreaterThan(0);
  expect((await record())?.settlement).toBe("unknown");
  expect(codeOf(await two.send({ headers }))).toEqual([503, "settlement_unknown"]);
  two.context.lookups.close();
});

it.each([
  ["is not lost by the word of a gateway that had no part in it", own(), "settled"],
  ["is lost by the word of the gateway that has settled it", gateway(B), "expired"],
])("what was settled %s", async (_what, first, settlement) => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const finality = async () => ({ outcome: "unknown", message: "not yet" }) as const;
  const worldOf = ({ name, identity }: Receiver, tells: NonNullable<Receiver["finality"]>) =>
    createWorld({
      ...{ clock, store },
      receiver: {
        ...{ ...scriptedReceiver(), name, finality: tells },
        ...(identity !== undefined && { identity }),
      },
    });
  const one = worldOf(first, finality);
  await one.send({ headers: await one.sign() });
  one.context.lookups.close();
  const two = worldOf(gateway(B), async () => ({ outcome: "lost" }));
  two.context.lookups.watch();
  await clock.advance(10 * 60_000);
  expect((await two.claims.peek(one.runs[0]?.proofId ?? "")).record?.settlement).toBe(settlement);
  two.context.lookups.close();
});

it("what is kept of who it was is short, and holds no address and no key", () => {
  for (const receiver of [gateway(A), failover([gateway(A), gateway(B)])]) {
    expect(receiver.identity).toMatch(/^(?:hosted|failover):[0-9a-f]{16}$/);
  }
});

it("a buyer's own transaction that nobody has announced is judged anew: he may have sent it himself", async () => {
  const { two, headers, record } = await leftBy(own(), own(), "0.001 ETH");
  two.receiver.lookups = [{ outcome: "expired" }];
  await two.clock.advance(10 * 60_000);
  expect((await record())?.settlement).toBe("released");
  const answer = await two.send({ headers });
  expect([answer.answer.status, two.runs.length]).toEqual([200, 1]);
  two.context.lookups.close();
});

const ETH = "0.001 ETH";

it("a buyer's own transaction that the gateway never had is used, and no new bill", async () => {
  const { two, headers, record } = await leftBy(gateway(A), gateway(A), ETH);
  two.receiver.lookups = [{ outcome: "expired" }];
  await two.clock.advance(10 * 60_000);
  expect((await record())?.refusal?.code).toBe("payment_too_old");
  const again = await two.send({ headers });
  expect(again.answer.status).toBe(409);
  expect(again.json()).not.toHaveProperty("accepts");
  two.context.lookups.close();
});

it("a buyer's own transaction that was released may not be announced by its late holder", async () => {
  const world = createWorld({ price: ETH, receiver: { ...scriptedReceiver(), evidence: "chain" } });
  let announce: () => Promise<void> = () => Promise.reject(new Error("it was never asked to settle"));
  world.receiver.settlements.push((_proof, context) => {
    announce = () => context.sending(TRANSACTION);
    return { outcome: "unknown", message: "no answer in time" };
  });
  const headers = await world.show({ key: "one" });
  await world.send({ headers });
  world.receiver.lookups = [{ outcome: "unknown", message: "nothing of the transaction was sent" }];
  const [record] = (await world.claims.list(undefined, 1)).records;
  await world.context.lookups.lookup(record?.trace.proofId ?? "");
  await expect(announce()).rejects.toThrow("taken over");
  const [after] = (await world.claims.list(undefined, 1)).records;
  expect([after?.settlement, after?.trace.transaction]).toEqual(["released", null]);
  world.context.lookups.close();
});
