// Every endpoint of a real gateway through its client, over sockets; and its table of endpoints against the OpenAPI document, both
// ways.
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import { ENDPOINTS } from "../../src/client/gateway-client-endpoints.js";
import { GatewayError } from "../../src/client/gateway-client-error.js";
import type { FacilitatorRequest, ReceiveRequest } from "../../src/client/gateway-client-shapes.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import type { Json } from "../gateway/call.js";
import { bodyOf } from "../gateway/facilitating.js";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { type Kind, newEvmAddress, onEvm, receiveBody, sign } from "../gateway/receiving.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";

let evm: Sandbox;
let world: GatewayWorld;
let client: GatewayClient;
let usdc: Kind;
beforeAll(async () => {
  evm = await createSandbox();
  world = await createGatewayWorld({ chains: { evm } });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
  usdc = onEvm(evm, "usdc", 1);
  await outliveFirstSecond();
});
afterAll(async () => {
  await world?.close();
  await evm?.close();
});

const clientOf = (apiKey: string) => gatewayClient({ baseUrl: world.url, apiKey });
const isSettled = /^(?:confirmed|finalized)$/;
const received = async (to: string) =>
  (await evm.native.transfers({ to: to as `0x${string}` })).map(({ value }) => value);

/** A receive request with a new proof in it. */
const proven = async (): Promise<ReceiveRequest> => {
  const payTo = await usdc.newPayee();
  return receiveBody(usdc, payTo, await sign(usdc, payTo)) as ReceiveRequest;
};

/** Members that a schema demands, those of the schemas that it consists of included. */
const requiredIn = (schema: Json | undefined): readonly string[] => [
  ...((schema?.required ?? []) as unknown as readonly string[]),
  ...((schema?.allOf ?? []) as unknown as readonly Json[]).flatMap((part) =>
    requiredIn(part.$ref === undefined ? part : schemaNamed(String(part.$ref))),
  ),
];
let document: Json = {};
const schemaNamed = (ref: string): Json | undefined => document.components?.schemas?.[ref.split("/").at(-1) ?? ""];

describe("the table of endpoints", () => {
  it("is the OpenAPI document's, both ways, with every member that marks an answer", async () => {
    document = (await world.call("GET", "/openapi.json", undefined, { key: null })).body;
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      // What is no request but a WebSocket has a method of another kind.
      Object.entries(item ?? {}).flatMap(([method, one]) =>
        one?.["x-websocket"] ? [] : [`${method.toUpperCase()} ${path}`],
      ),
    );
    const known = Object.values(ENDPOINTS);
    expect(known.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(described.toSorted());
    for (const { method, path, members, open, bare, keyed } of known) {
      const operation: Json = document.paths?.[path]?.[method.toLowerCase()] ?? {};
      const shown = operation.responses?.["200"]?.content?.["application/json"]?.schema;
      const required = requiredIn(shown?.$ref === undefined ? shown : schemaNamed(String(shown.$ref)));
      expect(required, `${method} ${path}`).toEqual(expect.arrayContaining([...members]));
      expect(required.includes("success") || bare === true, path).toBe(true);
      expect((operation.security as unknown as readonly object[]).length === 0, path).toBe(open === true);
      const parameters = (operation.parameters ?? []) as unknown as readonly { readonly name: string }[];
      if (keyed) expect(parameters.map((one) => one.name)).toContain("Idempotency-Key");
    }
  });

  it("has a method for each of its names", () => {
    expect(Object.keys(ENDPOINTS).filter((name) => !(name in client))).toEqual([]);
  });
});

