// `local()` with a gateway, against the real one on both chains: a sale of every kind of money through the whole paywall, what
// the gateway remembers of it, and what the start-up checks say.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Price } from "../../src/price.js";
import type { Requirement } from "../../src/requirement.js";
import { eip3009Payer, evmTransferPayer, readChallenge, signPayment } from "../../src/testing/index.js";
import { settleContext } from "../chains/evm/world.js";
import { type Seller, send, startSeller } from "../e2e/seller.js";
import { receiptOf } from "../e2e/world.js";
import { type Kind, onEvm, onSolana } from "../gateway/receiving.js";
import { REQUIREMENT } from "../support/bound-proof.js";
import { type Collecting, createCollecting, type Family } from "./collecting.js";

let collecting: Collecting;
beforeAll(async () => {
  collecting = await createCollecting();
});
afterAll(() => collecting.close());
afterEach(() => {
  collecting.alarms.length = 0;
});

const signal = AbortSignal.timeout(120_000);
const usdc = (more: Partial<Requirement> = {}): Requirement =>
  ({ ...REQUIREMENT, payTo: collecting.payTo.evm, ...more }) as Requirement;
const USDC = { amount: "10000", asset: REQUIREMENT.asset, network: "base-sepolia" } as const;
const buyer = async () => eip3009Payer(await collecting.evm.newBuyer());

/** What is sold for what: the kind of money with its buyers, and the price as a seller writes it. */
const KINDS: readonly (readonly [string, Family, (world: Collecting) => Kind, Price])[] = [
  ["USDC by an authorization (v1)", "evm", ({ evm }) => onEvm(evm, "usdc", 1), "$0.01"],
  ["USDC by an authorization (v2)", "evm", ({ evm }) => onEvm(evm, "usdc", 2), "$0.01"],
  ["ETH by a transaction", "evm", ({ evm }) => onEvm(evm, "eth", 2), "0.0002 ETH"],
  ["USDC by a transaction", "evm", ({ evm }) => onEvm(evm, "token", 2), { ...USDC, transferMethod: "transaction" }],
  ["USDC on Solana (v1)", "solana", ({ solana }) => onSolana(solana, "usdc", 1), "$0.01"],
  ["USDC on Solana (v2)", "solana", ({ solana }) => onSolana(solana, "usdc", 2), "$0.01"],
  ["SOL by a transaction", "solana", ({ solana }) => onSolana(solana, "sol", 2), "0.001 SOL"],
];

