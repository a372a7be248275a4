// Hostile sellers with a real token: each takes whatever it can get out of a buyer with a cent a request and a dollar a day, by
// submitting every authorization that reaches it. None gets more than its due, as the chain counts it.
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BuyerError } from "../../src/client/errors.js";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { payingFetch } from "../../src/client/paying-fetch.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { ether, evm, type Json, PAYEE, USDC } from "./challenges.js";
import { type Answer, asks, goods, type Script, type SeenRequest, useSellers } from "./scripted-seller.js";

const CENT = 10_000n;
const openSeller = useSellers();

let sandbox: Sandbox;
let settle: ReturnType<typeof settleOnChain>;
beforeAll(async () => {
  sandbox = await createSandbox();
  settle = settleOnChain(sandbox);
});
afterAll(() => sandbox?.close());

/** Submits what came, if the chain takes it. */
async function take({ proof }: SeenRequest): Promise<boolean> {
  const { payload } = JSON.parse(Buffer.from(proof ?? "", "base64").toString());
  return settle({ asset: USDC, ...payload }).then(
    () => true,
    () => false,
  );
}

/** Asks with these offers; takes the money of whoever pays, and then does as it likes. */
const takesAndThen =
  (accepts: readonly Json[], ...answers: readonly Answer[]): Script =>
  async (request, count) => {
    if (request.proof === undefined) return asks(accepts);
    await take(request);
    return answers[Math.min(count - 1, answers.length - 1)] ?? "drop";
  };

/** Calls until it is served, at most three times, as an impatient program does; gives the outcomes and what it cost. */
async function shopAt(script: Script, path = "/report") {
  const seller = await openSeller(script);
  const account = await sandbox.newBuyer();
  const pay = payingFetch({
    wallets: [evmWallet(account, { rpcUrl: sandbox.rpcUrl })],
    budget: { perRequest: "$0.01", perDay: "$1" },
    resend: { times: 1, maxDelayMs: 1 },
  });
  const outcomes: string[] = [];
  for (let call = 0; call < 3 && outcomes.at(-1) !== "200"; call += 1) {
    const outcome = await pay(`${seller.origin}${path}`).then(
      ({ status }) => `${status}`,
      (error: unknown) => (error instanceof BuyerError ? error.code : `${(error as Error).name}`),
    );
    outcomes.push(outcome);
  }
  const debits = await sandbox.token.transfers({ from: account.address });
  return { outcomes, paid: debits.map(({ to, value }) => [to, value]), seller };
}

const due = [[PAYEE, CENT]];
const free: unknown[] = [];
const junk = (length: number) => Array.from({ length }, () => evm());

