// The specification's client flow of the local transactions, over HTTP on both chains and both databases: the caller asks for a
// transaction, inspects every field of it with his own library, simulates, signs and broadcasts it over his own RPC endpoint; it
// is confirmed, and the signed transaction with its secret opens a paid route. Nothing but public bytes leaves the caller.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Price } from "../../src/price.js";
import {
  createSandbox,
  createSolanaSandbox,
  readChallenge,
  type Sandbox,
  type SolanaSandbox,
} from "../../src/testing/index.js";
import { type Seller, send, startSeller } from "../e2e/seller.js";
import { olderStore } from "../e2e/world.js";
import { noPostgres } from "../support/postgres.js";
import type { Answer } from "./call.js";
import { type LocalCaller, onEvm, onSolana } from "./local-caller.js";
import { encode } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

interface Flow {
  readonly name: string;
  caller(): Promise<LocalCaller>;
  price(): Price;
  /** Whole units, as the request has them, with the asset that it names. */
  readonly amount: number;
  readonly asset: string | undefined;
  readonly atomic: bigint;
}

const FLOWS: readonly Flow[] = [
  {
    ...{ name: "ETH", amount: 0.002, asset: undefined, atomic: 2n * 10n ** 15n },
    caller: () => onEvm(evm, "native"),
    price: () => "0.002 ETH",
  },
  {
    ...{ name: "USDC on EVM", amount: 0.01, asset: "USDC", atomic: 10_000n },
    caller: () => onEvm(evm, "token"),
    price: () => ({
      asset: evm.token.address,
      amount: "10000",
      transferMethod: "transaction",
      network: "base-sepolia",
    }),
  },
  {
    ...{ name: "SOL", amount: 0.002, asset: undefined, atomic: 2_000_000n },
    caller: () => onSolana(solana, "native"),
    price: () => "0.002 SOL",
  },
  {
    ...{ name: "USDC on Solana", amount: 0.01, asset: "USDC", atomic: 10_000n },
    caller: () => onSolana(solana, "token"),
    price: () => "$0.01",
  },
];

describe.each(["sqlite", "postgres"] as const)("the client flow on %s", (database) => {
  const isAbsent = database === "postgres" && noPostgres() !== undefined;
  // Both versions of the protocol, one on each database.
  const version = database === "sqlite" ? 1 : 2;
  let world: GatewayWorld;
  beforeAll(async () => {
    if (!isAbsent) world = await createGatewayWorld({ database, chains: { evm, solana } });
  });
  afterAll(() => world?.close());

  const build = (flow: Flow, caller: LocalCaller, resource: string): Promise<Answer> => {
    const { address: walletAddress, payTo: recipientAddress } = caller;
    const { amount, asset } = flow;
    const order = { walletAddress, recipientAddress, amount, resource, priorityFee: 0.0001 };
    return world.call("POST", "/transaction/send", { ...order, ...(asset !== undefined && { asset }) });
  };

  /** From the request to the confirmed record. */
  async function run(flow: Flow, caller: LocalCaller, resource: string) {
    const built = await build(flow, caller, resource);
    expect([built.status, built.body.error]).toEqual([200, undefined]);
    const secret = String(built.body.secret);
    const reference = createHash("sha256")
      .update(Buffer.from(secret.slice(2), "hex"))
      .digest("hex");
    const bytes = Buffer.from(String(built.body.transaction), "base64");
    await caller.inspect(bytes, { amount: flow.atomic, reference, lastValid: Number(built.body.lastValidBlockHeight) });
    await caller.simulate(bytes);
    expect(await caller.received()).toEqual([]);

    const signed = await caller.sign(bytes);
    expect(Date.now() / 1000).toBeLessThan(Number(built.body.expiresAt));
    const id = await caller.broadcast(signed);
    const path = `/payment/status/${String(built.body.paymentId)}`;
    await expect
      .poll(async () => (await world.call("GET", path)).body.status, { timeout: 25_000 })
      .toMatch(/^(?:confirmed|finalized)$/);
    expect((await world.call("GET", path)).body).toMatchObject({
      ...{ type: "sent", signature: id, sender: caller.address, recipient: caller.payTo, resource },
      amountAtomic: String(flow.atomic),
    });
    expect(await caller.received()).toEqual([flow.atomic]);
    return { signed, secret };
  }

  /** The header of a proof, made of what the seller's 402 asks for. */
  async function header(url: string, payload: object): Promise<Record<string, string>> {
    const [accepted] = (await readChallenge(await fetch(url), version)).accepts;
    const { network } = accepted ?? {};
    return version === 1
      ? { "X-PAYMENT": encode({ x402Version: 1, scheme: "exact", network, payload }) }
      : { "PAYMENT-SIGNATURE": encode({ x402Version: 2, accepted, resource: { url }, payload }) };
  }

  async function openSeller(flow: Flow, caller: LocalCaller): Promise<Seller> {
    const { payTo, receive, network } = caller;
    const seller = await startSeller("Express 5", { payTo, network, store: olderStore(), receive }, flow.price());
    await seller.ready();
    return seller;
  }

  it.skipIf(isAbsent).each(FLOWS.slice(0, 3))(
    "in $name: confirmed, and its proof opens the route once",
    async (flow) => {
      const caller = await flow.caller();
      const seller = await openSeller(flow, caller);
      const url = `${seller.url}/report`;
      expect((await fetch(url)).status).toBe(402);
      const { signed, secret } = await run(flow, caller, url);
      const transaction = Buffer.from(signed).toString("base64");

      // Everybody can read the transaction on its chain; only its buyer has the secret.
      for (const wrong of [{}, { secret: `0x${"01".repeat(32)}` }]) {
        const got = await send(url, { headers: await header(url, { transaction, ...wrong }) });
        expect(got?.status).toBe(409);
      }
      const proof = { headers: await header(url, { transaction, secret }) };
      const got = await send(url, proof);
      expect([got?.status, got?.body]).toEqual([200, "the goods"]);
      expect((await send(url, proof))?.status).toBe(409);
      expect(seller.runs).toHaveLength(1);
      expect(await caller.received()).toEqual([flow.atomic]);
      await seller.close();
    },
  );

  it.skipIf(isAbsent).each(FLOWS.slice(3))(
    "in $name: confirmed; sellers take tokens there through their own fee payer alone",
    async (flow) => {
      const caller = await flow.caller();
      const seller = await openSeller(flow, caller);
      const url = `${seller.url}/report`;
      const { signed, secret } = await run(flow, caller, url);
      const transaction = Buffer.from(signed).toString("base64");
      const got = await send(url, { headers: await header(url, { transaction, secret }) });
      expect(got?.status).toBe(402);
      expect(seller.runs).toHaveLength(0);
      await seller.close();
    },
  );
});
