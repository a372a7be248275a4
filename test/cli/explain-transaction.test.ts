// `tollgate explain` of payments by a transaction: Solana tokens and SOL, and a buyer's own transfer on EVM. What our own paywall
// would refuse is told with its reason.
import { type Keypair, PublicKey } from "@solana/web3.js";
import { parseGwei } from "viem";
import { describe, expect, it } from "vitest";
import { DEFAULT_CAPS } from "../../src/chains/solana/terms.js";
import * as sol from "../chains/solana/native-payment.js";
import * as spl from "../chains/solana/payment.js";
import { BUYER, explainHeader, PAYEE, RESOURCE } from "./explaining.js";

const DEVNET = spl.TERMS.network;

const v2 = (accepted: object, payload: object) => ({ x402Version: 2, accepted, resource: RESOURCE, payload });

describe("a token payment on Solana", () => {
  const offer = {
    scheme: "exact",
    network: DEVNET,
    amount: "10000",
    asset: spl.TERMS.mint,
    payTo: spl.TERMS.payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: spl.TERMS.feePayer, decimals: 6 },
  };
  const tell = (transaction: string, accepted: object = offer) =>
    explainHeader("PAYMENT-SIGNATURE", v2(accepted, { transaction }));

  it("says what it moves, from whom, and who pays the network", async () => {
    const { code, found, flaws } = await tell(spl.pay());
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]?.says).toBe(`Pays 0.01 USDC on solana-devnet to ${spl.TERMS.payTo} (x402 version 2)`);
    expect(found[0]?.facts).toMatchObject({
      payer: spl.PAYER.key.toBase58(),
      feePayer: spl.TERMS.feePayer,
      fee: "10001 lamports",
    });
  });

  it("of version 1 is read from its own bytes", async () => {
    const payment = { x402Version: 1, scheme: "exact", network: "solana-devnet" };
    const good = await explainHeader("X-PAYMENT", {
      ...payment,
      payload: { transaction: spl.pay(spl.CLIENTS.ts1!()) },
    });
    expect([good.code, good.flaws]).toEqual([0, []]);
    expect(good.found[0]?.facts).toMatchObject({
      price: "0.01 USDC",
      payTo: `the owner of ${spl.ata(spl.PAY_TO).toBase58()}`,
    });
    const own = [spl.limit(20_000), spl.price(1n), spl.transfer({ destination: spl.ata(spl.PAYER.key) })];
    const bad = await explainHeader("X-PAYMENT", { ...payment, payload: { transaction: spl.pay(own) } });
    expect(bad.flaws).toEqual([expect.stringMatching(/expected another destination than the source/)]);
  });

  const { limit, price, transfer, memo } = spl;
  it.each([
    [
      "another amount",
      [limit(20_000), price(1n), transfer({ amount: 9_999n })],
      /expected 10000, got 9999 \(invalid_exact_svm_payload_amount_mismatch\)/,
    ],
    [
      "another payee",
      [limit(20_000), price(1n), transfer({ destination: spl.ata(spl.STRANGER.key) })],
      /recipient_mismatch/,
    ],
    ["no compute limit", [price(1n), transfer(), memo("x")], /expected SetComputeUnitLimit first/],
    [
      "a fee above the cap",
      [limit(DEFAULT_CAPS.maxComputeUnits), price(5_000_000n), transfer()],
      /a fee of at most 20000 lamports, got 1010000 lamports/,
    ],
    [
      "a second transfer",
      [limit(20_000), price(1n), transfer(), transfer({ amount: 1n })],
      /expected Memo or Lighthouse, got token 12/,
    ],
  ])("%s: the reason of the refusal", async (_name, instructions, flaw) => {
    const { code, flaws } = await tell(spl.pay(instructions));
    expect(code).toBe(1);
    expect(flaws).toEqual([expect.stringMatching(flaw)]);
    expect(flaws[0]).toMatch(/^payload\.transaction: /);
  });

  it("another fee payer than the offer's, a missing signature, and bytes that are none", async () => {
    const other = { ...offer, extra: { ...offer.extra, feePayer: spl.SETTLER.toBase58() } };
    expect((await tell(spl.pay(), other)).flaws[0]).toMatch(
      /expected .*, got .*\(invalid_exact_svm_fee_payer_mismatch\)/,
    );
    expect((await tell(spl.encode(spl.compile(spl.CLIENTS.ts2!()), []))).flaws[0]).toMatch(
      /expected a signature by AKnL4NN/,
    );
    expect((await tell("AAAA".repeat(40))).flaws[0]).toMatch(/expected a legacy or v0 transaction/);
  });

  it("an offer whose fee payer or decimals are wrong", async () => {
    const { flaws } = await tell(spl.pay(), { ...offer, extra: { feePayer: "nobody", decimals: 9 } });
    expect(flaws[0]).toBe('accepted.extra.feePayer: expected the address that pays the network\'s fee, got "nobody"');
    expect(flaws[1]).toBe("accepted.extra.decimals: expected 6, the decimals of USDC, got 9");
  });
});

