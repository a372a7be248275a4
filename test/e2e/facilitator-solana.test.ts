// A seller on Solana behind a facilitator: the published one (@x402/core and @x402/svm) over the real programs, and a scripted
// one that settles for real and then loses its answer, lists other keys, or looks at nothing.
import type { Keypair } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { facilitator } from "../../src/receive/facilitator.js";
import { readChallenge, signPayment } from "../../src/testing/index.js";
import { splPayer } from "../../src/testing/payers/solana.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/solana/sandbox.js";
import type { Running } from "../support/process.js";
import { reasonToSkip, startPublishedSolanaFacilitator } from "../support/published.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnSolana } from "../support/settle-on-solana.js";
import { addressOf, SPL_REQUIREMENT } from "../support/spl-proof.js";
import { type Got, type Seller, send, startSeller } from "./seller.js";

const PRICE = 10_000n;
/** Two signatures, and 20,000 units at a millionth of a lamport each, rounded up. */
const NETWORK_FEE = 10_001n;
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

let sandbox: SolanaSandbox;
let feePayer: string;
let buyer: Keypair;
let seller: Seller | undefined;
let before: Awaited<ReturnType<typeof holdings>>;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  feePayer = sandbox.feePayer.publicKey.toBase58();
});
afterAll(() => sandbox?.close());
afterEach(async () => {
  await seller?.close();
  seller = undefined;
});

async function holdings() {
  const addresses = [buyer.publicKey.toBase58(), sandbox.seller, feePayer];
  const [ofBuyer, ofSeller, ofFeePayer] = await Promise.all(addresses.map(sandbox.balances));
  return { buyer: ofBuyer!, seller: ofSeller!, feePayer: ofFeePayer! };
}

/** How often the price has moved since the seller opened, as each of the three sees it. */
async function debits(): Promise<number[]> {
  const now = await holdings();
  expect(now.buyer.lamports).toBe(before.buyer.lamports);
  expect(now.feePayer.usdc).toBe(0n);
  return [
    Number(before.buyer.usdc - now.buyer.usdc) / Number(PRICE),
    Number(now.seller.usdc - before.seller.usdc) / Number(PRICE),
    Number(before.feePayer.lamports - now.feePayer.lamports) / Number(NETWORK_FEE),
  ];
}

async function open(options: Parameters<typeof facilitator>[0]): Promise<Seller> {
  buyer = await sandbox.newBuyer();
  before = await holdings();
  const receive = facilitator({ logger: silentLogger, ...options });
  const { network, payTo } = sandbox;
  seller = await startSeller("Express 5", { network, payTo, receive, handlerTimeoutMs: 5_000 });
  await seller.ready();
  return seller;
}

async function sign(version: 1 | 2, more: Partial<Parameters<typeof splPayer>[1]> = {}) {
  const challenge = await readChallenge(await fetch(`${seller?.url}/report`), version);
  const [offer] = challenge.accepts;
  const payer = splPayer(buyer, { rpcUrl: sandbox.rpcUrl, ...more });
  return signPayment({ payer, offer: offer!, version, challenge, retryKey: "retry-key-0123456789" });
}

async function buy({ headers }: { readonly headers: Readonly<Record<string, string>> }): Promise<Got> {
  const got = await send(`${seller?.url}/report`, { headers });
  if (!got) throw new Error("no answer");
  return got;
}

const receiptOf = (got: Got): unknown =>
  JSON.parse(atob(String(got.headers["payment-response"] ?? got.headers["x-payment-response"])));

