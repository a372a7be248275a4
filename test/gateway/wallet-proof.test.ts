// An account shows that a wallet is its own: by the wallet's signature of a text that nobody else can use, once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWalletProofs } from "../../src/gateway/admin/wallet-proof.js";
import type { Caller } from "../../src/gateway/caller.js";
import { evmWallet, solanaWallet } from "./signing-wallets.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const WALLETS = [
  ["EVM", evmWallet],
  ["Solana", solanaWallet],
] as const;

let world: GatewayWorld;
let otherKey: string;
let other: string;
beforeAll(async () => {
  world = await createGatewayWorld({ options: { publicUrl: "https://pay.example" } });
  other = await world.newAccount();
  otherKey = await world.newKey({ account: other });
});
afterAll(() => world.close());

const challenge = async (walletAddress: string, key?: string) => {
  const { body } = await world.call("POST", "/wallets/challenge", { walletAddress }, key === undefined ? {} : { key });
  return { message: String(body.message), nonce: String(body.nonce), expiresAt: Number(body.expiresAt) };
};
const prove = (walletAddress: string, nonce: string, signature: string, key?: string) =>
  world.call("POST", "/wallets/prove", { walletAddress, nonce, signature }, key === undefined ? {} : { key });

describe.each(WALLETS)("a wallet on %s", (_name, create) => {
  it("is shown to be an account's by one signature, and is nobody else's from then on", async () => {
    const wallet = create();
    const { message, nonce, expiresAt } = await challenge(wallet.address);
    expect(message).toContain("https://pay.example");
    expect(message).toContain(wallet.address);
    expect(message).toContain(world.account);
    expect(expiresAt - Date.now() / 1000).toBeGreaterThan(590);
    expect(expiresAt - Date.now() / 1000).toBeLessThanOrEqual(601);
    const proven = await prove(wallet.address, nonce, await wallet.sign(message));
    expect([proven.status, proven.body]).toEqual([
      200,
      { success: true, walletAddress: wallet.address, account: world.account },
    ]);
    const { accounts } = world.gateway.database;
    expect(await accounts.ownerOf(wallet.address)).toBe(world.account);

    const theirs = await challenge(wallet.address, otherKey);
    const late = await prove(wallet.address, theirs.nonce, await wallet.sign(theirs.message), otherKey);
    expect([late.status, late.body.error?.code]).toEqual([403, "FORBIDDEN"]);
    expect(await accounts.ownerOf(wallet.address)).toBe(world.account);
  });

  it("is shown by each challenge once", async () => {
    const wallet = create();
    const { message, nonce } = await challenge(wallet.address);
    const signature = await wallet.sign(message);
    const answers = await Promise.all(Array.from({ length: 5 }, () => prove(wallet.address, nonce, signature)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  it("is not shown by another wallet's signature, another text, or what is no signature", async () => {
    const [wallet, stranger] = [create(), create()];
    const { message, nonce } = await challenge(wallet.address);
    const wrong = [
      await stranger.sign(message),
      await wallet.sign(`${message} `),
      await wallet.sign(message.replace("pay.example", "evil.example")),
      "",
      `0x${"00".repeat(65)}`,
      `0x${"ff".repeat(64)}1b`,
      "1".repeat(88),
      "🧾",
    ];
    for (const signature of wrong) {
      const { status, body } = await prove(wallet.address, nonce, signature);
      expect([status, body.error?.code]).toEqual([400, "INVALID_REQUEST"]);
    }
    expect(await world.gateway.database.accounts.ownerOf(wallet.address)).toBeUndefined();
    expect((await prove(wallet.address, nonce, await wallet.sign(message))).status).toBe(200);
  });

  it("is not shown to be another account's by a signature that was made for this one", async () => {
    const wallet = create();
    const { message, nonce } = await challenge(wallet.address);
    const signature = await wallet.sign(message);
    const { status } = await prove(wallet.address, nonce, signature, otherKey);
    expect(status).toBe(400);
    // Even where the thief has a text of his own signed: the nonce is bound to the account that asked for it.
    const forged = await wallet.sign(message.replace(world.account, other));
    expect((await prove(wallet.address, nonce, forged, otherKey)).status).toBe(400);
    expect(await world.gateway.database.accounts.ownerOf(wallet.address)).toBeUndefined();
  });

  it("is not shown by a nonce that the caller made, nor by one of another wallet", async () => {
    const [wallet, second] = [create(), create()];
    const { message, nonce } = await challenge(wallet.address);
    const made = `${Math.floor(Date.now() / 1000) + 300}-${"A".repeat(22)}`;
    expect((await prove(wallet.address, made, await wallet.sign(message.replace(nonce, made)))).status).toBe(400);
    const moved = message.replace(wallet.address, second.address);
    expect((await prove(second.address, nonce, await second.sign(moved))).status).toBe(400);
    for (const odd of ["", "x", "1-1", "99999999999999-AAAAAAAAAAAAAAAAAAAAAA"]) {
      expect((await prove(wallet.address, odd, await wallet.sign(message))).status).toBe(400);
    }
  });

  it("is not shown after ten minutes, nor at another gateway on the same database", async () => {
    const wallet = create();
    const { database, settings } = world.gateway;
    const [key] = await database.keys.list(world.account);
    if (!key) throw new Error("the world has a key");
    const caller: Caller = { key, requestId: "req_test0000", signal: new AbortController().signal };
    let now = await database.now();
    const clocked = { ...database, now: async () => now };
    const proofs = createWalletProofs({ settings, database: clocked });
    // Asked for eleven minutes ago.
    now -= 11 * 60_000;
    const late = await proofs.challenge(caller, { walletAddress: wallet.address });
    if (!late.ok) throw new Error(late.message);
    const { nonce, message } = late.value;
    const request = { walletAddress: wallet.address, nonce, signature: await wallet.sign(message) };
    expect(await proofs.prove(caller, request)).toMatchObject({ ok: false, code: "INVALID_REQUEST" });

    const elsewhere = createWalletProofs({ settings: { ...settings, publicUrl: "https://other.example" }, database });
    const theirs = await elsewhere.challenge(caller, { walletAddress: wallet.address });
    if (!theirs.ok) throw new Error(theirs.message);
    const { message: foreign, nonce: foreignNonce } = theirs.value;
    // Neither as it was signed for the other gateway, nor signed anew for this one.
    for (const text of [foreign, foreign.replace("other.example", "pay.example")]) {
      expect((await prove(wallet.address, foreignNonce, await wallet.sign(text))).status).toBe(400);
    }
    expect(await database.accounts.ownerOf(wallet.address)).toBeUndefined();
  });
});

it("needs a key with the scope receive", async () => {
  const key = await world.newKey({ scopes: ["read", "send", "build", "events"] });
  const { address } = evmWallet();
  expect((await world.call("POST", "/wallets/challenge", { walletAddress: address }, { key })).status).toBe(403);
  expect((await prove(address, "x", "y", key)).status).toBe(403);
});

it("takes an EVM address in any case, and writes it in one", async () => {
  const wallet = evmWallet();
  const { message, nonce } = await challenge(wallet.address.toLowerCase());
  expect(message).toContain(wallet.address);
  const { status, body } = await prove(wallet.address.toLowerCase(), nonce, await wallet.sign(message));
  expect([status, body.walletAddress]).toEqual([200, wallet.address]);
});
