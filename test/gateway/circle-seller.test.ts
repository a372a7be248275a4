// What a seller behind `hosted()` is told at start, by option or by environment; and the sale of a payment that its buyer has sent
// himself, and shows as the id of a public transaction.
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { type HostedOptions, hosted } from "../../src/receive/hosted.js";
import { NATIVE, type Requirement } from "../../src/requirement.js";
import { eth, type Money, sol } from "../e2e/money.js";
import { send, startSeller } from "../e2e/seller.js";
import { olderStore, openWorld, withPayload } from "../e2e/world.js";
import { REQUIREMENT } from "../support/bound-proof.js";
import { detailsOf } from "./call.js";
import { type Door, openDoor } from "./door.js";
import { outliveFirstSecond } from "./first-second.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;
let door: Door;
let apiKey: string;

beforeAll(async () => {
  world = await createBothWorld();
  apiKey = await world.newKey({ account: await world.newAccount("seller"), scopes: ["receive"] });
  door = await openDoor(world.url);
  await outliveFirstSecond(world.solana);
});
afterEach(() => door.open());
afterAll(async () => {
  await door?.shut();
  await world?.close();
});

const open = (options: Partial<HostedOptions> = {}) =>
  hosted({ baseUrl: door.url, apiKey, logger: silentLogger, ...options });

describe("the start-up checks of hosted()", () => {
  const payTo = privateKeyToAddress(generatePrivateKey());
  const usdc: Requirement = { ...REQUIREMENT, payTo };
  const onEvm: Requirement = { ...usdc, method: "transaction", asset: NATIVE, extra: {} } as Requirement;

  /** What they say, on one line. */
  async function check(requirement: Requirement, options: Partial<HostedOptions> = {}): Promise<string> {
    const receiver = open(options);
    const readiness = await receiver.ready([requirement], AbortSignal.timeout(10_000));
    await receiver.close();
    if (readiness.state === "misconfigured") {
      const { problems } = readiness;
      return problems.map(({ check: name, expected, got }) => `${name}: expected ${expected}; got ${got}`).join(" & ");
    }
    return readiness.state === "unreachable" ? `unreachable: ${readiness.message}` : readiness.state;
  }

  it("are content with a key that may receive", async () => {
    expect(await check(usdc)).toBe("ready");
    expect(await check(onEvm)).toBe("ready");
  });

  it("refuse a key that the gateway does not know, and do not repeat it", async () => {
    const unknown = `tg_test_${"7".repeat(43)}`;
    const said = await check(usdc, { apiKey: unknown });
    expect(said).toBe(
      "apiKey: expected a key that the gateway accepts, with the scope receive; got /payment/status answered 401",
    );
    expect(said).not.toContain(unknown);
  });

  it.each(["read", "send", "build"] as const)("refuse a key that may %s and not receive", async (scope) => {
    const said = await check(usdc, { apiKey: await world.newKey({ scopes: [scope] }) });
    expect(said).toMatch(/^apiKey: expected a key that may receive for 0x\w+ on base-sepolia; got FORBIDDEN: /);
  });

  it("refuse a live key for a test network", async () => {
    const live = await world.newKey({ mode: "live", scopes: ["receive"] });
    expect(await check(usdc, { apiKey: live })).toMatch(
      /^apiKey: expected a test key for base-sepolia; got a live key/,
    );
  });

  it("refuse a payee that another account has shown to be its own", async () => {
    const { accounts } = world.gateway.database;
    vi.spyOn(accounts, "ownerOf").mockResolvedValueOnce(world.account);
    expect(await check(usdc)).toMatch(
      /^apiKey: expected a key that may receive for 0x\w+ on base-sepolia; got FORBIDDEN/,
    );
  });

  it("refuse a network and a token that the gateway does not serve, with a currency that buyers send by themselves too", async () => {
    expect(await check({ ...usdc, network: "eip155:80002" } as Requirement)).toContain("eip155:80002");
    expect(await check({ ...onEvm, network: "eip155:80002" } as Requirement)).toMatch(
      /^baseUrl: expected a gateway that takes native on polygon-amoy for 0x\w+; got INVALID_REQUEST: network/,
    );
    const token = { network: "base-sepolia", address: privateKeyToAddress(generatePrivateKey()), decimals: 6 };
    const own = { ...onEvm, asset: token.address } as Requirement;
    expect(await check(own, { tokens: [token] })).toMatch(
      /^baseUrl: expected a gateway that takes 0x\w+ on base-sepolia/,
    );
  });

  it("tell a gateway that is down from one that refuses, and a seller's start fails where it refuses", async () => {
    await door.shut();
    expect(await check(usdc)).toMatch(/^unreachable: /);
    await door.open();
    const unknown = `tg_test_${"7".repeat(43)}`;
    const seller = await startSeller("Hono", { payTo, network: world.evm.network, receive: open({ apiKey: unknown }) });
    await expect(seller.ready()).rejects.toThrow(/apiKey/);
    await seller.close();
  });
});