describe.skipIf(skipped)("the published facilitator on Solana", () => {
  let published: Running;
  let url: string;
  beforeAll(async () => {
    published = await startPublishedSolanaFacilitator(sandbox.rpcUrl, sandbox.feePayer.secretKey);
    url = await published.firstLine;
  });
  afterAll(() => published?.stop());

  it.each([
    [1, "remote"],
    [2, "remote"],
    [1, "local"],
    [2, "local"],
  ] as const)('takes a payment of version %i with verify: "%s": one run, one debit', async (version, verify) => {
    const { runs } = await open({ url, verify });
    const payment = await sign(version);
    const got = await buy(payment);
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    const network = version === 1 ? "solana-devnet" : sandbox.caip2;
    expect(receiptOf(got)).toMatchObject({ success: true, network, payer: buyer.publicKey.toBase58() });
    expect([runs.length, await debits()]).toEqual([1, [1, 1, 1]]);

    // Its retry key fetches the kept answer; nothing moves.
    expect((await buy(payment)).headers["payment-replayed"]).toBe("true");
    expect([runs.length, await debits()]).toEqual([1, [1, 1, 1]]);
  });

  it("takes one of twenty copies at once", async () => {
    const { runs } = await open({ url });
    const payment = await sign(2);
    const all = await Promise.all(Array.from({ length: 20 }, () => buy(payment)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect([runs.length, await debits()]).toEqual([1, [1, 1, 1]]);
  });

  it("is not even asked about a payment that is none", async () => {
    const { runs } = await open({ url });
    const got = await buy(await sign(2, { move: { amount: PRICE - 1n } }));
    expect([got.status, got.json.code, got.json.error]).toEqual([
      402,
      "amount_mismatch",
      "invalid_exact_svm_payload_amount_mismatch",
    ]);
    expect([runs.length, await debits()]).toEqual([0, [0, 0, 0]]);
  });

  it("tells that a wallet is empty before the handler runs, or at settlement: no goods either way", async () => {
    for (const [verify, ran] of [
      ["remote", 0],
      ["local", 1],
    ] as const) {
      const { runs, close } = await open({ url, verify });
      buyer = await sandbox.newBuyer({ balance: PRICE - 1n });
      before = await holdings();
      const got = await buy(await sign(2));
      expect([got.status, got.json.code]).toEqual([402, "simulation_failed"]);
      expect([runs.length, await debits()]).toEqual([ran, [0, 0, 0]]);
      await close();
    }
  });
});

describe("a facilitator on Solana that fails the seller", () => {
  let scripted: ScriptedFacilitator;
  afterEach(() => scripted?.close());

  const start = async (payer = feePayer, others: readonly string[] = []) => {
    const kinds = [{ x402Version: 2, scheme: "exact", network: sandbox.caip2, extra: { feePayer: payer } }];
    const signers = { "solana:*": [payer, ...others] };
    scripted = await startScriptedFacilitator({ settle: settleOnSolana(sandbox), kinds, signers });
    return { url: scripted.url, timeoutMs: 3_000 };
  };

  it.each([1, 2] as const)(
    "by losing the answer to a settlement of version %i: unknown, then the goods by the chain's own word",
    async (version) => {
      const { runs } = await open({ ...(await start()), rpcUrl: sandbox.rpcUrl });
      const payment = await sign(version);
      scripted.script("settle", answer.resetAfterActing());
      const lost = await buy(payment);
      expect([lost.status, lost.json.code]).toEqual([503, "settlement_unknown"]);
      expect(lost.headers["payment-required"]).toBeUndefined();
      expect(await debits()).toEqual([1, 1, 1]);

      const got = await buy(payment);
      expect([got.status, got.body]).toEqual([200, "the goods"]);
      expect(receiptOf(got)).toMatchObject({ transaction: [...scripted.settled.values()][0] });
      expect([runs.length, await debits()]).toEqual([1, [1, 1, 1]]);
    },
  );

  it("by losing the answer, without a node of the seller's: the 503 stays, and never a second bill", async () => {
    await open(await start());
    const payment = await sign(2);
    scripted.script("settle", answer.resetAfterActing());
    for (let tries = 0; tries < 3; tries += 1) {
      const got = await buy(payment);
      expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    }
    expect(scripted.requests.filter(({ endpoint }) => endpoint === "settle")).toHaveLength(1);
    expect(await debits()).toEqual([1, 1, 1]);
  });

  it("by naming another of its keys in each list: the offer stays, and either key is paid", async () => {
    const other = addressOf("another key");
    const { runs } = await open(await start(other, [feePayer]));
    const challenge = await readChallenge(await fetch(`${seller?.url}/report`), 2);
    expect(challenge.accepts).toMatchObject([{ extra: { feePayer: other } }]);
    const got = await buy(await sign(2, { feePayer }));
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect([runs.length, await debits()]).toEqual([1, [1, 1, 1]]);
  });

  it("by calling valid whatever comes: what is no payment gets no goods", async () => {
    const { runs } = await open(await start());
    const stranger = addressOf("a stranger");
    const moves = [{ amount: 1n }, { destination: stranger }, { mint: stranger }, { authority: feePayer }];
    for (const move of moves) expect((await buy(await sign(2, { move }))).status).toBe(402);
    expect([runs.length, await debits()]).toEqual([0, [0, 0, 0]]);
    expect(scripted.requests.filter(({ endpoint }) => endpoint !== "supported")).toHaveLength(0);
  });

  it("by a list without a fee payer: nothing is sold, and the start-up check says why", async () => {
    await start();
    const kind = { x402Version: 2, scheme: "exact", network: sandbox.caip2 };
    scripted.script("supported", answer.json({ kinds: [kind] }));
    await expect(open({ url: scripted.url })).rejects.toThrow(/extra\.feePayer/);
    const unpaid = await fetch(`${seller?.url}/report`);
    expect(unpaid.status).toBe(503);
  });

  it("is no excuse for a node of another cluster: the start-up check names both genesis hashes", async () => {
    const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
    const kinds = [{ x402Version: 2, scheme: "exact", network, extra: { feePayer } }];
    scripted = await startScriptedFacilitator({ kinds });
    const receiver = facilitator({ url: scripted.url, rpcUrl: { solana: sandbox.rpcUrl }, logger: silentLogger });
    const ready = await receiver.ready([{ ...SPL_REQUIREMENT, network }], AbortSignal.timeout(5_000));
    const got = expect.stringContaining(sandbox.caip2.slice("solana:".length));
    const expected = expect.stringContaining("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp");
    expect(ready).toMatchObject({ state: "misconfigured", problems: [{ check: "rpcUrl", expected, got }] });
    await receiver.close();
  });

  it("by settling nothing: unknown, and a clean refusal once the chain can exclude it", async () => {
    const { runs } = await open({ ...(await start()), rpcUrl: sandbox.rpcUrl });
    const payment = await sign(2);
    scripted.script("settle", answer.reset());
    expect((await buy(payment)).json.code).toBe("settlement_unknown");
    expect((await buy(payment)).json.code).toBe("settlement_unknown");

    // Half an hour of blocks later no blockhash lives that the payment can have named.
    sandbox.chain.setTime(Math.ceil(Date.now() / 1000) + 1_800);
    sandbox.chain.advanceSlots(25_000);
    const over = await vi.waitFor(async () => {
      const got = await buy(payment);
      expect(got.json.code).not.toBe("settlement_unknown");
      return got;
    }, 10_000);
    expect([over.status, over.json.code]).toEqual([402, "payment_expired"]);
    expect([runs.length, await debits()]).toEqual([1, [0, 0, 0]]);
  });
});
