// What the compiler says to a buyer: options that cannot be meant do not compile. Checked by `npm run types`, where a line marked
// `@ts-expect-error` that compiles is an error of its own.
import { describe, expectTypeOf, it } from "vitest";
import { fileBuyerStore } from "../../src/client/file.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { type Cap, type Caps, type PayingFetchOptions, readOptions } from "../../src/client/options.js";
import type { Purchase } from "../../src/client/purchase.js";
import type { ApprovalRequest } from "../../src/client/settings.js";
import type { BuyerStore } from "../../src/client/store.js";
import type { Wallet } from "../../src/client/wallet.js";

declare const wallet: Wallet;
declare const wallets: readonly Wallet[];
declare const text: string;
const budget = { perRequest: "$0.10", perDay: "$5" };
const take = (options: PayingFetchOptions) => readOptions(options);

describe("the options of a buyer", () => {
  it("have one wallet or more, and a budget", () => {
    take({ wallets: [wallet], budget });
    take({ wallets, budget });
    // @ts-expect-error: without a budget a loop would not end
    take({ wallets });
    // @ts-expect-error: nobody pays
    take({ budget });
    // @ts-expect-error: a list, also of one
    take({ wallet, budget });
    // @ts-expect-error: not an account, but what evmWallet(account) returns
    take({ wallets: [{ address: "0x…" }], budget });
  });

  it("limit an hour or a day, besides one request", () => {
    take({ wallets, budget: { perRequest: "$0.10", perHour: "$1" } });
    take({ wallets, budget: { perRequest: "$0.10", perHour: "$1", perDay: "$5" } });
    // @ts-expect-error: a loop would not end
    take({ wallets, budget: { perRequest: "$0.10" } });
    // @ts-expect-error: one request could take the whole day
    take({ wallets, budget: { perDay: "$5" } });
    // @ts-expect-error: limits by name
    take({ wallets, budget: "$5" });
    // @ts-expect-error: no such limit
    take({ wallets, budget: { ...budget, perWeek: "$9" } });
    take({ wallets, budget: { ...budget, hosts: { "a.example": { perRequest: "$1" }, "b.example": {} } } });
    // @ts-expect-error: a host has limits of the same names
    take({ wallets, budget: { ...budget, hosts: { "a.example": { perWeek: "$9" } } } });
    // @ts-expect-error: and no hosts of its own
    take({ wallets, budget: { ...budget, hosts: { "a.example": { hosts: {} } } } });
  });

  it("write amounts as text, or as atomic units of a token, or as a list of them", () => {
    const amounts: Caps = ["$0.10", text, { amount: "10000", asset: "0x…", network: "base" }];
    take({ wallets, budget: { perRequest: amounts, perDay: amounts } });
    // @ts-expect-error: a number is no amount of money
    take({ wallets, budget: { perRequest: 0.1, perDay: "$5" } });
    // @ts-expect-error: nor in a list
    take({ wallets, budget: { perRequest: ["$0.10", 1n], perDay: "$5" } });
    // @ts-expect-error: a token is on a network
    const lost: Cap = { amount: "10000", asset: "0x…" };
    // @ts-expect-error: atomic units are text
    const float: Cap = { amount: 10000, asset: "0x…", network: "base" };
    expectTypeOf([lost, float]).toExtend<readonly Cap[]>();
  });

  it("take stores, networks, hosts, pins and callbacks", () => {
    expectTypeOf(memoryBuyerStore({ maxPurchases: 1 })).toEqualTypeOf<BuyerStore>();
    expectTypeOf(fileBuyerStore("a.json", { lockWaitMs: 1 })).toEqualTypeOf<BuyerStore>();
    take({ wallets, budget, networks: ["base", "eip155:1"], prefer: ["solana"], hosts: [text], allowHttp: [text] });
    take({ wallets, budget, payTo: { "a.example": "0x…", "b.example": ["0x…"] }, resend: { times: 0 }, breaker: {} });
    take({
      wallets,
      budget,
      store: memoryBuyerStore(),
      fetch: globalThis.fetch,
      approve: async (request) => {
        expectTypeOf(request).toEqualTypeOf<ApprovalRequest>();
        return true;
      },
      onPayment: (purchase) => expectTypeOf(purchase).toEqualTypeOf<Purchase>(),
      onEvent: ({ type }) => expectTypeOf(type).toBeString(),
    });
    // @ts-expect-error: a store is made of its path
    take({ wallets, budget, store: "spending.json" });
    // @ts-expect-error: a list
    take({ wallets, budget, networks: "base" });
    // @ts-expect-error: pins are by host
    take({ wallets, budget, payTo: "0x…" });
    // @ts-expect-error: it answers true or false
    take({ wallets, budget, approve: () => "yes" });
    // @ts-expect-error: seconds
    take({ wallets, budget, maxValiditySeconds: "600" });
    // @ts-expect-error: a file has a path
    fileBuyerStore();
  });
});