describe("a client of a real gateway", () => {
  it("sends, follows and finds a payment: send, status, wait, history, payments", async () => {
    const { address, apiKey } = await world.newWallet({ family: "evm" });
    const own = clientOf(apiKey);
    const recipientAddress = newEvmAddress();
    const order = { walletAddress: address, recipientAddress, amount: "0.001", metadata: { order: 17 } };
    const sent = await own.send(order, { idempotencyKey: "order-17" });
    expect(sent).toMatchObject({ success: true, amountAtomic: String(10n ** 15n), sender: address });
    expect(sent.paymentProof).toMatch(/^[A-Za-z0-9+/]+=*$/);
    // The same key and request: the same payment, and the money moves once.
    expect(await own.send(order, { idempotencyKey: "order-17" })).toEqual(sent);
    expect(await received(recipientAddress)).toEqual([10n ** 15n]);

    const reached = await own.wait(sent.paymentId, { timeoutMs: 20_000 });
    expect(reached).toMatchObject({
      paymentId: sent.paymentId,
      status: expect.stringMatching(isSettled),
      metadata: { order: 17 },
    });
    expect(await own.status(String(sent.signature))).toMatchObject({ paymentId: sent.paymentId });
    const { payments, pagination } = await own.history(address, { type: "sent", limit: 10 });
    expect([payments.map(({ paymentId }) => paymentId), pagination.total]).toEqual([[sent.paymentId], 1]);
  });

  it("reads a history to its end, page by page, and no further than it is asked to", async () => {
    const { address, apiKey } = await world.newWallet({ family: "evm" });
    const own = clientOf(apiKey);
    const recipientAddress = newEvmAddress();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) {
      const { paymentId } = await own.send({ walletAddress: address, recipientAddress, amount: 0.001 + at / 1000 });
      ids.unshift(paymentId);
    }
    const found: string[] = [];
    for await (const { paymentId } of own.payments(address, { limit: 2 })) found.push(paymentId);
    expect(found).toEqual(ids);
    for await (const { paymentId } of own.payments(address, { limit: 2, type: "received" })) found.push(paymentId);
    expect(found).toHaveLength(5);
    const first = await own.payments(address).next();
    expect(first.value?.paymentId).toBe(ids[0]);
  });

  it("receives a proof once, and gives the bytes of what settled it: receive, transaction", async () => {
    const request = await proven();
    expect(await client.receive({ ...request, settle: false })).toMatchObject({ verified: true, paymentId: null });
    const got = await client.receive({ ...request, timeout: 20 });
    expect(got).toMatchObject({ verified: true, amountAtomic: "10000", status: expect.stringMatching(isSettled) });
    const again: unknown = await client.receive(request).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(GatewayError);
    expect(again).toMatchObject({ code: "INVALID_PAYMENT_PROOF", status: 400, inDoubt: false, retryable: false });
    expect((again as GatewayError).details.map(({ path }) => path)).toEqual(["already_used"]);
    const { transaction } = await client.transaction(String(got.signature), { network: "base-sepolia" });
    expect(Buffer.from(transaction, "base64")[0]).toBe(2);
  });

  it("builds transactions that are to be signed: buildSend, buildReceive", async () => {
    const buyer = await evm.newBuyer();
    await evm.native.setBalances([buyer.address], 10n ** 18n);
    const order = { walletAddress: buyer.address, recipientAddress: newEvmAddress(), amount: 0.001 };
    const built = await client.buildSend(order, { idempotencyKey: "build-1" });
    expect(built).toMatchObject({ status: "created", signatureRequired: true, sender: buyer.address });
    expect((await client.buildSend(order, { idempotencyKey: "build-1" })).secret).toBe(built.secret);

    const seller = privateKeyToAccount(generatePrivateKey()).address;
    await evm.native.setBalances([seller], 10n ** 18n);
    const request = receiveBody(usdc, seller, await sign(usdc, seller)) as ReceiveRequest;
    expect(await client.buildReceive(request)).toMatchObject({ signatureRequired: true, recipient: seller });
  });

  it("is a facilitator's: supported, verify, settle", async () => {
    expect((await client.supported()).kinds).toContainEqual(expect.objectContaining({ scheme: "exact" }));
    const payTo = await usdc.newPayee();
    const body = (await bodyOf(usdc, payTo)) as unknown as FacilitatorRequest;
    expect(await client.verify(body)).toMatchObject({ isValid: true });
    expect(await client.settle(body)).toMatchObject({ success: true });
    // A refusal is an answer, and no error.
    expect(await client.settle(body)).toMatchObject({ success: false });
  });

  it("shows a wallet to be one's own: walletChallenge, walletProve", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const { message, nonce } = await client.walletChallenge({ walletAddress: account.address });
    const signature = await account.signMessage({ message });
    const proof = { walletAddress: account.address, nonce, signature };
    expect(await client.walletProve(proof)).toMatchObject({ account: world.account });
  });

  it("says how it is: health, ready", async () => {
    expect(await client.health()).toEqual({ success: true, status: "ok" });
    expect(await client.ready()).toMatchObject({ status: "ready" });
  });

  it("throws the gateway's own errors, in its words", async () => {
    const failing = clientOf(`tg_test_${"w".repeat(44)}`);
    await expect(failing.status("pay_1")).rejects.toMatchObject({
      code: "UNAUTHORIZED",
      status: 401,
      retryable: false,
    });
    const order = { walletAddress: newEvmAddress(), recipientAddress: newEvmAddress(), amount: 0.001 };
    const error: unknown = await client.send(order).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "FORBIDDEN", action: expect.stringContaining("tollgate keys create") });
    await expect(client.send({ ...order, amount: 0 })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: expect.arrayContaining([expect.objectContaining({ path: "amount" })]),
      requestId: expect.stringMatching(/^req_/),
    });
  });
});