describe("a sale", () => {
  let seller: Seller | undefined;
  afterEach(() => seller?.close());

  it.each(KINDS)("for %s is built by the gateway, signed and sent here, and remembered there", async (...row) => {
    const [, family, kindOf, price] = row;
    const { payTo, gateway, world, sent, open } = collecting;
    const { version, units, network, newPayer, received } = kindOf(collecting);
    const own = payTo[family];
    const before = { debits: (await received(own)).length, asked: gateway.asked.length, sent: sent(family) };
    seller = await startSeller("Express 5", { payTo: own, network, receive: open() }, price);
    await seller.ready();
    const challenge = await readChallenge(await fetch(`${seller.url}/report`), version);
    const payer = await newPayer();
    const offer = challenge.accepts.find((one) => payer.takes(one));
    if (!offer) throw new Error("the 402 holds no offer that this buyer can pay");
    const { headers } = await signPayment({ payer, offer, version, challenge });
    const got = await send(`${seller.url}/report`, { headers });
    expect([got?.status, got?.body]).toEqual([200, "the goods"]);
    expect((await send(`${seller.url}/report`, { headers }))?.status).toBeGreaterThanOrEqual(400);

    expect((await received(own)).slice(before.debits)).toEqual([units]);
    // One by the start-up check, one for the sale.
    const asked = gateway.asked.slice(before.asked).filter((path) => path === "/transaction/receive");
    expect([asked.length, sent(family) > before.sent]).toEqual([2, true]);
    const { transaction } = receiptOf(got!);
    const status = () => world.call("GET", `/payment/status/${String(transaction)}`);
    const isOver = expect.stringMatching(/^(confirmed|finalized)$/);
    await expect.poll(async () => (await status()).body?.status, { timeout: 20_000 }).toEqual(isOver);
    expect((await status()).body).toMatchObject({ type: "received", recipient: own, signature: transaction });
    expect(collecting.alarms).toEqual([]);
  });

  it("of twenty at once has an account nonce each, and each is paid once", async () => {
    const { receiver, prove, evm, payTo } = collecting;
    const before = (await evm.token.transfers({ to: payTo.evm as `0x${string}` })).length;
    const proofs = await Promise.all(Array.from({ length: 20 }, async () => prove(usdc(), await buyer())));
    const settled = await Promise.all(proofs.map((proof) => receiver.settle(proof, settleContext(25_000))));
    expect(settled.map(({ outcome }) => outcome)).toEqual(proofs.map(() => "settled"));
    expect((await evm.token.transfers({ to: payTo.evm as `0x${string}` })).length - before).toBe(20);
  });

  it("is refused with the gateway's own code where the payment is not good", async () => {
    const { receiver, prove, evm, sent } = collecting;
    const left = sent("evm");
    const account = await evm.newBuyer();
    const proof = await prove(usdc(), eip3009Payer(account));
    await evm.token.setBalances([account.address], 0n);
    expect(await receiver.settle(proof, settleContext())).toMatchObject({
      outcome: "refused",
      code: "insufficient_funds",
    });
    expect(sent("evm")).toBe(left);
  });

  it("that was collected before is settled by what its own chain shows, and sent by nobody", async () => {
    const { receiver, prove, sent } = collecting;
    const proof = await prove(usdc(), await buyer());
    const first = await receiver.settle(proof, settleContext());
    expect(first).toMatchObject({ outcome: "settled" });
    const left = sent("evm");
    expect(await receiver.settle(proof, settleContext())).toEqual(first);
    expect(sent("evm")).toBe(left);
  });

  it("in ETH that its buyer has sent himself is settled by what its own chain shows", async () => {
    const { receiver, prove, evm, payTo, sent } = collecting;
    const account = await evm.newBuyer();
    await evm.native.setBalances([account.address], 10n ** 18n);
    const payer = evmTransferPayer(account, { rpcUrl: evm.rpcUrl, broadcast: true });
    const requirement: Requirement = {
      ...{ scheme: "exact", method: "transaction", network: REQUIREMENT.network, asset: "native", confirmations: 1 },
      ...{ amount: 1_000n, payTo: payTo.evm, maxTimeoutSeconds: 60 },
      extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
    };
    const proof = await prove(requirement, payer);
    const left = sent("evm");
    for (const _ of [1, 2]) {
      expect(await receiver.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    }
    expect(sent("evm")).toBe(left);
  });
});

describe("the start-up check", () => {
  const ready = (requirement: Requirement, receiver = collecting.receiver) => receiver.ready([requirement], signal);

  it("is ready where wallet, node and gateway fit, with a key of the scope build alone too", async () => {
    const { receiver, open, world, gateway } = collecting;
    expect(await ready(usdc())).toEqual({ state: "ready" });
    const apiKey = await world.newKey({ scopes: ["build"] });
    expect(await ready(usdc(), open({ gateway: { baseUrl: gateway.url, apiKey } }))).toEqual({ state: "ready" });
    expect(receiver.feePayer?.(collecting.solana.caip2)).toBe(collecting.payTo.solana);
  });

  it("names both addresses where payTo is not the wallet, and nothing is signed for it", async () => {
    const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    expect(await ready(usdc({ payTo }))).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "payTo", expected: `the wallet ${collecting.payTo.evm}`, got: payTo }],
    });
    const proof = await collecting.prove(usdc({ payTo }), await buyer());
    expect(await collecting.receiver.settle(proof, settleContext())).toMatchObject({ outcome: "unavailable" });
  });

  it("names what the gateway has against the key, the token and the network", async () => {
    const { open, world, gateway, evm } = collecting;
    const apiKey = await world.newKey({ scopes: ["read"] });
    const wrong = open({ gateway: { baseUrl: gateway.url, apiKey } });
    const problem = { check: "gateway.apiKey", got: expect.stringContaining("FORBIDDEN") };
    expect(await ready(usdc(), wrong)).toMatchObject({ state: "misconfigured", problems: [problem] });
    const asset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
    const tokens = [{ network: "base-sepolia", address: asset, decimals: 6 }];
    const code = await evm.chain.rpc("eth_getCode", [evm.token.address, "latest"]);
    await evm.chain.rpc("anvil_setCode", [asset, code]);
    const found = await ready(usdc({ asset }), open({ tokens }));
    const unserved = expect.objectContaining({ check: "gateway", got: expect.stringContaining("INVALID_REQUEST") });
    expect(found).toMatchObject({ state: "misconfigured", problems: expect.arrayContaining([unserved]) });
    const undecided = expect.objectContaining({ check: "decimals" });
    expect(await ready(usdc({ asset }))).toMatchObject({ problems: expect.arrayContaining([undecided]) });
  });

  it("is tried again where the gateway cannot be reached, and wants a URL for each network", async () => {
    const { open, world, nodes, solana, payTo } = collecting;
    const away = open({ gateway: { baseUrl: "http://127.0.0.1:9", apiKey: world.apiKey } });
    expect(await ready(usdc(), away)).toMatchObject({ state: "unreachable", message: /^gateway: / });
    const one = open({ rpcUrl: nodes.evm.url });
    expect(await ready(usdc(), one)).toEqual({ state: "ready" });
    const both = [usdc(), usdc({ network: solana.caip2, payTo: payTo.solana })];
    expect(await one.ready(both, signal)).toMatchObject({ problems: [{ check: "rpcUrl" }] });
  });
});
