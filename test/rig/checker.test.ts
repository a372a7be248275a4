// The rig's checker under forged histories: an honest one passes, and each breach of each promise is caught by its rule.
import { describe, expect, it } from "vitest";
import { NEEDS } from "../../src/repeat.js";
import { check, type Rule } from "./checker.js";
import type { History, Purchase, Told } from "./history.js";

const PRICE = 10_000n;
const GOODS = "the goods of 1.1 xx";

const told = (parts: Partial<Told>): Told => ({
  ...{ by: "buyer", status: 503, code: undefined, bill: false, body: "", complete: true, replayed: false },
  ...parts,
});
const goods = (parts: Partial<Told> = {}) => told({ status: 200, body: GOODS, ...parts });
const unknown = told({ code: "settlement_unknown" });
const lost = told({ status: undefined, complete: false });
const spent = told({ status: 409, code: "payment_already_used", body: JSON.stringify({ expected: NEEDS.delivery }) });
const bill = (code: string) => told({ status: 402, code, bill: true });
const debit = { amount: PRICE, transaction: "0x1" };

const purchase = (parts: Partial<Purchase> = {}): Purchase => ({
  ...{ payer: "0xA", keyed: true, told: [goods()], runs: ["1.1"], debits: [debit], spent: PRICE },
  ...parts,
});
const unpaid = (parts: Partial<Purchase>) => purchase({ debits: [], spent: 0n, runs: [], ...parts });
const history = (one: Purchase, parts: Partial<History> = {}): History => ({
  ...{ purchases: [one], price: PRICE, received: one.spent, foreign: [] },
  ...parts,
});
const rulesOf = (one: History): readonly Rule[] => [...new Set(check(one).map(({ rule }) => rule))];

const HONEST: readonly [string, Purchase][] = [
  ["sold at once", purchase()],
  ["sold by the third try", purchase({ told: [told({ status: undefined, complete: false }), unknown, goods()] })],
  [
    "cut in the middle and given whole later",
    purchase({ told: [goods({ body: "the go", complete: false }), goods()] }),
  ],
  ["given once more by the kept answer", purchase({ told: [goods(), goods({ replayed: true })] })],
  ["run twice, served once", purchase({ runs: ["2.1", "1.1"] })],
  ["expired after its outcome was unknown", unpaid({ told: [unknown, bill("payment_expired")], runs: ["1.1"] })],
  ["refused before anything happened", unpaid({ told: [bill("payment_expired")] })],
  ["shown by a stranger, in vain", purchase({ told: [goods(), told({ by: "stranger", status: 409 })] })],
  ["shown by a stranger after its time", purchase({ told: [goods(), { ...bill("payment_expired"), by: "stranger" }] })],
  ["never heard of", unpaid({ told: [lost] })],
  ["paid, and every delivery was lost on its way", purchase({ told: [lost, unknown, lost, lost, spent] })],
];

const BREACHES: readonly [Rule, string, History][] = [
  ["double grant", "two whole answers", history(purchase({ told: [goods(), goods()] }))],
  [
    "double debit",
    "two debits",
    history(purchase({ debits: [debit, { ...debit, transaction: "0x2" }], spent: 2n * PRICE })),
  ],
  [
    "double grant",
    "a kept answer once more, without a key to ask for it",
    history(purchase({ keyed: false, told: [goods(), goods({ replayed: true })] })),
  ],
  ["unpaid grant", "goods and no debit", history(unpaid({ told: [goods()], runs: ["1.1"] }))],
  [
    "unpaid grant",
    "half of the goods and no debit",
    history(unpaid({ told: [goods({ complete: false }), bill("x")] })),
  ],
  [
    "goods for a stranger",
    "a kept answer without its key",
    history(purchase({ told: [goods(), goods({ by: "stranger", replayed: true })] })),
  ],
  [
    "other goods",
    "two bodies for one payment",
    history(
      purchase({ told: [goods(), goods({ replayed: true, body: "the goods of 1.2 xx" })], runs: ["1.1", "1.2"] }),
    ),
  ],
  ["goods of no run", "a body that no handler made", history(purchase({ runs: ["3.1"] }))],
  ["new bill", "a bill for what was paid", history(purchase({ told: [bill("payment_invalid"), goods()] }))],
  ["new bill", "a bill after the goods", history(purchase({ told: [goods(), bill("payment_required")] }))],
  ["new bill", "a bill for what ran out of time and was paid", history(purchase({ told: [bill("payment_expired")] }))],
  ["new bill", "a bill after the outcome was unknown", history(unpaid({ told: [unknown, bill("payment_required")] }))],
  [
    "new bill",
    "expired, it was said, and taken",
    history(purchase({ told: [unknown, bill("payment_expired"), goods()] })),
  ],
  ["paid, not served", "a debit and no goods", history(purchase({ told: [unknown], runs: [] }))],
  ["paid, not served", "a debit and half of the goods", history(purchase({ told: [goods({ complete: false })] }))],
  [
    "paid, not served",
    "no delivery left, as is said, after two that were lost",
    history(purchase({ told: [lost, lost, spent] })),
  ],
  [
    "paid, not served",
    "no delivery left, as is said, after answers that were none of the goods",
    history(purchase({ told: [unknown, unknown, unknown, spent] })),
  ],
  [
    "paid, not served",
    "used, as is said, for no reason",
    history(purchase({ told: [lost, lost, lost, { ...spent, body: "{}" }] })),
  ],
  ["unaccounted", "unknown to the end", history(unpaid({ told: [unknown] }))],
  ["money", "another amount than the price", history(purchase({ debits: [{ ...debit, amount: 9n }], spent: 9n }))],
  ["money", "spent and not debited", history(purchase({ spent: PRICE + 1n }))],
  ["money", "received from nowhere", history(purchase(), { received: PRICE + 1n })],
  ["money", "a debit of no purchase", history(purchase(), { foreign: ["0xB"] })],
];

describe("the checker", () => {
  it.each(HONEST)("finds nothing in a payment that was %s", (_what, one) => {
    expect(check(history(one))).toEqual([]);
  });

  it.each(BREACHES)("finds %s: %s", (rule, _what, one) => {
    expect(rulesOf(one)).toContain(rule);
  });

  it("has a forged history for each of its rules", () => {
    const rules: Record<Rule, true> = {
      ...{ "double grant": true, "double debit": true, "unpaid grant": true, "goods for a stranger": true },
      ...{ "other goods": true, "goods of no run": true, "new bill": true, "paid, not served": true },
      ...{ unaccounted: true, money: true },
    };
    expect([...new Set(BREACHES.map(([rule]) => rule))].sort()).toEqual(Object.keys(rules).sort());
  });
});
