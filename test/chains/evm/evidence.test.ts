import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Log, Receipt } from "../../../src/chains/evm/answers.js";
import {
  AUTHORIZATION_USED,
  addressTopic,
  type Payment,
  provesPayment,
  TRANSFER,
} from "../../../src/chains/evm/evidence.js";
import { type Hex, word } from "../../../src/chains/evm/hex.js";

const at = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [asset, payer, payTo, stranger] = [at("a"), at("b"), at("c"), at("d")];
const nonce = (digit: string): Hex => `0x${digit.repeat(64)}`;
const payment: Payment = { asset, payer, payTo, amount: 10_000n, nonce: nonce("1") };

type Event = Pick<Log, "address" | "topics" | "data">;
const used = (of = nonce("1"), by = payer, address: Hex = asset): Event => ({
  address,
  topics: [AUTHORIZATION_USED, addressTopic(by), of],
  data: "0x",
});
const transfer = (value = 10_000n, from = payer, to = payTo, address: Hex = asset): Event => ({
  address,
  topics: [TRANSFER, addressTopic(from), addressTopic(to)],
  data: `0x${word(value)}`,
});
const receipt = (events: readonly Event[], status: Receipt["status"] = "0x1"): Receipt => ({
  transactionHash: nonce("f"),
  status,
  blockNumber: 1n,
  logs: events.map((event, i) => ({ ...event, logIndex: BigInt(i), transactionHash: nonce("f") })),
});

describe("a receipt proves a payment", () => {
  it("by the asset's AuthorizationUsed and the exact Transfer after it", () => {
    expect(provesPayment(receipt([used(), transfer()]), payment)).toBe(true);
  });

  it("in the order of the log indexes, however the node lists them", () => {
    const { logs, ...rest } = receipt([used(), transfer()]);
    expect(provesPayment({ ...rest, logs: logs.toReversed() }, payment)).toBe(true);
  });

  it("among the settlements of others in one transaction", () => {
    const events = [
      used(nonce("2")),
      transfer(5n),
      used(),
      transfer(),
      used(nonce("3"), stranger),
      transfer(7n, stranger),
    ];
    expect(provesPayment(receipt(events), payment)).toBe(true);
  });
});

describe("a receipt proves nothing", () => {
  it.each<[string, readonly Event[]]>([
    ["without logs", []],
    ["without a transfer", [used()]],
    ["without the use of the authorization", [transfer()]],
    ["when the transfer came before the use", [transfer(), used()]],
    ["with another nonce", [used(nonce("2")), transfer()]],
    ["with another payer's use", [used(nonce("1"), stranger), transfer()]],
    ["with the transfer of another token", [used(), transfer(10_000n, payer, payTo, stranger)]],
    ["with the use in another token", [used(nonce("1"), payer, stranger), transfer()]],
    ["with a unit too little", [used(), transfer(9_999n)]],
    ["with a unit too much", [used(), transfer(10_001n)]],
    ["with another payee", [used(), transfer(10_000n, payer, stranger)]],
    ["with another payer's money", [used(), transfer(10_000n, stranger)]],
    ["with two partial transfers", [used(), transfer(5_000n), transfer(5_000n)]],
    ["with a fee taken from the payee after it", [used(), transfer(), transfer(100n, payTo, stranger)]],
    [
      "with one transfer for two authorizations, for the one that moved nothing",
      [used(), used(nonce("2")), transfer()],
    ],
  ])("%s", (_, events) => {
    expect(provesPayment(receipt(events), payment)).toBe(false);
  });

  it("when the transaction reverted or its logs were removed", () => {
    expect(provesPayment(receipt([used(), transfer()], "0x0"), payment)).toBe(false);
    const { logs, ...rest } = receipt([used(), transfer()]);
    expect(provesPayment({ ...rest, logs: logs.map((log) => ({ ...log, removed: true })) }, payment)).toBe(false);
  });
});

it("never proves more payments than there are exact transfers, whatever the order of the logs", () => {
  const nonces = ["1", "2", "3"].map(nonce);
  const event = fc.oneof(
    fc.constantFrom(...nonces).map((of) => used(of)),
    fc.constantFrom(9_999n, 10_000n).map((value) => transfer(value)),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const proven = nonces.filter((of) => provesPayment(receipt(events), { ...payment, nonce: of })).length;
      const exact = events.filter(({ data }) => data === `0x${word(10_000n)}`).length;
      expect(proven).toBeLessThanOrEqual(exact);
    }),
    { seed: 3009, numRuns: 2_000 },
  );
});
