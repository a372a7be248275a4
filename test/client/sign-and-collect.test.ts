// A seller collects with his own account what a real gateway builds, on both real chains: the money comes once; and a gateway that
// builds something else gets no signature.
import { Keypair } from "@solana/web3.js";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { BuildAnswer } from "../../src/client/gateway-client-shapes.js";
import type { LocalSigning } from "../../src/client/local-signing.js";
import { type CollectOrder, signAndCollect } from "../../src/client/sign-and-collect.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { type Kind, onEvm, onSolana, sign } from "../gateway/receiving.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { type Lie, refusalOf, withEvm, withSolana } from "./lying-gateway.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let client: GatewayClient;
/** The seller's account on each chain: who is paid and signs. */
let account: PrivateKeyAccount;
let keypair: Keypair;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  world = await createGatewayWorld({ chains: { evm, solana } });
  client = gatewayClient({ baseUrl: world.url, apiKey: await world.newKey({ scopes: ["build"] }) });
  await outliveFirstSecond(solana);
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});
beforeEach(async () => {
  account = privateKeyToAccount(generatePrivateKey());
  await evm.native.setBalances([account.address], 10n ** 17n);
  keypair = Keypair.generate();
  solana.chain.airdrop(keypair.publicKey.toBase58(), 10n ** 9n);
  await solana.token.mint(keypair.publicKey.toBase58(), 0n);
});

const KINDS: readonly (readonly [string, () => Kind])[] = [
  ["USDC on EVM, v1", () => onEvm(evm, "usdc", 1)],
  ["USDC on EVM, v2", () => onEvm(evm, "usdc", 2)],
  ["ETH", () => onEvm(evm, "eth", 1)],
  ["USDC on EVM by a transaction", () => onEvm(evm, "token", 2)],
  ["USDC on Solana, v1", () => onSolana(solana, "usdc", 1)],
  ["USDC on Solana, v2", () => onSolana(solana, "usdc", 2)],
  ["SOL", () => onSolana(solana, "sol", 1)],
];

interface Sale {
  readonly kind: Kind;
  readonly payTo: string;
  readonly signing: LocalSigning;
  readonly order: CollectOrder;
  received(): Promise<readonly bigint[]>;
}

/** A buyer's new proof, as its seller has it. */
async function sell(kind: Kind): Promise<Sale> {
  const isEvm = kind.network.startsWith("eip155:");
  const payTo = isEvm ? account.address : keypair.publicKey.toBase58();
  const signing = isEvm ? { account, rpcUrl: evm.rpcUrl } : { account: keypair, rpcUrl: solana.rpcUrl };
  const offer = kind.offer(payTo);
  // On Solana the seller himself pays the network fee of a token payment.
  const own = isEvm || kind.asset === undefined ? offer : { ...offer, extra: { ...offer.extra, feePayer: payTo } };
  const paymentProof = await sign(kind, payTo, { offer: own });
  const asset = kind.asset === undefined ? {} : { asset: kind.asset };
  return {
    ...{ kind, payTo, signing, order: { paymentProof, expectedAmount: kind.amount, ...asset } },
    received: () => kind.received(payTo),
  };
}