/** Asked for, and what it may get; `outcomes` of at most three calls. */
const SELLERS: Readonly<Record<string, { script: Script; outcomes: readonly string[]; paid: unknown[] }>> = {
  "asks for a price far above the cap": {
    script: takesAndThen([evm({ amount: "1000000000" })]),
    outcomes: ["over_cap", "over_cap", "over_cap"],
    paid: free,
  },
  "asks for one millionth more than the cap": {
    script: takesAndThen([evm({ amount: "10001" })]),
    outcomes: ["over_cap", "over_cap", "over_cap"],
    paid: free,
  },
  "hides a dear offer behind a cheap one that nobody can pay": {
    script: takesAndThen([evm({ amount: "1", scheme: "upto" }), evm({ amount: "1000000" })]),
    outcomes: ["over_cap", "over_cap", "over_cap"],
    paid: free,
  },
  "names another price on the second 402": {
    script: async (request) => {
      if (request.proof) await take(request);
      return asks([evm({ amount: request.proof ? "9999" : "10000" })]);
    },
    outcomes: ["payment_refused", "payment_refused", "payment_refused"],
    paid: [...due, [PAYEE, CENT]],
  },
  "asks for money again and again, and takes it": {
    script: takesAndThen([evm()], asks()),
    outcomes: ["payment_refused", "payment_refused", "payment_refused"],
    paid: [...due, [PAYEE, CENT]],
  },
  "says 402 after the money has moved, with the receipt": {
    script: takesAndThen([evm()], { ...asks(), headers: { ...asks().headers, ...goods().headers } }),
    outcomes: ["charged_without_goods", "charged_without_goods", "charged_without_goods"],
    paid: due,
  },
  "wants an authorization for ten years": {
    script: takesAndThen([evm({ maxTimeoutSeconds: 315_360_000 })], goods()),
    outcomes: ["200"],
    paid: due,
  },
  "names a chain that is not there": {
    script: takesAndThen([evm({ network: "eip155:999999999" })]),
    outcomes: ["no_payable_offer", "no_payable_offer", "no_payable_offer"],
    paid: free,
  },
  "names a token of its own": {
    script: takesAndThen([evm({ asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3" })]),
    outcomes: ["no_payable_offer", "no_payable_offer", "no_payable_offer"],
    paid: free,
  },
  "names another domain for our token": {
    script: takesAndThen([evm({ extra: { name: "USD Coin", version: "1" } })]),
    outcomes: ["no_payable_offer", "no_payable_offer", "no_payable_offer"],
    paid: free,
  },
  "asks for ether under a cap in dollars": {
    script: takesAndThen([ether({ amount: "1" })]),
    outcomes: ["no_payable_offer", "no_payable_offer", "no_payable_offer"],
    paid: free,
  },
  "makes one offer five times and never answers": {
    script: takesAndThen(junk(5)),
    outcomes: ["outcome_unknown", "outcome_unknown", "outcome_unknown"],
    paid: due,
  },
  "settles and drops the connection": {
    script: takesAndThen([evm()], "drop", "drop", goods()),
    outcomes: ["outcome_unknown", "200"],
    paid: due,
  },
  "gives nothing for the money but says 200": {
    script: takesAndThen([evm()], { status: 200 }),
    outcomes: ["200"],
    paid: due,
  },
  "answers a paid request with an error page": {
    script: takesAndThen([evm()], { status: 500, body: "<h1>oops</h1>" }),
    outcomes: ["500", "500", "500"],
    paid: due,
  },
};

describe("a seller who", () => {
  it.each(Object.entries(SELLERS))("%s gets no more than its due", async (_name, { script, outcomes, paid }) => {
    expect(await shopAt(script)).toMatchObject({ outcomes, paid });
  });

  const noChallenge: Readonly<Record<string, Answer>> = {
    HTML: { status: 402, headers: { "content-type": "text/html" }, body: "<h1>Pay here</h1>" },
    "broken base64": { status: 402, headers: { "PAYMENT-REQUIRED": "%%%" } },
    "a cut-off header": { status: 402, headers: { "PAYMENT-REQUIRED": "eyJ4NDAyVmVyc2lvbiI6Mi" } },
    "two headers in one": { status: 402, headers: { "PAYMENT-REQUIRED": "e30=, e30=" } },
    "compressed bytes that are no JSON": { status: 402, body: gzipSync("{}") },
    nothing: { status: 402 },
  };
  it.each(Object.entries(noChallenge))("answers 402 with %s gets nothing", async (_name, answer) => {
    const { outcomes, paid } = await shopAt(() => answer);
    expect({ outcomes, paid }).toEqual({ outcomes: Array(3).fill("challenge_invalid"), paid: free });
  });

  it("makes offers by the thousand gets nothing, in a header or a body", async () => {
    const body = JSON.stringify({ x402Version: 2, resource: { url: "" }, accepts: junk(2_000) });
    const large = await shopAt(() => ({ status: 402, body }));
    expect(large).toMatchObject({ outcomes: Array(3).fill("challenge_too_large"), paid: free });
    const many = JSON.stringify({ x402Version: 2, resource: { url: "" }, accepts: junk(101) });
    expect(await shopAt(() => ({ status: 402, body: many }))).toMatchObject({ paid: free });
  });

  it("swaps the payee for another one than is pinned gets nothing", async () => {
    const seller = await openSeller(takesAndThen([evm({ payTo: sandbox.payTo })]));
    const account = await sandbox.newBuyer();
    const pay = payingFetch({
      wallets: [evmWallet(account)],
      budget: { perRequest: "$0.01", perDay: "$1" },
      payTo: { [seller.host]: PAYEE },
    });
    await expect(pay(seller.url)).rejects.toMatchObject({ code: "payee_not_pinned", money: "none" });
    expect(seller.paid).toEqual([]);
  });

  it("sends a bomb of headers gets what fetch says of it, and nothing else", async () => {
    const bomb = { status: 402, headers: { "PAYMENT-REQUIRED": "A".repeat(60_000), "X-Bomb": "B".repeat(60_000) } };
    const { outcomes, paid } = await shopAt(() => bomb);
    expect({ outcomes, paid }).toEqual({ outcomes: Array(3).fill("TypeError"), paid: free });
  });

  it("writes Arabic, emoji and letters that turn the text around is paid its price, and its words are shown harmless", async () => {
    const description = "\u202Egnp.exe تقرير 📈\u0007\u001b[31m";
    const script: Script = async (request) => {
      if (!request.proof) return asks([evm()], { resource: { url: "https://shop.example/", description } });
      await take(request);
      return goods();
    };
    expect(await shopAt(script, "/ص?q=📈")).toMatchObject({ outcomes: ["200"], paid: due });
    const seller = await openSeller(script);
    const account = await sandbox.newBuyer();
    const pay = payingFetch({ wallets: [evmWallet(account)], budget: { perRequest: "$0.01", perDay: "$1" } });
    const { description: shown } = await pay.quote(seller.url);
    expect(shown).toContain("تقرير 📈");
    expect(shown).not.toMatch(/[\p{Cc}\u202E]/u);
  });
});

describe("a program that repeats every failed call (A59)", () => {
  it("has paid three times when the host is stopped, and is told", async () => {
    const seller = await openSeller(takesAndThen([evm()], { status: 500 }));
    const account = await sandbox.newBuyer();
    const stopped: string[] = [];
    const pay = payingFetch({
      wallets: [evmWallet(account)],
      budget: { perRequest: "$0.01", perDay: "$1" },
      onEvent: (event) => event.type === "stopped" && stopped.push(event.code),
    });
    const outcomes: unknown[] = [];
    for (let call = 0; call < 50; call += 1) {
      const url = `${seller.url}?attempt=${call}`;
      outcomes.push(
        await pay(url).then(
          ({ status }) => status,
          (error: BuyerError) => error.code,
        ),
      );
    }
    expect(outcomes).toEqual([500, 500, 500, ...Array(47).fill("host_stopped")]);
    expect(await sandbox.token.transfers({ from: account.address })).toHaveLength(3);
    expect(stopped).toEqual(Array(47).fill("host_stopped"));
  });
});
