// `tollgate explain` of challenges and receipts, offline: what a seller asks, and each thing in it that makes it unpayable or a
// trap. A seller's own words are shown without what a terminal would obey.
import { describe, expect, it } from "vitest";
import { run } from "./cli.js";
import { challenge, explain, explainHeader, OFFER, PAYEE, RESOURCE, told, USDC } from "./explaining.js";

const offerV1 = {
  scheme: "exact",
  network: "base-sepolia",
  maxAmountRequired: "10000",
  resource: RESOURCE.url,
  description: "A report",
  mimeType: "application/json",
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  asset: USDC,
  extra: { name: "USDC", version: "2" },
};
const bodyV1 = (offer: object = offerV1) =>
  JSON.stringify({ x402Version: 1, error: "X-PAYMENT header is required", accepts: [offer] });

describe("a challenge", () => {
  it("of version 2 says what it asks", async () => {
    const { code, found, flaws } = await explainHeader("PAYMENT-REQUIRED", challenge());
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]?.says).toBe("A seller asks 0.01 USDC on base-sepolia (x402 version 2)");
    expect(found[0]?.facts).toMatchObject({
      reason: "payment_required",
      resource: RESOURCE.url,
      description: "A report",
    });
    expect(found[0]?.offers[0]?.facts).toMatchObject({ price: "0.01 USDC", payTo: PAYEE, within: "60 seconds" });
  });

  it("of version 1 is the JSON of the body, from a pipe", async () => {
    const { code, found, flaws } = await explain(bodyV1());
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]?.says).toBe("A seller asks 0.01 USDC on base-sepolia (x402 version 1)");
  });

  it("lists several offers for a person, and says what of it nobody here pays", async () => {
    const more = [
      OFFER,
      {
        ...OFFER,
        network: "eip155:8453",
        asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        extra: { name: "USD Coin", version: "2" },
      },
      { ...OFFER, scheme: "upto" },
    ];
    const text = JSON.stringify(challenge(OFFER, { accepts: more }));
    const { code, stdout } = await run(["explain", text], { terminal: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/in one of 3 ways/);
    expect(stdout).toMatch(/Offer 2: 0\.01 USDC on base\n/);
    expect(stdout).toMatch(/Worth knowing\n {4}- tollgate's buyer does not pay it: the scheme "upto" is not exact/);
  });

  it.each([
    ["no offers", { accepts: [] }, "accepts: expected at least one offer, got an empty list"],
    ["no list", { accepts: {} }, "accepts: expected a list of offers, got an object"],
    ["no resource", { resource: undefined }, "resource: expected an object with a url, got nothing"],
    ["extensions that are none", { extensions: [] }, "extensions: expected an object, got a list of 0"],
  ])("%s", async (_name, more, flaw) => {
    expect((await explainHeader("PAYMENT-REQUIRED", challenge(OFFER, more))).flaws).toEqual([flaw]);
  });

  it.each([
    ["a number for an amount", { amount: 10_000 }, "accepts[0].amount: expected string, got 10000"],
    [
      "an amount in whole units",
      { amount: "0.01" },
      /amount: expected a whole number below 2\^256 in decimal digits, as text, got "0\.01"/,
    ],
    ["nothing to pay", { amount: "0" }, 'accepts[0].amount: expected more than 0, got "0"'],
    [
      "an unknown network",
      { network: "eip155:base" },
      /network: expected a network that is known \(.*\), got "eip155:base"/,
    ],
    [
      "a name of version 1",
      { network: "base" },
      'accepts[0].network: expected the CAIP-2 id of base, eip155:8453, got "base"',
    ],
    [
      "a wrong checksum",
      { payTo: PAYEE.replace("C5", "c5") },
      /payTo: expected an address whose mixed case is its checksum/,
    ],
    [
      "a payee that is no address",
      { payTo: "alice.eth" },
      /payTo: expected an address on base-sepolia: 0x and 40 hex digits, got "alice\.eth"/,
    ],
    ["the token as payee", { payTo: USDC }, "accepts[0].payTo: expected the seller's address, got the asset itself"],
    [
      "ten years",
      { maxTimeoutSeconds: 315_576_000 },
      "accepts[0].maxTimeoutSeconds: expected at most a day (86400), got 315576000",
    ],
    [
      "a domain that contradicts our table",
      { extra: { name: "USD Coin", version: "2" } },
      'accepts[0].extra.name: expected "USDC", as the contract of USDC says, got "USD Coin"',
    ],
    ["no domain", { extra: {} }, /extra\.name: expected the token's EIP-712 name, "USDC", got nothing/],
    ["no object", null, "accepts[0]: expected object, got null"],
  ])("an offer with %s", async (_name, wrong, flaw) => {
    const { code, flaws } = await explainHeader(
      "PAYMENT-REQUIRED",
      challenge(OFFER, { accepts: [wrong && { ...OFFER, ...wrong }] }),
    );
    expect(code).toBe(1);
    expect(flaws[0]).toEqual(typeof flaw === "string" ? flaw : expect.stringMatching(flaw));
  });

  it("of a header that contradicts its body", async () => {
    const header = Buffer.from(JSON.stringify(challenge())).toString("base64");
    const other = bodyV1({
      ...offerV1,
      payTo: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
      maxAmountRequired: "20000",
    });
    const answer = `HTTP/1.1 402 Payment Required\r\nPAYMENT-REQUIRED: ${header}\r\n\r\n${other}`;
    const { found, flaws } = await explain(answer);
    expect(found.map(({ kind, version }) => `${kind} ${version}`)).toEqual(["challenge 2", "challenge 1"]);
    expect(flaws).toEqual([
      "body: accepts[0], price: expected 0.01 USDC, as PAYMENT-REQUIRED says, got 0.02 USDC",
      expect.stringMatching(/^body: accepts\[0\], payTo: expected 0x7099/),
    ]);
    expect((await explain(answer.replace(other, bodyV1()))).flaws).toEqual([]);
  });

  it("with escape codes, bidi marks and length: shown harmlessly, in both forms", async () => {
    const evil = "\u001b]0;pwned\u0007\u001b[2J\u202egnp.exe\u0085\u200b";
    const text = JSON.stringify(
      challenge(
        { ...OFFER, payTo: evil, scheme: evil, network: evil, extra: { name: evil, version: evil } },
        {
          error: evil,
          resource: { url: `https://x/${evil}`, description: evil.repeat(10_000) },
          extensions: { [evil]: evil },
        },
      ),
    );
    for (const terminal of [true, false]) {
      const { code, stdout, stderr } = await run(["explain"], { input: text, terminal: false });
      const shown = terminal
        ? await run(["explain", text], { terminal, env: { NO_COLOR: "1" } })
        : { code, stdout, stderr };
      expect(shown.code).toBe(1);
      // Line feeds are ours.
      expect(shown.stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(shown.stdout.length).toBeLessThan(10_000);
    }
  });
});

describe("a receipt", () => {
  const good = { success: true, transaction: `0x${"ab".repeat(32)}`, network: "eip155:84532", payer: PAYEE };

  it("says whether the money was taken, in either version, null members or not", async () => {
    const { code, found } = await explainHeader("PAYMENT-RESPONSE", { ...good, errorReason: null });
    expect(code).toBe(0);
    expect(found[0]?.says).toBe("The payment was settled on base-sepolia");
    expect(found[0]?.facts).toMatchObject({ transaction: good.transaction, payer: PAYEE });
    expect((await explainHeader("X-PAYMENT-RESPONSE", { ...good, network: "base-sepolia" })).code).toBe(0);
    const refused = { success: false, transaction: "", network: "eip155:84532", errorReason: "insufficient_funds" };
    const told = await explainHeader("PAYMENT-RESPONSE", refused);
    expect(told.found[0]?.says).toBe("The payment was not settled: insufficient_funds");
    expect(told.code).toBe(0);
  });

  it.each([
    [
      "success without a transaction",
      { transaction: "" },
      "transaction: expected the id of the transaction that paid, got nothing",
    ],
    [
      "an id of another chain",
      { transaction: "5".repeat(88) },
      /transaction: expected an id on base-sepolia: 0x and 64 hex digits/,
    ],
    ["success that is text", { success: "true" }, 'success: expected boolean, got "true"'],
    ["a reason beside success", { errorReason: "x" }, 'errorReason: expected none beside success, got "x"'],
    ["version 1's name in version 2", { network: "base-sepolia" }, /network: expected the CAIP-2 id/],
  ])("%s", async (_name, wrong, flaw) => {
    const { code, flaws } = await explainHeader("PAYMENT-RESPONSE", { ...good, ...wrong });
    expect(code).toBe(1);
    expect(flaws[0]).toEqual(typeof flaw === "string" ? flaw : expect.stringMatching(flaw));
  });

  it("is found in a whole answer as curl prints it", async () => {
    const header = Buffer.from(JSON.stringify(good)).toString("base64");
    const answer = `< HTTP/1.1 200 OK\r\n< payment-response: ${header}\r\n< \r\n{"report":1}`;
    const { code, found } = told(await run(["explain", "-"], { input: answer }));
    expect(code).toBe(0);
    expect(found).toMatchObject([{ kind: "receipt", version: 2 }]);
  });
});
