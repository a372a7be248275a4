// Strict where money is: every way in which an offer is something else than it seems makes that offer unpayable, and no other one.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readOffer } from "../../src/client/read-offer.js";
import { MAX_UINT64, MAX_UINT256 } from "../../src/money.js";
import { NETWORKS } from "../../src/networks.js";
import {
  ether,
  evm,
  FEE_PAYER,
  FOREIGN,
  inV1,
  type Json,
  MINT,
  PAYEE,
  plain,
  SOLANA_PAYEE,
  sol,
  spl,
  USDC,
  ZERO,
} from "./challenges.js";

const why = (given: unknown, version: 1 | 2 = 2): string => {
  const read = readOffer(version, 0, given);
  return read.ok ? "payable" : read.reason;
};
const read = (given: Json, version: 1 | 2 = 2) => {
  const made = readOffer(version, 3, given);
  if (!made.ok) throw new Error(made.reason);
  return made.offer;
};
const USD = { name: "USDC", version: "2" };

describe("an offer that can be paid", () => {
  it("is read with our own names, in both versions", () => {
    const common = { index: 3, amount: 10_000n, asset: USDC, payTo: PAYEE, method: "eip3009", flow: "authorization" };
    const token = { symbol: "USDC", decimals: 6, domain: USD };
    expect(read(evm())).toMatchObject({ ...common, version: 2, network: { id: "eip155:84532" }, token });
    expect(read(inV1(evm()), 1)).toMatchObject({ ...common, version: 1, network: { id: "eip155:84532" }, token });
    expect(read(spl())).toMatchObject({ method: "spl", asset: MINT, payTo: SOLANA_PAYEE, token: { symbol: "USDC" } });
  });

  it("names the chain's own currency by the address that stands for it on the wire", () => {
    const native = { asset: "native", token: undefined, method: "transaction", flow: "upfront" };
    expect(read(ether())).toMatchObject(native);
    expect(read(sol())).toMatchObject(native);
    expect(read(plain())).toMatchObject({ ...native, asset: FOREIGN });
  });

  it("spells EVM addresses with their checksum, however the seller spells them", () => {
    const offer = read(evm({ asset: USDC.toLowerCase(), payTo: PAYEE.toLowerCase() }));
    expect(offer).toMatchObject({ asset: USDC, payTo: PAYEE, token: { symbol: "USDC" } });
    expect(read(plain({ asset: FOREIGN.toUpperCase().replace("0X", "0x") }))).toMatchObject({ asset: FOREIGN });
  });

  it("is of any token whose domain the seller names, and of a chain beyond the table", () => {
    const offer = read(evm({ asset: FOREIGN, network: "eip155:999999", extra: { name: "Gold", version: "1" } }));
    expect(offer).toMatchObject({ token: undefined, asset: FOREIGN, network: { id: "eip155:999999" } });
  });

  it("needs no domain from the seller where the table has it, and takes null for absent", () => {
    for (const extra of [
      undefined,
      null,
      {},
      { name: null, version: null, assetTransferMethod: null, decimals: null },
    ]) {
      expect(read(evm({ extra }))).toMatchObject({ method: "eip3009", token: { domain: USD } });
    }
    expect(read(spl({ extra: { feePayer: FEE_PAYER, memo: null, tokenProgram: null } }))).toMatchObject({
      method: "spl",
    });
  });

  it("may be settled before it is served, if it says so", () => {
    expect(read(evm({ extra: { ...USD, paymentFlow: "upfront" } })).flow).toBe("upfront");
    expect(read(evm({ extra: { ...USD, paymentFlow: "authorization" } })).flow).toBe("authorization");
    // Money that has left by a transaction of one's own has left, whatever the offer calls it.
    expect(read(ether({ extra: { assetTransferMethod: "transaction" } })).flow).toBe("upfront");
  });

  it("may ask for ten years, for which nothing is ever signed, and for half seconds", () => {
    const seconds = (maxTimeoutSeconds: number) => read(evm({ maxTimeoutSeconds })).maxTimeoutSeconds;
    expect([seconds(300.9), seconds(1)]).toEqual([300, 1]);
    expect(seconds(1e300)).toBe(seconds(10 * 366 * 86_400));
  });
});