describe("signAndCollect", () => {
  it.each(KINDS)("collects once: %s", async (_, open) => {
    const { kind, signing, order, received } = await sell(open());
    const collected = await signAndCollect(client, signing, order);
    expect(collected).toMatchObject({ network: kind.network, transaction: expect.any(String) });
    expect(await received()).toEqual([kind.units]);
    await expect
      .poll(async () => (await client.status(String(collected.paymentId))).status, { timeout: 20_000 })
      .toMatch(/^(?:confirmed|finalized)$/);
    // Once more: it is told of, or refused, and nothing moves.
    const again: unknown = await signAndCollect(client, signing, order).catch((error: unknown) => error);
    expect(again).toMatchObject(
      again instanceof Error ? { code: "proof_refused", money: "none" } : { transaction: collected.transaction },
    );
    expect(await received()).toEqual([kind.units]);
  });

  it("refuses what is no proof of this sale, before the gateway is asked", async () => {
    const { signing, order } = await sell(onEvm(evm, "usdc", 1));
    const silent = { buildReceive: () => Promise.reject(new Error("it was asked")) };
    const stranger = { ...signing, account: privateKeyToAccount(generatePrivateKey()) };
    const cases = [
      [signing, { ...order, expectedAmount: "0.02" }, /expected an authorization of 20000 atomic units, got 10000/],
      [stranger, order, /expected an authorization to 0x\w+, got one to/],
      [signing, { ...order, paymentProof: "bm9uZQ==" }, /payment_malformed/],
      [signing, { ...order, asset: "ETH" }, /expected an authorization of|no token that takes authorizations/],
    ] as const;
    for (const [own, given, words] of cases) {
      const error = await refusalOf(signAndCollect(silent, own, given));
      expect([error.code, error.money]).toEqual(["proof_refused", "none"]);
      expect(error.message).toMatch(words);
    }
  });

  it("ends in its time where the gateway never builds", async () => {
    const { signing, order, received } = await sell(onEvm(evm, "usdc", 1));
    const silent = { buildReceive: () => new Promise<BuildAnswer>(() => {}) };
    const startedAt = performance.now();
    const collecting = signAndCollect(silent, { ...signing, timeoutMs: 3_000, idempotencyKey: "one" }, order);
    await expect(collecting).rejects.toMatchObject({
      ...{ name: "GatewayError", code: "NOT_IN_TIME", endpoint: "POST /transaction/receive" },
      idempotencyKey: "one",
    });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(await received()).toEqual([]);
  }, 60_000);

  it("passes on what the gateway says of a proof, and an abort", async () => {
    const { signing, order, received } = await sell(onEvm(evm, "usdc", 1));
    const failing = {
      buildReceive: (...given: Parameters<GatewayClient["buildReceive"]>) =>
        client.buildReceive({ ...given[0], network: "base" }, given[1]),
    };
    await expect(signAndCollect(failing, signing, order)).rejects.toMatchObject({
      name: "GatewayError",
      code: "INVALID_REQUEST",
    });
    const reason = new Error("enough");
    await expect(signAndCollect(client, { ...signing, signal: AbortSignal.abort(reason) }, order)).rejects.toBe(reason);
    await expect(signAndCollect(client, { ...signing, maxFee: "1 ETH" } as LocalSigning, order)).rejects.toThrow(
      /maxFee/,
    );
    expect(await received()).toEqual([]);
  });
});

const lying = (lie: Lie) => ({
  buildReceive: async (...given: Parameters<GatewayClient["buildReceive"]>) =>
    lie(await client.buildReceive(...given)) as BuildAnswer,
});
/** The signature stands there, so any byte may be the last one. */
const otherEnd = (data = "0x"): `0x${string}` => `0x${data.slice(2, -2)}${data.endsWith("00") ? "01" : "00"}`;
const THIEF = `0x${"0b".repeat(20)}` as const;

describe("signAndCollect, by a gateway that answers with", () => {
  const usdc = () => onEvm(evm, "usdc", 1);
  const eth = () => onEvm(evm, "eth", 1);
  const spl = () => onSolana(solana, "usdc", 1);
  const LIES: readonly (readonly [string, () => Kind, Lie])[] = [
    ["a call to somebody else", usdc, withEvm((tx) => ({ ...tx, to: THIEF }))],
    ["money of the seller's beside it", usdc, withEvm((tx) => ({ ...tx, value: 1n }))],
    ["other calldata", usdc, withEvm((tx) => ({ ...tx, data: otherEnd(tx.data) }))],
    ["too much gas", usdc, withEvm((tx) => ({ ...tx, gas: 5_000_000n }))],
    ["another chain", usdc, withEvm((tx) => ({ ...tx, chainId: 1 }))],
    ["another chain in words", usdc, (answer) => ({ ...answer, network: "eip155:1" })],
    ["no record", usdc, (answer) => ({ ...answer, paymentId: "../x" })],
    ["other bytes than the buyer's", eth, (answer) => ({ ...answer, transaction: "AgME" })],
    ["another transaction to be signed as fee payer", spl, withSolana((built) => ({ ...built, instructions: [] }))],
  ];
  it.each(LIES)("%s: nothing is signed or sent", async (_, open, lie) => {
    const { signing, order, received, payTo } = await sell(open());
    const before = await evm.native.balanceOf(account.address);
    const error = await refusalOf(signAndCollect(lying(lie), signing, order));
    expect([error.code, error.money]).toEqual(["built_wrong", "none"]);
    expect(await received()).toEqual([]);
    if (payTo === account.address) expect(await evm.native.balanceOf(account.address)).toBe(before);
  });

  it("the word that it has come: the chain decides", async () => {
    const { signing, order, received } = await sell(usdc());
    const claiming = lying((answer) => ({ ...answer, transaction: null }));
    const error = await refusalOf(signAndCollect(claiming, { ...signing, timeoutMs: 6_000 }, order));
    expect(error.code).toMatch(/^(?:outcome_unknown|would_fail)$/);
    expect(await received()).toEqual([]);
    // The proof is as good as it was.
    expect(await signAndCollect(client, signing, order)).toMatchObject({ network: "eip155:84532" });
  });
});