describe("a seller whose environment names the gateway", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("sells through it", async () => {
    vi.stubEnv("TOLLGATE_GATEWAY_URL", door.url);
    vi.stubEnv("TOLLGATE_API_KEY", apiKey);
    const money = { ...eth(world.evm), options: () => ({ network: world.evm.network }) };
    door.passed.length = 0;
    const shop = await openWorld("Express 5", money);
    expect((await shop.buy(await shop.sign())).body).toBe("the goods");
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    expect(door.passed.filter(({ settles }) => settles)).toHaveLength(1);
    await shop.close();
  });
});

const NATIVES = [
  ["ETH", () => eth(world.evm)],
  ["SOL", () => sol(world.solana)],
] as const satisfies readonly (readonly [string, () => Money])[];

describe.each(NATIVES)("%s that its buyer has sent himself", (_name, moneyOf) => {
  /** A seller who has no node: what an id stands for, the gateway tells him. */
  async function openShop() {
    const money = moneyOf();
    const { network } = money;
    const shop = await openWorld(
      "Express 5",
      { ...money, options: () => ({ network }) },
      {
        store: olderStore(),
        receive: open(),
        logger: silentLogger,
      },
    );
    return { money, shop, payer: await moneyOf().newPayer({ broadcast: true, show: "id" } as object) };
  }

  it("buys by the transaction's id, once, and a stranger who reads the chain gets nothing", async () => {
    const { shop, payer } = await openShop();
    const payment = await shop.sign({ payer });
    const stranger = { headers: withPayload(payment.headers, { secret: undefined }) };
    expect((await shop.buy(stranger)).json.code).toBe("payment_secret_required");
    door.passed.length = 0;
    const got = await shop.buy(payment);
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect(door.passed.map(({ call }) => call)).toContain(`GET /transaction/${payment.id}`);
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    const again = await send(`${shop.seller.url}/other`, { headers: payment.headers });
    expect(again?.status).toBeGreaterThanOrEqual(400);
    await shop.close();
  });

  it("buys later where the chain does not know the id yet, or nobody can be asked: nothing invites to pay again", async () => {
    const { money, shop } = await openShop();
    const payment = await shop.sign({ payer: await money.newPayer() });
    const byId = { headers: withPayload(payment.headers, { transaction: payment.id ?? "" }) };
    const unseen = await shop.buy(byId);
    expect([unseen.status, unseen.json]).toMatchObject([503, { code: "payment_not_seen", payment: "unknown" }]);
    expect(unseen.headers["payment-required"]).toBeUndefined();
    await door.shut();
    const unasked = await shop.buy(byId);
    expect([unasked.status, unasked.json.code]).toEqual([503, "receiver_unreachable"]);
    await door.open();
    // Whole, it buys without anybody having seen it.
    expect((await shop.buy(payment)).status).toBe(200);
    expect(await shop.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await shop.close();
  });
});

describe("GET /transaction/{transactionId}", () => {
  it("tells the bytes of a public transaction to whoever may receive, on the networks of the key's mode", async () => {
    const payment = await world.evm.chain.rpc("eth_getBlockByNumber", ["latest", true]);
    const [transaction] = (payment as { readonly transactions: readonly { readonly hash: string }[] }).transactions;
    const path = (id: string, network: string) => `/transaction/${id}?network=${encodeURIComponent(network)}`;
    const get = (id: string, network: string, key = apiKey) => world.call("GET", path(id, network), undefined, { key });
    const hash = String(transaction?.hash);

    const found = await get(hash.toUpperCase().replace("X", "x"), "base-sepolia");
    expect([found.status, found.body]).toEqual([
      200,
      { success: true, network: "eip155:84532", transaction: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) },
    ]);
    const unseen = await get(`0x${"9".repeat(64)}`, "eip155:84532");
    expect([unseen.status, unseen.body.error?.code]).toEqual([404, "NOT_FOUND"]);
    for (const network of ["base", "polygon-amoy", "nowhere"]) {
      const other = await get(hash, network);
      expect([other.status, detailsOf(other).map(({ path: at }) => at)]).toEqual([400, ["network"]]);
    }
    expect((await get("0x12", "base-sepolia")).status).toBe(404);
    const reader = await world.newKey({ scopes: ["read", "send", "build"] });
    expect((await get(hash, "base-sepolia", reader)).status).toBe(403);
  });
});
