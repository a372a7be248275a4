// The facilitator API over HTTP, on both real chains, in both versions: verdicts in the protocol's words, each payment settled and
// told of once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eip3009Payer, splPayer } from "../../src/testing/index.js";
import { bodyOf, settle, verify, wordOf } from "./facilitating.js";
import { type Kind, onEvm, onSolana } from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;

beforeAll(async () => {
  world = await createBothWorld();
});
afterAll(() => world.close());

const KINDS: readonly (readonly [string, () => Kind])[] = ([1, 2] as const).flatMap((version) => [
  [`USDC on EVM, v${version}`, () => onEvm(world.evm, "usdc", version)] as const,
  [`USDC on Solana, v${version}`, () => onSolana(world.solana, "usdc", version)] as const,
  [`ETH by transaction, v${version}`, () => onEvm(world.evm, "eth", version)] as const,
  [`SOL by transaction, v${version}`, () => onSolana(world.solana, "sol", version)] as const,
]);

describe.each(KINDS)("a payment in %s", (_name, kindOf) => {
  it("is verified as often as one likes, settled once, and then neither", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    for (let round = 0; round < 2; round += 1) expect(wordOf(await verify(world, body))).toBe("valid");
    expect(await kind.received(payTo)).toEqual([]);
    const settled = await settle(world, body);
    expect(wordOf(settled)).toBe("settled");
    expect(settled.body).toMatchObject({ network: body.paymentRequirements.network, payer: expect.any(String) });
    expect(settled.body.transaction).toMatch(/^(?:0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/);
    expect(await kind.received(payTo)).toEqual([kind.units]);
    expect(wordOf(await verify(world, body))).toBe("duplicate_settlement");
    const again = await settle(world, body);
    expect(wordOf(again)).toBe("duplicate_settlement");
    expect(again.body.transaction).toBe(settled.body.transaction);
  });

  it("is nobody else's to settle, before or after", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    const key = await world.newKey({ account: await world.newAccount() });
    expect(wordOf(await settle(world, body))).toBe("settled");
    const theirs = await settle(world, body, { key });
    expect([wordOf(theirs), theirs.body.transaction]).toEqual(["duplicate_settlement", ""]);
    expect(wordOf(await verify(world, body, { key }))).toBe("duplicate_settlement");
  });

  it("is settled and told of once where twenty copies come at once, at two instances", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    const second = await world.another();
    const copies = Array.from({ length: 20 }, (_, copy) => settle(copy % 2 === 0 ? world : second, body));
    const words = (await Promise.all(copies)).map(wordOf);
    expect(words.filter((word) => word === "settled")).toHaveLength(1);
    expect(words.filter((word) => word === "duplicate_settlement")).toHaveLength(19);
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});

describe("what is settled", () => {
  it("shows in the seller's records as received", async () => {
    const kind = onEvm(world.evm, "usdc", 1);
    const payTo = await kind.newPayee();
    const { body } = await settle(world, await bodyOf(kind, payTo));
    const { body: record } = await world.call("GET", `/payment/status/${String(body.transaction)}`);
    expect(record).toMatchObject({ type: "received", resource: "https://shop.example/report", sender: body.payer });
  });

  it("is told again under its own Idempotency-Key", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const body = await bodyOf(kind, await kind.newPayee());
    const options = { headers: { "Idempotency-Key": "one-settlement" } };
    const first = await settle(world, body, options);
    expect((await settle(world, body, options)).body).toEqual(first.body);
    expect(wordOf(await settle(world, body))).toBe("duplicate_settlement");
  });

  it("is settled where fifty payments come in parallel", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const bodies = await Promise.all(Array.from({ length: 50 }, () => bodyOf(kind, payTo)));
    const words = (await Promise.all(bodies.map((body) => settle(world, body)))).map(wordOf);
    expect(words.filter((word) => word === "settled")).toHaveLength(50);
    expect(await kind.received(payTo)).toHaveLength(50);
  });

  it("may come from a smart wallet", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const wallet = await world.evm.wallets.deployed(await world.evm.newBuyer());
    await world.evm.token.setBalances([wallet.address], 1_000_000n);
    const body = await bodyOf(kind, payTo, { payer: eip3009Payer(wallet) });
    expect([wordOf(await verify(world, body)), wordOf(await settle(world, body))]).toEqual(["valid", "settled"]);
  });
});

