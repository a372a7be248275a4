// A paying fetch at real sellers: tollgate's own paywall over sockets, real signatures, and a chain that counts what was debited.
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { payingFetch } from "../../src/client/paying-fetch.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { type Seller, startSeller } from "../e2e/seller.js";
import { countedIn } from "./flow-buyer.js";

let sandbox: Sandbox;
let seller: Seller;
beforeAll(async () => {
  sandbox = await createSandbox();
  const { network, payTo } = sandbox;
  seller = await startSeller("Express 5", { network, payTo, receive: sandbox.receive() });
  await seller.ready();
});
afterAll(async () => {
  await seller?.close();
  await sandbox?.close();
});

async function newBuyer(times = 3) {
  const account = await sandbox.newBuyer();
  const store = memoryBuyerStore();
  const pay = payingFetch({
    wallets: [evmWallet(account)],
    budget: { perRequest: "$0.01", perDay: "$5" },
    resend: { times, maxDelayMs: 50 },
    store,
  });
  const debits = async () => (await sandbox.token.transfers({ from: account.address })).map(({ value }) => value);
  return { pay, debits, counted: () => countedIn(store, Date.now()) };
}

describe("at a seller who takes the money when the goods are ready", () => {
  it.each(["GET", "POST"])("%s: pays once, with the receipt of the transaction on the chain", async (method) => {
    const { pay, debits, counted } = await newBuyer();
    const response = await pay(`${seller.url}/report`, { method, ...(method === "POST" && { body: "text" }) });
    expect([response.status, await response.text()]).toEqual([200, "the goods"]);
    expect(await debits()).toEqual([10_000n]);
    expect(await counted()).toBe(10_000);
    const [receipt] = await pay.receipts();
    expect(receipt).toMatchObject({ status: "settled", served: true, price: "0.01 USDC", network: "eip155:84532" });
    expect(receipt?.transaction).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it("an answer that is lost after the settlement is fetched by the same proof: one debit, the goods once (F107)", async () => {
    const cutter = await openCutter(seller.url, 1);
    const { pay, debits, counted } = await newBuyer();
    const runs = seller.runs.length;
    const response = await pay(`${cutter.url}/report`);
    expect([response.status, await response.text()]).toEqual([200, "the goods"]);
    expect(cutter.cut).toBe(1);
    expect(await debits()).toEqual([10_000n]);
    expect(await counted()).toBe(10_000);
    expect(seller.runs.length - runs).toBe(1);
    await cutter.close();
  });

  it("an outer retry after every answer was lost pays nothing more", async () => {
    // The seller delivers one payment three times at most.
    const cutter = await openCutter(seller.url, 2);
    const { pay, debits } = await newBuyer(1);
    await expect(pay(`${cutter.url}/report`)).rejects.toMatchObject({ code: "outcome_unknown" });
    const response = await pay(`${cutter.url}/report`);
    expect([response.status, await response.text()]).toEqual([200, "the goods"]);
    expect(await debits()).toEqual([10_000n]);
    await cutter.close();
  });

  it("a handler that fails costs nothing, and the proof serves the next try", async () => {
    const { pay, debits } = await newBuyer();
    seller.handler = () => ({ status: 500, body: "sorry" });
    expect((await pay(`${seller.url}/report`)).status).toBe(500);
    expect(await debits()).toEqual([]);
    seller.handler = () => ({ status: 200, body: "the goods" });
    expect((await pay(`${seller.url}/report`)).status).toBe(200);
    expect(await debits()).toEqual([10_000n]);
  });
});

it("a seller who takes the money first and fails is asked again with the same proof", async () => {
  const { pay, debits } = await newBuyer();
  seller.handler = ({ count }) => (count % 2 ? { status: 500, body: "sorry" } : { status: 200, body: "the goods" });
  const statuses = new Set<number>();
  for (let call = 0; call < 3 && !statuses.has(200); call += 1)
    statuses.add((await pay(`${seller.url}/upfront`)).status);
  expect(statuses).toContain(200);
  expect(await debits()).toEqual([10_000n]);
  seller.handler = () => ({ status: 200, body: "the goods" });
});

it("a refusal says what the seller says, beside the protocol's word: his code, and what is wrong", async () => {
  const account = await sandbox.newBuyer();
  const limits = { budget: { perRequest: "$0.01", perDay: "$5" }, maxValiditySeconds: 25 } as const;
  const pay = payingFetch({ wallets: [evmWallet(account)], ...limits });
  const error = await pay(`${seller.url}/report`).catch((one: unknown) => one);
  expect(error).toMatchObject({
    code: "payment_refused",
    facts: {
      reason: "invalid_exact_evm_payload_authorization_valid_before",
      sellerCode: "payment_expires_too_soon",
      sellerMessage: expect.stringContaining("sign a new one"),
    },
  });
  expect(String(error)).toContain("the seller says payment_expires_too_soon: The payment would expire before");
  expect(await sandbox.token.transfers({ from: account.address })).toEqual([]);
});

it("thirty calls at one time are thirty payments, counted to the atomic unit", async () => {
  const { pay, debits, counted } = await newBuyer();
  const answers = await Promise.all(Array.from({ length: 30 }, () => pay(`${seller.url}/report`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
  expect(await debits()).toHaveLength(30);
  expect(await counted()).toBe(300_000);
});

interface Cutter {
  readonly url: string;
  readonly cut: number;
  close(): Promise<void>;
}

/** A line to the seller that lets requests through, and cuts the first answers to paid ones once they are there. */
async function openCutter(to: string, times: number): Promise<Cutter> {
  let cut = 0;
  const server: Server = createServer((req, res) => {
    const { headers, method } = req;
    const onward = httpRequest(`${to}${req.url}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        if (headers["payment-signature"] && cut < times) {
          cut += 1;
          req.socket.destroy();
          return;
        }
        res.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(chunks));
      });
    });
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cut() {
      return cut;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
