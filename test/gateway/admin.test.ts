// The operator's API: closed to everybody without its token, to browsers, and where there is no token at all; and everything
// that it changes stands in the log without a secret.
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type CallOptions } from "./call.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const IMPORTED = `0x${"a1".repeat(32)}` as const;

let world: GatewayWorld;
/** Without a token, and without a passphrase. */
let bare: GatewayWorld;
let account: string;
beforeAll(async () => {
  world = await createGatewayWorld({ chains: { evm: true }, options: { adminToken: TOKEN } });
  bare = await createGatewayWorld({ options: { passphrase: undefined } });
  account = world.account;
});
afterAll(() => Promise.all([world?.close(), bare?.close()]));

const admin = (method: string, path: string, body?: unknown, options: CallOptions = {}) =>
  ask(world.url, method, `/admin${path}`, body, { key: TOKEN, ...options });

const PATHS = [
  ["GET", "/accounts"],
  ["POST", "/accounts"],
  ["GET", "/accounts/x/keys"],
  ["POST", "/accounts/x/keys"],
  ["DELETE", "/accounts/x/keys/y"],
  ["GET", "/accounts/x/wallets"],
  ["POST", "/accounts/x/wallets"],
  ["PATCH", "/accounts/x/wallets/y"],
  ["DELETE", "/accounts/x/wallets/y"],
  ["GET", "/nowhere"],
] as const;

const bodyOf = (method: string) => (method === "POST" || method === "PATCH" ? { name: "x" } : undefined);