describe("requirements that this gateway does not serve", () => {
  const required = (version: 1 | 2, more: object) => async () => {
    const kind = onEvm(world.evm, "usdc", version);
    return bodyOf(kind, await kind.newPayee(), { required: { ...more } });
  };
  it.each([
    ["another network", required(2, { network: "eip155:8453" }), "invalid_network"],
    ["another network of v1", required(1, { network: "base" }), "invalid_network"],
    ["a token that is not listed", required(2, { asset: `0x${"12".repeat(20)}` }), "invalid_payment_requirements"],
    [
      "another name of the token",
      required(2, { extra: { name: "USD Coin", version: "2" } }),
      "invalid_exact_evm_token_name_mismatch",
    ],
    [
      "another version of the token",
      required(2, { extra: { name: "USDC", version: "1" } }),
      "invalid_exact_evm_token_version_mismatch",
    ],
    [
      "another name of the token in v1",
      required(1, { extra: { name: "USD Coin", version: "2" } }),
      "invalid_payment_requirements",
    ],
    ["another price than accepted", required(2, { amount: "9999" }), "invalid_payment_requirements"],
    ["another payee than accepted", required(2, { payTo: `0x${"12".repeat(20)}` }), "invalid_payment_requirements"],
    [
      "another payee than signed",
      required(1, { payTo: `0x${"12".repeat(20)}` }),
      "invalid_exact_evm_payload_recipient_mismatch",
    ],
    [
      "another price than signed",
      required(1, { maxAmountRequired: "9999" }),
      "invalid_exact_evm_payload_authorization_value",
    ],
    ["another scheme", required(2, { scheme: "upto" }), "unsupported_scheme"],
  ])("are refused in words: %s", async (_what, make, reason) => {
    const body = await make();
    expect(wordOf(await verify(world, body))).toBe(reason);
    const settled = await settle(world, body);
    expect(wordOf(settled)).toBe(reason);
    expect(settled.body).toMatchObject({ success: false, transaction: "", network: body.paymentRequirements.network });
  });

  it("are fine without the token's domain, which is our own in any case", async () => {
    const kind = onEvm(world.evm, "usdc", 1);
    const body = await bodyOf(kind, await kind.newPayee(), { required: { extra: {} } });
    expect(wordOf(await settle(world, body))).toBe("settled");
  });

  it("are refused on Solana where somebody else is to pay the fee, and where the memo is another one", async () => {
    const kind = onSolana(world.solana, "usdc", 2);
    const payTo = await kind.newPayee();
    const foreign = await bodyOf(kind, payTo, { required: { extra: { feePayer: world.solana.seller } } });
    expect(wordOf(await verify(world, foreign))).toBe("invalid_exact_svm_fee_payer_not_managed_by_facilitator");
    const extra = { ...kind.offer(payTo).extra, memo: "order 7" };
    const offer = { ...kind.offer(payTo), extra };
    const { rpcUrl } = world.solana;
    const right = await bodyOf(kind, payTo, {
      offer,
      payer: splPayer(await world.solana.newBuyer(), { rpcUrl, memo: "order 7" }),
    });
    const wrong = await bodyOf(kind, payTo, {
      offer,
      payer: splPayer(await world.solana.newBuyer(), { rpcUrl, memo: "order 8" }),
    });
    expect(wordOf(await settle(world, wrong))).toBe("invalid_exact_svm_payload_memo_mismatch");
    expect(wordOf(await settle(world, right))).toBe("settled");
  });

  it("are refused below the asset's minimum, because the settlement costs gas", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const minimum = world.gateway.networks.find("base-sepolia")?.assets[1]?.minimum ?? 0n;
    expect(minimum).toBeGreaterThan(1n);
    const body = await bodyOf(kind, payTo, { offer: { ...kind.offer(payTo), amount: `${minimum - 1n}` } });
    expect(wordOf(await settle(world, body))).toBe("invalid_payment_requirements");
  });
});

describe("what is no verdict on a payment", () => {
  it("is a fault: a live key on a test network, a wallet of another account, no key", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    const live = await world.newKey({ mode: "live" });
    expect(wordOf(await verify(world, body, { key: live }))).toBe("403 FORBIDDEN");
    expect(wordOf(await settle(world, body, { key: null }))).toBe("401 UNAUTHORIZED");
    await world.gateway.database.accounts.prove(await world.newAccount(), String(body.paymentRequirements.payTo));
    expect(wordOf(await settle(world, body))).toBe("403 FORBIDDEN");
    expect(await kind.received(payTo)).toEqual([]);
  });
});

describe("GET /supported", () => {
  it("lists what is settled here, under the names of both versions, and needs no key", async () => {
    const { status, body } = await world.call("GET", "/supported", undefined, { key: null });
    const feePayer = world.solana.feePayer.publicKey.toBase58();
    expect([status, body]).toEqual([
      200,
      {
        kinds: [
          { x402Version: 2, scheme: "exact", network: "eip155:84532" },
          { x402Version: 1, scheme: "exact", network: "base-sepolia" },
          { x402Version: 2, scheme: "exact", network: world.solana.caip2, extra: { feePayer } },
          { x402Version: 1, scheme: "exact", network: "solana-devnet", extra: { feePayer } },
        ],
        extensions: [],
        signers: { "solana:*": [feePayer] },
      },
    ]);
  });
});