describe("a payment in SOL", () => {
  const [payer, payee] = [sol.keyOf(7), sol.keyOf(8).publicKey];
  const offer = {
    scheme: "exact",
    network: DEVNET,
    amount: "1000000",
    asset: "1".repeat(32),
    payTo: payee.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
  };
  const blockhash = new PublicKey(Buffer.alloc(32, 9)).toBase58();
  const made = (to: PublicKey, lamports: bigint, signer: Keypair = payer) =>
    sol.encode(sol.sign(signer, [sol.transfer(signer.publicKey, to, lamports)], { blockhash }));

  it("says what it moves, and that it carries no reference", async () => {
    const { code, found } = await explainHeader(
      "PAYMENT-SIGNATURE",
      v2(offer, { transaction: made(payee, 1_000_000n) }),
    );
    expect(code).toBe(0);
    expect(found[0]?.says).toContain("Pays 0.001 SOL on solana-devnet to ");
    expect(found[0]?.notes).toContainEqual(expect.stringMatching(/no reference/));
  });

  it("too little, and to somebody else", async () => {
    const little = await explainHeader("PAYMENT-SIGNATURE", v2(offer, { transaction: made(payee, 999_999n) }));
    expect(little.flaws).toEqual([
      "payload.transaction: expected a transfer of at least 1000000 lamports, got 999999 lamports",
    ]);
    const away = await explainHeader(
      "PAYMENT-SIGNATURE",
      v2(offer, { transaction: made(sol.keyOf(9).publicKey, 1_000_000n) }),
    );
    expect(away.flaws).toEqual([expect.stringMatching(/recipient_mismatch/)]);
  });

  it("an id instead of the bytes: only the chain can tell", async () => {
    const { code, found } = await explainHeader("PAYMENT-SIGNATURE", v2(offer, { transaction: "5".repeat(88) }));
    expect(code).toBe(0);
    expect(found[0]?.notes).toContainEqual(expect.stringMatching(/only the chain can tell/));
  });
});

describe("a buyer's own transfer on EVM", () => {
  const offer = {
    scheme: "exact",
    network: "eip155:84532",
    amount: "1000000000000000",
    asset: `0x${"0".repeat(40)}`,
    payTo: PAYEE,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
  };
  const sign = async (parts: { chainId?: number; value?: bigint; to?: `0x${string}`; data?: `0x${string}` } = {}) => {
    const fees = { maxFeePerGas: parseGwei("2"), maxPriorityFeePerGas: parseGwei("1"), gas: 30_000n, nonce: 3 };
    const own = { chainId: 84532, to: PAYEE, value: 10n ** 15n, ...parts } as const;
    const raw = await BUYER.signTransaction({ type: "eip1559", ...fees, ...own });
    return Buffer.from(raw.slice(2), "hex").toString("base64");
  };
  const tell = async (parts: Parameters<typeof sign>[0], more: object = {}) =>
    explainHeader("PAYMENT-SIGNATURE", v2(offer, { transaction: await sign(parts), ...more }));

  it("says what it moves and who signed it", async () => {
    const { code, found, flaws } = await tell({});
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]?.says).toBe(`Pays 0.001 ETH on base-sepolia to ${PAYEE} (x402 version 2)`);
    expect(found[0]?.facts).toMatchObject({ payer: BUYER.address, nonce: "3" });
  });

  it.each([
    ["another chain", { chainId: 8453 }, /expected chain id 84532, got chain id 8453/],
    ["another amount", { value: 1n }, /expected a transfer of 1000000000000000 atomic units, got 1 atomic units/],
    ["another payee", { to: BUYER.address }, /expected a transfer to 0x7099\w+, got a transfer to 0x19E7/],
    ["a call of something", { data: "0xdeadbeef" as const }, /expected one plain transfer/],
    [
      "a reference without its secret",
      { data: `0x${"ab".repeat(32)}` as const },
      /payload\.secret: expected the secret whose SHA-256 is 0xabab/,
    ],
  ])("%s", async (_name, parts, flaw) => {
    const { code, flaws } = await tell(parts);
    expect(code).toBe(1);
    expect(flaws).toEqual([expect.stringMatching(flaw)]);
  });

  it("an authorization where a transaction was asked for, and the other way round", async () => {
    const signed = {
      signature: `0x${"11".repeat(65)}`,
      authorization: {
        from: PAYEE,
        to: PAYEE,
        value: "1",
        validAfter: "0",
        validBefore: "9",
        nonce: `0x${"1".repeat(64)}`,
      },
    };
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", v2(offer, signed));
    expect(flaws).toContain("payload: expected a transaction, as the accepted offer asks for, got an authorization");
  });
});
