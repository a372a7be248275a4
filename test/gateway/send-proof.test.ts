// The proof that POST /payment/send gives, shown to the real paywall on Express: goods once, money moved once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { offer } from "../../src/gateway/schemas/index.js";
import {
  createSandbox,
  createSolanaSandbox,
  readChallenge,
  type Sandbox,
  type SolanaSandbox,
} from "../../src/testing/index.js";
import { decodeHeader } from "../../src/wire/header.js";
import { eth, type Money, sol, usdcOnSolana } from "../e2e/money.js";
import { olderStore, openWorld, type World } from "../e2e/world.js";
import { faultOf, openSending, type SendingWorld, until, valueIn } from "./sending.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: SendingWorld;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));
beforeEach(async () => {
  world = await openSending({ evm, solana });
});

/** USDC by an authorization that the seller settles. */
const usdcOnEvm = (): Money => ({
  ...eth(evm),
  ...{ name: "USDC", price: "$0.01", amount: 10_000n },
  received: async (to) => (await evm.token.transfers({ to: to as `0x${string}` })).map(({ value }) => value),
});

const header = (version: 1 | 2, value: string | null) => ({
  headers: { [version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE"]: value ?? "" },
});

/** The seller's offer of a version. */
async function offerOf(shop: World, version: 1 | 2) {
  const { accepts } = await readChallenge(await fetch(`${shop.seller.url}/report`), version);
  // As a caller of the gateway passes it on.
  return offer.parse(accepts[0]);
}

describe.each(["ETH", "SOL"] as const)("the proof of a payment in %s", (currency) => {
  const family = currency === "ETH" ? "evm" : "solana";
  const money = () => (currency === "ETH" ? eth(evm) : sol(solana));
  const amount = currency === "ETH" ? "0.0002" : "0.001";

  it("opens the paid route as X-PAYMENT, once, and the money has moved once", async () => {
    const shop = await openWorld("Express 5", money(), { store: olderStore() });
    const wallet = await world.newWallet(family);
    const asked = { walletAddress: wallet.address, recipientAddress: shop.payTo, amount };
    const { paymentProof, signature } = valueIn(await world.send(asked));
    const got = await shop.buy(header(1, paymentProof));
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect((await shop.buy(header(1, paymentProof))).status).toBe(409);
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    expect(shop.seller.runs[0]).toMatchObject({ payer: wallet.address, transaction: signature });
    await shop.close();
  });

  it.each([1, 2] as const)("with the seller's own offer of version %i is of that version", async (version) => {
    const shop = await openWorld("Express 5", money(), { store: olderStore() });
    const wallet = await world.newWallet(family);
    const requirements = await offerOf(shop, version);
    const asked = { walletAddress: wallet.address, recipientAddress: shop.payTo, amount, requirements };
    const { paymentProof, signature, status } = valueIn(await world.send(asked));
    expect(signature).not.toBeNull();
    expect(status).toBe("confirmed");
    const got = await shop.buy(header(version, paymentProof));
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await shop.close();
  });
});

describe.each(["USDC on EVM", "USDC on Solana"] as const)("a proof for a seller's offer in %s", (name) => {
  const family = name === "USDC on EVM" ? "evm" : "solana";
  const money = () => (name === "USDC on EVM" ? usdcOnEvm() : usdcOnSolana(solana));
  const token = () => (family === "evm" ? evm.token.address : solana.usdc);

  it.each([1, 2] as const)("of version %i opens the route, and the seller sends it to the chain", async (version) => {
    const shop = await openWorld("Express 5", money());
    const wallet = await world.newWallet(family);
    const requirements = await offerOf(shop, version);
    const asked = { walletAddress: wallet.address, recipientAddress: shop.payTo, amount: 0.01, requirements };
    const idempotencyKey = `offer ${version}`;
    const answer = valueIn(await world.send(asked, { idempotencyKey }));
    expect(answer).toMatchObject({ status: "created", signature: null, amountAtomic: "10000", asset: token() });
    // Nothing has moved, and the money is reserved.
    expect(await world.debits(world.network(family), wallet.address, "usdc")).toEqual([]);
    expect(valueIn(await world.send(asked, { idempotencyKey }))).toEqual(answer);

    const got = await shop.buy(header(version, answer.paymentProof));
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    const follow = async () => (await world.parts.watcher.refresh(await world.payment(answer.paymentId))).status;
    await until("the gateway sees its proof used", async () => (await follow()) !== "created");
    expect(["confirmed", "finalized"]).toContain((await world.payment(answer.paymentId)).status);
    await shop.close();
  });

  it("is of the wallet's token as this gateway knows it, with the offer unchanged and an id to ask again with", async () => {
    const shop = await openWorld("Express 5", money());
    const wallet = await world.newWallet(family);
    const requirements = { ...(await offerOf(shop, 2)), unknown: { kept: true } };
    const asked = { walletAddress: wallet.address, recipientAddress: shop.payTo, amount: 0.01, requirements };
    const { paymentProof } = valueIn(await world.send({ ...asked, resource: "https://shop.example/report" }));
    const decoded = decodeHeader(paymentProof ?? "");
    expect(decoded).toMatchObject({
      ok: true,
      value: {
        x402Version: 2,
        accepted: requirements,
        resource: { url: "https://shop.example/report" },
        extensions: {
          "payment-identifier": { info: { required: false, id: expect.stringMatching(/^[0-9a-f]{32}$/) } },
        },
      },
    });
    await shop.close();
  });

  it("is not signed where the wallet cannot pay it", async () => {
    const shop = await openWorld("Express 5", money());
    const wallet = await world.newWallet(family, { usdc: 9_999n });
    const requirements = await offerOf(shop, 2);
    const asked = { walletAddress: wallet.address, recipientAddress: shop.payTo, amount: 0.01, requirements };
    const outcome = await world.send(asked);
    expect(faultOf(outcome)).toBe("INSUFFICIENT_BALANCE");
    expect(outcome.ok ? "" : outcome.message).toContain("0.01 USDC");
    expect(await world.payments(wallet.address)).toEqual([]);
    await shop.close();
  });
});

describe("what makes a proof", () => {
  it("stands in no record, event, history or log, and in the database only under the caller's Idempotency-Key", async () => {
    const wallet = await world.newWallet("evm");
    const payee = await world.newPayee("evm");
    const idempotencyKey = "a key that the database does not have";
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 };
    const answer = valueIn(await world.send(asked, { idempotencyKey }));
    const decoded = decodeHeader(answer.paymentProof ?? "");
    const { payload } = (decoded.ok ? decoded.value : {}) as { payload: { secret: string } };
    expect(payload.secret).toMatch(/^0x[0-9a-f]{64}$/);
    const record = await world.payment(answer.paymentId);
    const events = await world.database.events.since(world.account, "test", 0, 100);
    const plain = (_name: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);
    const everywhere = [JSON.stringify([record, events], plain), ...world.log.lines].join("\n");
    expect(everywhere).not.toContain(payload.secret.slice(2));
    expect(everywhere).not.toContain(idempotencyKey);
    expect(record.sealed).not.toBeNull();
  });

  it("is not shown to a key of the account that may not open the wallet", async () => {
    const wallet = await world.newWallet("evm");
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee("evm"), amount: 0.01 };
    const idempotencyKey = "guessed";
    valueIn(await world.send(asked, { idempotencyKey }));
    const stranger = await world.send(asked, { idempotencyKey, key: { id: "key_2", wallets: [] } });
    expect(faultOf(stranger)).toBe("FORBIDDEN walletAddress");
  });

  it("cannot be asked for again where the first request named no Idempotency-Key", async () => {
    const wallet = await world.newWallet("evm");
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee("evm"), amount: 0.01 };
    const { paymentId } = valueIn(await world.send(asked));
    expect(await world.payment(paymentId)).toMatchObject({ sealed: null, idempotency: null });
  });
});
