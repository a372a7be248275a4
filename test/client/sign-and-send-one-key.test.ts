// The caller's own idempotency key against a gateway and a node that lie: one key is one transaction, and no bytes leave whose fee
// nobody has judged. On a real gateway and a real chain.
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { LocalSigning } from "../../src/client/local-signing.js";
import { signAndSend } from "../../src/client/sign-and-send.js";
import { createTransfers, type Transfers } from "../chains/evm/transfers.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { fault } from "../support/scripted-rpc.js";
import { liar, refusalOf, withEvm } from "./lying-gateway.js";

let base: Transfers;
let world: GatewayWorld;
let client: GatewayClient;
let signing: LocalSigning & { readonly idempotencyKey: string };
let payer: `0x${string}`;
let recipientAddress: `0x${string}`;
beforeAll(async () => {
  base = await createTransfers();
  world = await createGatewayWorld({ chains: { evm: base.sandbox } });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
});
afterAll(async () => {
  await world?.close();
  await base?.close();
});
beforeEach(async () => {
  const account = await base.buyer();
  payer = account.address;
  signing = { account, rpcUrl: base.rpc.url, idempotencyKey: `order-${payer}` };
  recipientAddress = privateKeyToAddress(generatePrivateKey());
});
afterEach(async () => {
  base.rpc.clear();
  await base.sandbox.chain.setAutomine(true);
});

const order = () => ({ recipientAddress, amount: 0.001 });
const debits = async () => (await base.sandbox.native.transfers({ from: payer })).map(({ value }) => value);

it("another transaction for the same key and order is not signed: the first one may have been sent", async () => {
  await base.sandbox.chain.setAutomine(false);
  const first = await refusalOf(signAndSend(client, { ...signing, timeoutMs: 6_000 }, order()));
  expect(first.code).toBe("outcome_unknown");
  await base.sandbox.chain.setAutomine(true);
  await base.sandbox.chain.mine();
  const anew = {
    wait: client.wait,
    buildSend: (request: Parameters<GatewayClient["buildSend"]>[0]) =>
      client.buildSend(request, { idempotencyKey: crypto.randomUUID() }),
  };
  const second = await refusalOf(signAndSend(anew, signing, order()));
  expect([second.code, second.money, second.transaction]).toEqual(["built_wrong", "none", undefined]);
  expect(await debits()).toEqual([10n ** 15n]);
});

/** A gateway whose price of gas is absurd, and a node that says it knows the transaction and that its nonce has passed. */
async function conspire(): Promise<GatewayClient | ReturnType<typeof liar>> {
  const dear = withEvm((built) => ({ ...built, maxFeePerGas: 10n ** 15n, maxPriorityFeePerGas: 1n }));
  const { rpc } = base;
  rpc.script("eth_getTransactionCount", fault.lie("0x1"));
  const known = { hash: `0x${"5".repeat(64)}`, type: "0x2", blockNumber: null };
  rpc.script("eth_getTransactionByHash", fault.lie(known), 1_000);
  return liar(client, dear);
}

it("a fee above maxFee is not signed either where the transaction may have been sent before", async () => {
  const error = await refusalOf(signAndSend(await conspire(), { ...signing, maxFee: "0.0001 ETH" }, order()));
  expect([error.code, error.transaction]).toEqual(["too_expensive", undefined]);
});

it("bytes whose fee nobody has judged are waited for, and never sent", async () => {
  const before = base.rpc.count("eth_sendRawTransaction");
  const error = await refusalOf(signAndSend(await conspire(), { ...signing, timeoutMs: 9_000 }, order()));
  // Long enough for more than one time at which bytes go out again.
  expect(base.rpc.count("eth_getTransactionReceipt")).toBeGreaterThan(20);
  expect(error.money).not.toBe("settled");
  expect(base.rpc.count("eth_sendRawTransaction")).toBe(before);
  expect(await debits()).toEqual([]);
});