describe("an amount", () => {
  it.each<[string, unknown]>([
    ["a number, which may have lost digits", 10_000],
    ["a decimal fraction", "1.5"],
    ["an exponent", "1e4"],
    ["hex", "0x2710"],
    ["a sign", "-10000"],
    ["a plus", "+10000"],
    ["leading zeros", "010000"],
    ["spaces", " 10000"],
    ["no digits", ""],
    ["digits of another script", "１００００"],
    ["nothing", undefined],
    ["null", null],
    ["a list", ["10000"]],
    ["more than a uint256", String(MAX_UINT256 + 1n)],
    ["a million digits", "9".repeat(1_000_000)],
    ["zero", "0"],
  ])("is refused as %s", (_what, amount) => {
    expect(why(evm({ amount }))).toMatch(/^amount/);
    expect(why(inV1(evm({ amount })), 1)).toMatch(/^maxAmountRequired/);
  });

  it("has at most 64 bits on Solana and 256 on EVM", () => {
    expect(read(evm({ amount: String(MAX_UINT256) })).amount).toBe(MAX_UINT256);
    expect(read(spl({ amount: String(MAX_UINT64) })).amount).toBe(MAX_UINT64);
    expect(why(spl({ amount: String(MAX_UINT64 + 1n) }))).toMatch(/larger than/);
  });

  it("is refused where the other version's member names another price", () => {
    expect(why(evm({ maxAmountRequired: "1" }))).toMatch(/two prices/);
    expect(why(inV1(evm(), { amount: "999999999" }), 1)).toMatch(/two prices/);
    expect(why(evm({ maxAmountRequired: "10000" }))).toBe("payable");
  });

  it("is read exactly, whatever it is", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MAX_UINT256 }), (amount) => {
        expect(read(evm({ amount: String(amount) })).amount).toBe(amount);
      }),
      { seed: 402, numRuns: 500 },
    );
  });
});

