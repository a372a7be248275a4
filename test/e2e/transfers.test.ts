// Buyers who pay by a transaction of their own, over sockets on a real chain: in the chain's currency and in a token that knows
// no authorization, shown before it is broadcast and after. Debits, runs and bodies have to agree, and copies earn nothing.
import { type Hex, keccak256 } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Price } from "../../src/price.js";
import type { Receiver } from "../../src/receive/receiver.js";
import {
  createSandbox,
  type EvmTransferOptions,
  evmTransferPayer,
  readChallenge,
  readReceipt,
  type Sandbox,
  signPayment,
} from "../../src/testing/index.js";
import { type Got, type Seller, send, startSeller } from "./seller.js";
import { olderStore } from "./world.js";

const PRICE = 10_000n;
const KEY = "retry-key-0123456789";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

const buyer = async (): Promise<PrivateKeyAccount> => {
  const account = privateKeyToAccount(generatePrivateKey());
  await sandbox.native.setBalances([account.address], 10n ** 18n);
  await sandbox.token.setBalances([account.address], 10n ** 9n);
  return account;
};

describe.each([
  ["native currency", "Express 5"],
  ["a token", "Hono"],
] as const)("%s on %s", (what, framework) => {
  let seller: Seller;
  let price: Price;
  const debits = async () => {
    const asset = what === "a token" ? sandbox.token : sandbox.native;
    return (await asset.transfers({ to: sandbox.seller })).length;
  };
  let before = 0;

  beforeEach(async () => {
    const asset = what === "a token" ? sandbox.token.address : "native";
    price = { asset, amount: `${PRICE}`, transferMethod: "transaction", network: "base-sepolia" };
    const { payTo, network } = sandbox;
    const store = olderStore();
    seller = await startSeller(framework, { payTo, network, store, receive: sandbox.receive() }, price);
    await seller.ready();
    before = await debits();
  });
  afterEach(() => seller.close());

  async function sign(options: Partial<EvmTransferOptions> = {}, version: 1 | 2 = 2, retryKey?: string) {
    const challenge = await readChallenge(await fetch(`${seller.url}/report`), version);
    const payer = evmTransferPayer(await buyer(), { rpcUrl: sandbox.rpcUrl, ...options });
    const offer = challenge.accepts.find((one) => payer.takes(one));
    if (!offer) throw new Error("no offer for a transaction");
    return signPayment({ payer, offer, version, challenge, ...(retryKey !== undefined && { retryKey }) });
  }
  const show = (headers: Readonly<Record<string, string>>, path = "/report"): Promise<Got | undefined> =>
    send(seller.url + path, { headers });
  const counts = async () => ({ runs: seller.runs.length, debits: (await debits()) - before });

  it.each([1, 2] as const)("buys the goods with bytes that nobody has seen (v%i)", async (version) => {
    const payment = await sign({}, version);
    const got = await show(payment.headers);
    expect(got).toMatchObject({ status: 200, body: "the goods" });
    const header = String(got?.headers[version === 1 ? "x-payment-response" : "payment-response"]);
    expect(JSON.parse(Buffer.from(header, "base64").toString())).toMatchObject({
      success: true,
      transaction: payment.id,
    });
    expect(await counts()).toEqual({ runs: 1, debits: 1 });
  });

  it.each(["bytes", "id"] as const)(
    "buys the goods with a transaction that is mined, shown by its %s",
    async (form) => {
      const payment = await sign({ broadcast: true, show: form });
      expect(await show(payment.headers)).toMatchObject({ status: 200, body: "the goods" });
      expect(await counts()).toEqual({ runs: 1, debits: 1 });
    },
  );

  it("buys nothing for who copies a public transaction, and its buyer is served all the same", async () => {
    const payment = await sign({ broadcast: true, show: "id" });
    const parts = payment.payload as { accepted: object; payload: { transaction: string } };
    const bytes = Buffer.from(payment.bytes).toString("base64");
    for (const transaction of [parts.payload.transaction, bytes]) {
      for (const secret of [undefined, generatePrivateKey()]) {
        const copy = { ...parts, payload: { transaction, ...(secret && { secret }) } };
        const header = Buffer.from(JSON.stringify(copy)).toString("base64");
        const got = await show({ "PAYMENT-SIGNATURE": header });
        expect(got).toMatchObject({ status: 409, json: { code: "payment_secret_required" } });
      }
    }
    expect(await counts()).toEqual({ runs: 0, debits: 1 });
    expect(await show(payment.headers)).toMatchObject({ status: 200, body: "the goods" });
    expect(await counts()).toEqual({ runs: 1, debits: 1 });
  });

  it("buys one answer, however many copies come at once, and nothing elsewhere afterwards", async () => {
    const payment = await sign();
    const answers = await Promise.all(Array.from({ length: 8 }, () => show(payment.headers)));
    expect(answers.filter((got) => got?.status === 200).length).toBe(1);
    expect(answers.filter((got) => got?.status === 409).length).toBe(7);
    expect(await show(payment.headers)).toMatchObject({ status: 409, json: { code: "payment_already_used" } });
    expect(await show(payment.headers, "/other")).toMatchObject({ status: 402 });
    expect(await counts()).toEqual({ runs: 1, debits: 1 });
  });

  it("stays good for its buyer where the handler failed after it was taken", async () => {
    const payment = await sign({}, 2, KEY);
    seller.handler = () => ({ status: 500, body: "broken" });
    expect((await show(payment.headers))?.status).toBe(500);
    seller.handler = () => ({ status: 200, body: "the goods" });
    expect(await show(payment.headers)).toMatchObject({ status: 200, body: "the goods" });
    expect(await counts()).toEqual({ runs: 2, debits: 1 });
  });

  it("is charged nothing and told what to mend where its nonce leaves a gap", async () => {
    const payment = await sign({ change: (built) => ({ ...built, nonce: 5 }) });
    const got = await show(payment.headers);
    const facts = { code: "payment_rejected", expected: "nonce 0 (the sender's next one)", got: "nonce 5" };
    expect(got).toMatchObject({ status: 402, json: facts });
    expect(await counts()).toEqual({ runs: 0, debits: 0 });
  });
});

