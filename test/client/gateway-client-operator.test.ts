// The operator's API of a real gateway through its client; and its table against the routes that the gateway has, both ways.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayClient } from "../../src/client/gateway-client.js";
import { GatewayError } from "../../src/client/gateway-client-error.js";
import {
  createOperatorClient,
  OPERATOR_ENDPOINTS,
  type OperatorClient,
  operatorClient,
} from "../../src/client/gateway-client-operator.js";
import { createAdmin } from "../../src/gateway/admin/admin.js";
import { newEvmAddress } from "../gateway/receiving.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { fault, inTurn, movedClock, startScriptedGateway } from "./scripted-gateway.js";

const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
let world: GatewayWorld;
let operator: OperatorClient;
beforeAll(async () => {
  world = await createGatewayWorld({ chains: { evm: true }, options: { adminToken: TOKEN } });
  operator = operatorClient({ baseUrl: world.url, token: TOKEN });
});
afterAll(() => world?.close());

describe("the operator's client", () => {
  it("knows every route of the operator's API and no other", () => {
    const routes = createAdmin({ ...world.gateway.parts }).routes;
    const there = routes
      .filter(({ method, path }) => method !== "ALL" && path !== "/*")
      .map(({ method, path }) => `${method} /admin${path.replace(/:(\w+)/g, "{$1}")}`);
    const known = Object.values(OPERATOR_ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    expect(known.toSorted()).toEqual([...new Set(there)].toSorted());
    expect(Object.keys(operator).toSorted()).toEqual(Object.keys(OPERATOR_ENDPOINTS).toSorted());
  });

  it("makes an account, a wallet with limits and a key for it, which pays until it is revoked", async () => {
    const { account } = await operator.createAccount({ name: "shop" });
    expect((await operator.accounts()).accounts.map(({ id }) => id)).toContain(account.id);
    const limits = [{ network: "base-sepolia", asset: "ETH", perPayment: "0.001", perDay: "0.002" }];
    const made = await operator.createWallet(account.id, { name: "agent", mode: "test", family: "evm", limits });
    const { id, address } = made.wallet;
    await world.evm?.native.setBalances([address as `0x${string}`], 10n ** 18n);
    const wanted = { name: "agent", mode: "test" as const, scopes: ["send" as const], wallets: [id] };
    const { key, secret } = await operator.createKey(account.id, wanted);
    const client = gatewayClient({ baseUrl: world.url, apiKey: secret });
    const order = { walletAddress: address, recipientAddress: newEvmAddress() };
    expect(await client.send({ ...order, amount: 0.001 })).toMatchObject({ success: true });
    await expect(client.send({ ...order, amount: 0.002 })).rejects.toMatchObject({ code: "FORBIDDEN" });

    const wider = [{ network: "base-sepolia", asset: "ETH", perPayment: "0.01", perDay: "0.02" }];
    expect((await operator.changeLimits(account.id, id, { limits: wider })).wallet.limits[0]?.perPayment).toBe("0.01");
    expect(await client.send({ ...order, amount: 0.002 })).toMatchObject({ success: true });
    const [listed] = (await operator.wallets(account.id)).wallets;
    expect(listed?.balances?.some(({ symbol }) => symbol === "ETH")).toBe(true);

    expect((await operator.keys(account.id)).keys.map((one) => one.id)).toEqual([key.id]);
    expect((await operator.revokeKey(account.id, key.id)).key.revokedAt).toBeTypeOf("number");
    await expect(client.send({ ...order, amount: 0.001 })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect((await operator.removeWallet(account.id, id)).wallet).toEqual({ id, removed: true });
    await expect(operator.keys("acc_nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("repeats nothing but what it reads", async () => {
    const broken = fault(500, "INTERNAL_ERROR", { retryable: true });
    const server = await startScriptedGateway(inTurn(broken));
    const client = createOperatorClient({ baseUrl: server.url, token: TOKEN }, movedClock());
    const changes = [
      () => client.createAccount({ name: "a" }),
      () => client.createKey("a", { name: "k", mode: "test", scopes: ["read"] }),
      () => client.revokeKey("a", "k"),
      () => client.createWallet("a", { name: "w", mode: "test", family: "evm" }),
      () => client.changeLimits("a", "w", { limits: [] }),
      () => client.removeWallet("a", "w"),
    ];
    for (const change of changes) await expect(change()).rejects.toMatchObject({ inDoubt: true });
    expect(server.asked).toHaveLength(changes.length);
    expect(server.asked.every(({ headers }) => headers["idempotency-key"] === undefined)).toBe(true);
    await expect(client.accounts()).rejects.toThrow(GatewayError);
    expect(server.asked).toHaveLength(changes.length + 4);
  });
});