describe("places and people", () => {
  it.each<[string, Json, RegExp]>([
    ["another scheme", evm({ scheme: "upto" }), /"upto" is not exact/],
    ["no scheme", evm({ scheme: undefined }), /nothing is not exact/],
    ["a network of no kind we know", evm({ network: "cosmos:cosmoshub-4" }), /no network/],
    ["a v1 name in version 2", evm({ network: "base-sepolia" }), /no network of version 2/],
    ["an alias of a cluster in version 2", spl({ network: "solana:devnet" }), /no network/],
    ["no network", evm({ network: 84532 }), /no network/],
    ["a chain id with a zero in front", evm({ network: "eip155:084532" }), /no network/],
    ["a payee with a wrong checksum", evm({ payTo: PAYEE.replace("C", "c") }), /payTo .* checksum/],
    ["a payee of the other family", evm({ payTo: SOLANA_PAYEE }), /payTo/],
    ["an EVM payee on Solana", spl({ payTo: PAYEE }), /payTo/],
    ["a payee too short", evm({ payTo: PAYEE.slice(0, -1) }), /payTo/],
    ["a payee that is a role", evm({ payTo: "merchant" }), /payTo/],
    ["nobody's address", evm({ payTo: ZERO }), /nobody's/],
    ["nobody's address on Solana", spl({ payTo: "1".repeat(32) }), /nobody's/],
    ["the token as its own payee", evm({ payTo: USDC.toLowerCase() }), /asset itself/],
    ["no payee", evm({ payTo: null }), /payTo/],
    ["an asset with a wrong checksum", evm({ asset: USDC.replace("D", "d") }), /asset .* checksum/],
    ["an asset by symbol", evm({ asset: "USDC" }), /asset/],
    ["a mint on EVM", evm({ asset: MINT }), /asset/],
    ["no time", evm({ maxTimeoutSeconds: 0 }), /maxTimeoutSeconds/],
    ["time that is over", evm({ maxTimeoutSeconds: -5 }), /maxTimeoutSeconds/],
    ["time as text", evm({ maxTimeoutSeconds: "300" }), /maxTimeoutSeconds/],
    ["extra that is no object", evm({ extra: "x" }), /extra/],
    ["more than can be sent back", evm({ extra: { ...USD, pad: "x".repeat(5_000) } }), /too many to be sent back/],
  ])("refuses %s", (_what, given, reason) => {
    expect(why(given)).toMatch(reason);
  });

  it("does not take what is no object for an offer", () => {
    for (const given of [null, 7, "x", [], [evm()], undefined]) expect(why(given)).toMatch(/no object/);
  });
});

describe("a token", () => {
  it.each<[string, Json]>([
    ["another name", { name: "USD Coin", version: "2" }],
    ["another version", { name: "USDC", version: "1" }],
    ["a version that is a number", { name: "USDC", version: 2 }],
    ["a name in another case", { name: "usdc", version: "2" }],
  ])("of our table is not paid under a domain with %s", (_what, extra) => {
    expect(why(evm({ extra }))).toMatch(/^wrong domain/);
  });

  it("of our table is not paid where the seller counts its decimals otherwise", () => {
    for (const decimals of [2, 18, "7", true]) {
      expect(why(evm({ extra: { ...USD, decimals } }))).toMatch(/^wrong decimals/);
      expect(why(spl({ extra: { feePayer: FEE_PAYER, decimals } }))).toMatch(/^wrong decimals/);
    }
    for (const decimals of [6, "6"]) expect(why(evm({ extra: { ...USD, decimals } }))).toBe("payable");
    expect(why(ether({ extra: { assetTransferMethod: "transaction", decimals: 6 } }))).toMatch(/^wrong decimals/);
  });

  it("of Solana is not paid through another token program", () => {
    const tokenProgram = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
    expect(why(spl({ extra: { feePayer: FEE_PAYER, tokenProgram } }))).toMatch(/^wrong token program/);
    const usdg = { asset: "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7" };
    expect(why(spl({ ...usdg, extra: { feePayer: FEE_PAYER, tokenProgram } }))).toBe("payable");
  });

  it("that no table knows needs a domain of its own to be signed for", () => {
    for (const extra of [{}, { name: "Gold" }, { name: "", version: "1" }, { name: "G".repeat(101), version: "1" }]) {
      expect(why(evm({ asset: FOREIGN, extra }))).toMatch(/^no domain/);
    }
  });

  it("that takes no authorizations is not signed for", () => {
    const megaUsd = { network: "eip155:4326", asset: "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7" };
    expect(why(evm({ ...megaUsd, extra: { name: "MegaUSD", version: "1" } }))).toMatch(/no signed authorizations/);
    expect(why(plain(megaUsd))).toBe("payable");
  });
});

describe("the way to pay", () => {
  it.each(["permit2", "erc7710", "default", "", 3009])("by %j is not known here", (assetTransferMethod) => {
    expect(why(evm({ extra: { ...USD, assetTransferMethod } }))).toMatch(/transfer method/);
  });

  it.each(["escrow", "deferred", "", false])("in the flow %j is not known here", (paymentFlow) => {
    expect(why(evm({ extra: { ...USD, paymentFlow } }))).toMatch(/payment flow/);
  });

  it("in native currency is by transaction, and in a token of Solana never", () => {
    expect(why(evm({ asset: ZERO }))).toMatch(/ETH itself is paid by transaction only/);
    expect(why(spl({ asset: "1".repeat(32) }))).toMatch(/SOL itself/);
    expect(why(spl({ extra: { feePayer: FEE_PAYER, assetTransferMethod: "transaction" } }))).toMatch(
      /not paid by transaction/,
    );
  });

  it("through a fee payer needs one, and a memo that fits", () => {
    for (const feePayer of [undefined, null, "", PAYEE, 7])
      expect(why(spl({ extra: { feePayer } }))).toMatch(/feePayer/);
    for (const memo of [7, "x".repeat(257), "ž".repeat(129)]) {
      expect(why(spl({ extra: { feePayer: FEE_PAYER, memo } }))).toMatch(/memo/);
    }
    expect(why(spl({ extra: { feePayer: FEE_PAYER, memo: "ž".repeat(128) } }))).toBe("payable");
  });
});

describe("whatever an entry holds", () => {
  it("reading never throws, and a reason is short and printable", () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const keys = Object.keys({ ...evm(), ...inV1(evm()) });
    const extras = ["name", "version", "feePayer", "memo", "decimals", "paymentFlow", "assetTransferMethod"];
    const changed = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 2 });
    const base = fc.constantFrom(evm(), spl(), ether(), sol(), plain());
    fc.assert(
      fc.property(base, changed(keys), changed(extras), fc.constantFrom(1, 2), (given, parts, extra, version) => {
        const offer = { ...given, ...parts, extra: { ...(given.extra as Json), ...extra } };
        const made = readOffer(version, 0, version === 1 ? inV1(offer) : offer);
        if (made.ok) expect(NETWORKS).toContain(made.offer.network);
        else expect(made.reason).toMatch(/^[^\p{Cc}\p{Cf}]{1,400}$/u);
      }),
      { seed: 402, numRuns: 5_000 },
    );
  });
});