describe("the operator's API", () => {
  it.each(PATHS)("%s /admin%s needs the operator's token, and an API key is none", async (method, path) => {
    for (const key of [null, `${TOKEN}0`, TOKEN.slice(1), "", world.apiKey]) {
      const { status, body, headers } = await admin(method, path, bodyOf(method), { key });
      expect([status, body.error?.code]).toEqual([401, "UNAUTHORIZED"]);
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
    expect((await world.gateway.database.accounts.list()).length).toBe(1);
  });

  it.each(PATHS)(
    "A37: %s /admin%s takes nothing that a page in a browser sends, its own origin included",
    async (method, path) => {
      for (const headers of [
        ...[{ Origin: "https://evil.test" }, { Origin: "null" }, { Origin: world.url }],
        { "Sec-Fetch-Site": "same-origin" },
      ]) {
        const { status, body } = await admin(method, path, bodyOf(method), { headers });
        expect([status, body.error?.code]).toEqual([403, "FORBIDDEN"]);
      }
    },
  );

  it.each(PATHS)("%s /admin%s does not exist where no token is set", async (method, path) => {
    for (const key of [TOKEN, null, bare.apiKey, "undefined"]) {
      const { status, body } = await ask(bare.url, method, `/admin${path}`, bodyOf(method), { key });
      expect([status, body.error?.code]).toEqual([404, "NOT_FOUND"]);
    }
  });

  it("A37: takes JSON only, and answers every refusal in the one shape", async () => {
    const form = { headers: { "Content-Type": "text/plain" } };
    expect((await admin("POST", "/accounts", '{"name":"x"}', form)).status).toBe(415);
    expect((await admin("POST", "/accounts", "{", {})).body.error?.code).toBe("INVALID_REQUEST");
    expect((await admin("POST", "/accounts", { name: "x".repeat(70_000) })).status).toBe(413);
    const wrong = await admin("PUT", "/accounts", { name: "x" });
    expect([wrong.status, wrong.headers.get("allow"), wrong.body.error?.code]).toEqual([
      405,
      "GET, POST",
      "METHOD_NOT_ALLOWED",
    ]);
    const unknown = await admin("POST", "/accounts", { nmae: "x" });
    expect(unknown.body).toMatchObject({
      success: false,
      error: { code: "INVALID_REQUEST", details: [{ path: "name" }, { path: "nmae" }] },
    });
    expect(unknown.body.requestId).toBe(unknown.headers.get("x-request-id"));
  });
});

describe("accounts and keys", () => {
  it("are made, listed and revoked; the key works until then, and is shown once", async () => {
    const made = await admin("POST", "/accounts", { name: "Corner shop" });
    expect(made.status).toBe(201);
    const shop = String(made.body.account?.id);
    const key = await admin("POST", `/accounts/${shop}/keys`, { name: "till", mode: "test", scopes: ["read"] });
    expect([key.status, key.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const secret = String(key.body.secret);
    const read = () =>
      world.call("GET", "/payment/history/0x70997970C51812dc3A010C7d01b50e0d17dc79C8", undefined, { key: secret });
    expect((await read()).status).toBe(200);
    const listed = await admin("GET", `/accounts/${shop}/keys`);
    expect(listed.body.keys).toEqual([
      expect.objectContaining({ name: "till", plan: "standard", scopes: ["read"], wallets: [], revokedAt: null }),
    ]);
    expect(listed.text).not.toContain(secret);
    const path = `/accounts/${shop}/keys/${key.body.key?.id}`;
    expect((await admin("DELETE", path)).body.key?.revokedAt).toEqual(expect.any(Number));
    expect((await admin("DELETE", path)).status).toBe(200);
    expect((await read()).status).toBe(401);
  });

  it.each([
    ["a plan that is not configured", { plan: "gold" }, "plan"],
    ["a plan named like a member of every object", { plan: "constructor" }, "plan"],
    ["enterprise without a rate", { plan: "enterprise" }, "rateLimit"],
    ["a rate beside the plan's own", { rateLimit: 5 }, "rateLimit"],
    ["an end in the past", { expiresAt: 1_700_000_000 }, "expiresAt"],
    ["a wallet without the scope send", { wallets: ["wal_x"] }, "wallets"],
    ["a wallet that is not there", { scopes: ["send"], wallets: ["wal_x"] }, "wallets.0"],
    ["no scope", { scopes: [] }, "scopes"],
    ["an unknown scope", { scopes: ["admin"] }, "scopes.0"],
    ["a name that a terminal obeys", { name: "a\u001b[2J" }, "name"],
  ])("refuse a key with %s", async (_name, change, place) => {
    const request = { name: "x", mode: "test", scopes: ["read"], ...change };
    const { status, body } = await admin("POST", `/accounts/${account}/keys`, request);
    expect([status, body.error?.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(body.error?.details).toEqual([expect.objectContaining({ path: place })]);
  });

  it("name wallets of their own account and mode only, so that no key opens another account's money", async () => {
    const other = await world.newAccount();
    const { id } = await world.newWallet({ family: "evm", account: other });
    const request = { name: "x", mode: "test", scopes: ["send"], wallets: [id] };
    expect((await admin("POST", `/accounts/${account}/keys`, request)).status).toBe(400);
    expect((await admin("POST", `/accounts/${other}/keys`, { ...request, mode: "live" })).status).toBe(400);
    const made = await admin("POST", `/accounts/${other}/keys`, request);
    expect(made.body.key?.wallets).toEqual([id]);
  });

  it("of an account that is not there are not found, nor another account's", async () => {
    expect((await admin("GET", "/accounts/acc_x/keys")).status).toBe(404);
    expect((await admin("POST", "/accounts/acc_x/keys", { name: "x", mode: "test", scopes: ["read"] })).status).toBe(
      404,
    );
    const other = await world.newAccount();
    const [key] = await world.gateway.database.keys.list(account);
    expect((await admin("DELETE", `/accounts/${other}/keys/${key?.id}`)).status).toBe(404);
    expect((await world.gateway.database.keys.list(account))[0]?.revokedAt).toBeNull();
  });
});

describe("hosted wallets", () => {
  const limit = { network: "base-sepolia", asset: "USDC", perPayment: "5", perDay: "50" };
  const wanted = { name: "agent", mode: "test", family: "evm" };

  it("are imported, limited, listed with what they hold, and removed", async () => {
    const made = await admin("POST", `/accounts/${account}/wallets`, { ...wanted, limits: [limit], secret: IMPORTED });
    const address = privateKeyToAddress(IMPORTED);
    expect([made.status, made.body.wallet?.address]).toEqual([201, address]);
    await world.evm?.native.setBalances([address], 5n * 10n ** 17n);
    await world.evm?.token.setBalances([address], 7_250_000n);
    const listed = await admin("GET", `/accounts/${account}/wallets`);
    expect(listed.body.wallets).toEqual([
      expect.objectContaining({
        limits: [
          expect.objectContaining({
            symbol: "USDC",
            perPayment: "5",
            perPaymentAtomic: "5000000",
            perDayAtomic: "50000000",
          }),
        ],
        balances: [
          expect.objectContaining({ symbol: "ETH", amount: "0.5", amountAtomic: "500000000000000000" }),
          expect.objectContaining({ symbol: "USDC", amount: "7.25", amountAtomic: "7250000" }),
        ],
      }),
    ]);
    expect(listed.text).not.toMatch(/sealed|a1a1a1/);
    const path = `/accounts/${account}/wallets/${made.body.wallet?.id}`;
    const raised = await admin("PATCH", path, {
      limits: [{ ...limit, asset: undefined, perPayment: "0.1", perDay: "1" }],
    });
    expect(raised.body.wallet?.limits).toEqual([expect.objectContaining({ asset: "native", perDay: "1" })]);
    expect((await admin("DELETE", path)).status).toBe(200);
    expect((await admin("DELETE", path)).status).toBe(404);
    expect((await admin("PATCH", path, { limits: [] })).status).toBe(404);
  });

  it.each([
    ["a key that is none", { secret: "0x12" }, "secret"],
    ["a network that is not served", { limits: [{ ...limit, network: "base" }] }, "limits.0.network"],
    ["an asset that may not be moved", { limits: [{ ...limit, asset: "EURC" }] }, "limits.0.asset"],
    ["more decimals than the asset has", { limits: [{ ...limit, perPayment: "0.0000001" }] }, "limits.0.perPayment"],
    ["a limit of nothing", { limits: [{ ...limit, perDay: "0" }] }, "limits.0.perDay"],
    ["more at once than in a day", { limits: [{ ...limit, perPayment: "51" }] }, "limits.0.perPayment"],
    ["two limits of one asset", { limits: [limit, { ...limit, perDay: "60" }] }, "limits.1"],
    ["an amount as a number", { limits: [{ ...limit, perDay: 50 }] }, "limits.0.perDay"],
    ["a network of the other family", { family: "solana", limits: [limit] }, "limits.0.network"],
    ["a test network for a live wallet", { mode: "live", limits: [limit] }, "limits.0.network"],
  ])("are refused with %s", async (_name, change, place) => {
    const { status, body, text } = await admin("POST", `/accounts/${account}/wallets`, { ...wanted, ...change });
    expect([status, body.error?.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(body.error?.details).toEqual([expect.objectContaining({ path: place })]);
    expect(text).not.toContain("0x12");
  });

  it("of another account are neither changed nor removed", async () => {
    const { id } = await world.newWallet({ family: "evm" });
    const other = await world.newAccount();
    expect((await admin("PATCH", `/accounts/${other}/wallets/${id}`, { limits: [] })).status).toBe(404);
    // Nor told apart from one that is not there, by what is wrong with the request.
    const wrong = { limits: [{ ...limit, network: "nowhere" }] };
    expect((await admin("PATCH", `/accounts/${other}/wallets/${id}`, wrong)).status).toBe(404);
    expect((await admin("DELETE", `/accounts/${other}/wallets/${id}`)).status).toBe(404);
    expect((await world.gateway.database.wallets.get(id))?.limits).not.toEqual([]);
  });

  it("are not made where the gateway has no passphrase", async () => {
    const keyless = await createGatewayWorld({ options: { adminToken: TOKEN, passphrase: undefined } });
    const path = `/admin/accounts/${keyless.account}/wallets`;
    const { status, body } = await ask(keyless.url, "POST", path, wanted, { key: TOKEN });
    expect([status, body.error?.code]).toEqual([503, "UNAVAILABLE"]);
    await keyless.close();
  });
});

it("every change is a line of the log with its request, and no line holds a secret", async () => {
  const before = world.log.of("operator").length;
  const key = await admin("POST", `/accounts/${account}/keys`, { name: "x", mode: "test", scopes: ["read"] });
  const wallet = await admin("POST", `/accounts/${account}/wallets`, {
    ...{ name: "x", mode: "test", family: "evm" },
    secret: `0x${"b2".repeat(32)}`,
  });
  await admin("PATCH", `/accounts/${account}/wallets/${wallet.body.wallet?.id}`, { limits: [] });
  await admin("DELETE", `/accounts/${account}/wallets/${wallet.body.wallet?.id}`);
  await admin("DELETE", `/accounts/${account}/keys/${key.body.key?.id}`);
  const lines = world.log.of("operator").slice(before);
  expect(lines.map(({ change }) => change)).toEqual([
    "key made",
    "wallet imported",
    "wallet limited",
    "wallet removed",
    "key revoked",
  ]);
  expect(lines[0]).toMatchObject({ account, key: key.body.key?.prefix, requestId: key.headers.get("x-request-id") });
  const all = world.log.lines.join("");
  for (const secret of [TOKEN, String(key.body.secret), "b2b2b2", "a1a1a1"]) expect(all).not.toContain(secret);
});