describe("a price that asks for three blocks", () => {
  const price: Price = { asset: "native", amount: `${PRICE}`, confirmations: 3 };
  let seller: Seller;
  afterEach(() => seller.close());

  async function open(receive: Receiver) {
    const { payTo, network } = sandbox;
    seller = await startSeller("Express 5", { payTo, network, receive }, price);
    await seller.ready();
    const challenge = await readChallenge(await fetch(`${seller.url}/report`), 2);
    const [offer] = challenge.accepts;
    if (!offer) throw new Error("no offer");
    const payer = evmTransferPayer(await buyer(), { rpcUrl: sandbox.rpcUrl });
    return signPayment({ payer, offer, version: 2, challenge, retryKey: KEY });
  }
  const isMined = async (id: string | undefined) =>
    (await sandbox.native.transfers({ to: sandbox.seller })).some(({ transaction }) => transaction === id);

  it("is served when the third one stands, and the receipt names the transaction", async () => {
    const payment = await open(sandbox.receive());
    const asked = fetch(`${seller.url}/report`, { headers: payment.headers });
    await expect.poll(() => isMined(payment.id), { timeout: 20_000 }).toBe(true);
    await sandbox.chain.mine();
    expect(seller.runs.length).toBe(0);
    await sandbox.chain.mine();
    const response = await asked;
    expect(response.status).toBe(200);
    expect(readReceipt(response)).toMatchObject({ success: true, transaction: payment.id });
  });

  it("is looked up with as many blocks as it was sold for, where the settlement did not end in time", async () => {
    const receiver = sandbox.receive();
    const interrupted: Receiver = {
      ...receiver,
      async settle(proof, { sending }) {
        if (proof.kind !== "transaction") throw new Error("the test pays by a transaction");
        const raw = `0x${Buffer.from(proof.transaction, "base64").toString("hex")}`;
        await sending(keccak256(raw as Hex));
        await sandbox.chain.rpc("eth_sendRawTransaction", [raw]);
        return { outcome: "unknown", message: "the test interrupts it" };
      },
    };
    const payment = await open(interrupted);
    const show = async () => (await send(`${seller.url}/report`, { headers: payment.headers }))?.status;
    expect(await show()).toBe(503);
    await expect.poll(() => isMined(payment.id), { timeout: 20_000 }).toBe(true);
    const lookups = vi.spyOn(interrupted, "lookup");
    // Whoever asks again and again is looked up once a second.
    await expect
      .poll(async () => [await show(), lookups.mock.calls.length > 0], { timeout: 20_000 })
      .toEqual([503, true]);
    await sandbox.chain.mine(2);
    await expect.poll(show, { timeout: 20_000 }).toBe(200);
    expect(seller.runs.length).toBe(1);
  });
});
