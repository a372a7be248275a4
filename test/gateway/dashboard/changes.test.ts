// What widens what money can do: done for a wallet's signature of exactly that, and for nothing less.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { evmWallet, solanaWallet, type Wallet } from "../signing-wallets.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { addSigner, challengeOf, change } from "./signing.js";
import { createVisitor, type Visitor } from "./visitor.js";

const NATIVE = "eip155:84532 native";
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

describe.each(["sqlite", "postgres"] as const)("a change that widens, on %s", { timeout: 60_000 }, (database) => {
  let world: GatewayWorld;
  let account: string;
  let visitor: Visitor;
  let wallet: Wallet;
  let hosted: string;
  const ahead = 0;
  beforeAll(async () => {
    const options = { passphrase: "correct horse battery staple of the sandbox" };
    world = await createGatewayWorld({ database, watch: false, options, context: { now: () => Date.now() + ahead } });
    account = await world.newAccount("shop");
    [visitor, wallet] = [createVisitor(world), evmWallet()];
    await visitor.signIn(account);
    await addSigner(visitor, wallet);
    const limits = [{ network: "eip155:84532", asset: "native", perPayment: 10n ** 15n, perDay: 10n ** 16n }];
    hosted = (await world.newWallet({ family: "evm", account, limits })).id;
  }, 60_000);
  afterAll(() => world?.close());

  const sending = () => ({
    change: "key",
    name: "till",
    mode: "test",
    plan: "standard",
    scopes: ["send", "read"],
    wallets: hosted,
  });
  const namesOf = async () => (await world.gateway.database.keys.list(account)).map(({ name }) => name);
  const limitsOf = async () => (await world.gateway.database.wallets.get(hosted))?.limits;

  it("is told before it is signed: the key, what it may, from which wallets", async () => {
    const { form } = await visitor.get("/keys");
    const { change: _, ...fields } = sending();
    const { status, text } = await visitor.post("/keys", { form, ...fields });
    const address = (await world.gateway.database.wallets.get(hosted))?.address;
    expect(status).toBe(200);
    expect(text).toContain(
      `Make an API key. It may send, read from ${address} on test networks, plan standard, for ever. Its name: &#39;till&#39;`,
    );
    expect(text).toContain(wallet.address);
    const asked = await challengeOf(visitor, "/changes/challenge", wallet.address, { form, ...sending() });
    expect(asked.text).toContain(`\n\nMake an API key. It may send, read from ${address} on test networks`);
    expect(await namesOf()).not.toContain("till");
  });

  it("makes a key that may send for the signature, once", async () => {
    const { form } = await visitor.get("/account");
    const { text, nonce } = await challengeOf(visitor, "/changes/challenge", wallet.address, { form, ...sending() });
    const signed = { form, ...sending(), address: wallet.address, nonce, signature: await wallet.sign(text) };
    const made = await visitor.post("/changes", signed);
    const secret = /tg_test_[1-9A-HJ-NP-Za-km-z]{30,}/.exec(made.text)?.[0] ?? "";
    const [key] = (await world.gateway.database.keys.list(account)).filter(({ name }) => name === "till");
    expect([made.status, key?.scopes, key?.wallets]).toEqual([200, ["send", "read"], [hosted]]);
    expect((await world.call("GET", `/payment/history/${wallet.address}`, undefined, { key: secret })).status).toBe(
      200,
    );
    expect((await visitor.post("/changes", signed)).status).toBe(403);
    expect((await namesOf()).filter((name) => name === "till")).toHaveLength(1);
  });

  it("rotates a key that may send for a signature", async () => {
    const { key } = await world.gateway.database.keys.create({
      account,
      name: "old",
      mode: "test",
      plan: "standard",
      scopes: ["send"],
      wallets: [hosted],
    });
    const page = await visitor.get(`/keys/${key.id}/rotate`);
    expect(page.text).toContain(`Make an API key in place of ${key.prefix}.`);
    const rotated = await change(visitor, wallet, { change: "rotate", key: key.id });
    expect(rotated.text).toContain(`/dashboard/keys/${key.id}/delete`);
    const both = (await world.gateway.database.keys.list(account)).filter(({ name }) => name === "old");
    expect(both.map(({ scopes, wallets }) => [scopes, wallets])).toEqual(Array(2).fill([["send"], [hosted]]));
  });

  it("does something else than was signed in no way", async () => {
    const { form } = await visitor.get("/account");
    const ask = () => challengeOf(visitor, "/changes/challenge", wallet.address, { form, ...sending() });
    const more = { ...sending(), name: "more" };
    const forged: readonly (readonly [string, Record<string, string | readonly string[]>, Wallet])[] = [
      ["another name", more, wallet],
      ["another scope", { ...sending(), name: "till", scopes: ["send", "read", "receive"] }, wallet],
      ["another change", { change: "limit", wallet: hosted, asset: NATIVE, perPayment: "5", perDay: "5" }, wallet],
      ["a stranger's signature", sending(), evmWallet()],
    ];
    const before = await namesOf();
    for (const [what, fields, signer] of forged) {
      const { text, nonce } = await ask();
      const signature = await signer.sign(text);
      const answer = await visitor.post("/changes", { form, ...fields, address: wallet.address, nonce, signature });
      expect([what, answer.status]).toEqual([what, 403]);
    }
    expect([await namesOf(), await limitsOf()]).toEqual([before, [expect.objectContaining({ perDay: 10n ** 16n })]]);
  });

  it("takes no signature that another session asked for, and no sign-in for a change", async () => {
    const other = createVisitor(world);
    await other.signIn(account);
    const { form } = await other.get("/account");
    const asked = await challengeOf(other, "/changes/challenge", wallet.address, { form, ...sending() });
    const signed = {
      ...sending(),
      address: wallet.address,
      nonce: asked.nonce,
      signature: await wallet.sign(asked.text),
    };
    expect((await visitor.post("/changes", { ...signed, form: (await visitor.get("/account")).form })).status).toBe(
      403,
    );
    const login = await challengeOf(other, "/login/challenge", wallet.address);
    const reused = { nonce: login.nonce, signature: await wallet.sign(login.text) };
    expect((await other.post("/changes", { form, ...sending(), address: wallet.address, ...reused })).status).toBe(403);
    expect((await other.post("/changes", { ...signed, form })).status).toBe(200);
  });

  it("is signed by a wallet of the account that signs: by no stranger's and no other account's", async () => {
    const before = await namesOf();
    const [others, stranger, shown] = [solanaWallet(), evmWallet(), evmWallet()];
    const other = createVisitor(world);
    await other.signIn(await world.newAccount("other"));
    await addSigner(other, others);
    await world.gateway.database.accounts.prove(account, shown.address);
    for (const one of [others, stranger, shown]) {
      expect((await change(visitor, one, sending())).text).toContain("does not sign for this account");
    }
    // The other account's own wallet, and this account's hosted one.
    expect((await change(other, others, sending())).text).toContain("no such wallet");
    const limit = { change: "limit", wallet: hosted, asset: NATIVE, perPayment: "5", perDay: "5" };
    expect((await change(other, others, limit)).text).toContain("no such wallet");
    expect(await namesOf()).toEqual(before);
  });

  it("raises a limit for a signature, lowers it without one, and leaves the others", async () => {
    const { form } = await visitor.get("/wallets");
    const limit = (asset: string, perPayment: string, perDay: string) => ({
      wallet: hosted,
      asset,
      perPayment,
      perDay,
    });
    for (const [what, higher] of Object.entries({
      once: limit(NATIVE, "0.002", "0.01"),
      daily: limit(NATIVE, "0.001", "0.02"),
      new: limit(`eip155:84532 ${USDC}`, "1", "1"),
    })) {
      const { status, text } = await visitor.post("/wallets/limit", { form, ...higher });
      expect([what, status, text.includes("This widens what money can do")]).toEqual([what, 200, true]);
    }
    expect(await limitsOf()).toHaveLength(1);
    // Two tokens may have one symbol.
    const token = { form, change: "limit", ...limit(`eip155:84532 ${USDC}`, "2", "3.5") };
    expect((await challengeOf(visitor, "/changes/challenge", wallet.address, token)).text).toContain(
      ` send 2 USDC at once and 3.5 USDC in 24 hours on base-sepolia (test), the token ${USDC}.`,
    );
    expect(
      (await change(visitor, wallet, { change: "limit", ...limit(`eip155:84532 ${USDC}`, "2", "3.5") })).status,
    ).toBe(303);
    expect((await visitor.post("/wallets/limit", { form, ...limit(NATIVE, "0.0005", "0.001") })).status).toBe(303);
    expect(await limitsOf()).toEqual([
      { network: "eip155:84532", asset: USDC, perPayment: 2_000_000n, perDay: 3_500_000n },
      { network: "eip155:84532", asset: "native", perPayment: 5n * 10n ** 14n, perDay: 10n ** 15n },
    ]);
    for (const wrong of [
      limit(NATIVE, "-1", "1"),
      limit(NATIVE, "2", "1"),
      limit("eip155:1 native", "1", "1"),
      limit(NATIVE, "1e3", "9e9"),
    ]) {
      expect((await visitor.post("/wallets/limit", { form, ...wrong })).status).toBe(400);
    }
  });

  it("is a wallet that signs, too: added within ten minutes of signing in only", async () => {
    const [late, other] = [createVisitor(world), evmWallet()];
    await late.signIn(account);
    const { sessions } = world.gateway.database;
    // By the database's clock, which cannot be moved here: test/gateway/database shows when a session is new no more.
    const look = sessions.look.bind(sessions);
    const age = () =>
      vi.spyOn(sessions, "use").mockImplementation(async (hash) => {
        const open = await look(hash);
        return open && { ...open, isNew: false };
      });
    const aged = age();
    try {
      expect((await late.get("/account")).text).toContain("within ten minutes of signing in only");
      expect((await addSigner(late, other)).text).toContain("sign out, sign in again");
      // A signature that was asked for in time is late as well.
      aged.mockRestore();
      const { form } = await late.get("/account");
      const { text, nonce } = await challengeOf(late, "/changes/challenge", other.address, { form, change: "signer" });
      age();
      const signed = { address: other.address, nonce, signature: await other.sign(text) };
      expect((await late.post("/changes", { form, change: "signer", ...signed })).status).toBe(403);
    } finally {
      vi.restoreAllMocks();
    }
    expect(await world.gateway.database.signers.accountOf(other.address)).toBeUndefined();
  });

  it("names the command where no wallet signs for the account", async () => {
    const bare = await world.newAccount("bare");
    const { address, id } = await world.newWallet({ family: "evm", account: bare, limits: [] });
    const lonely = createVisitor(world);
    await lonely.signIn(bare);
    const { form } = await lonely.get("/wallets");
    const raised = await lonely.post("/wallets/limit", {
      form,
      wallet: id,
      asset: NATIVE,
      perPayment: "1",
      perDay: "1",
    });
    expect(raised.text).toContain("No wallet signs for this account yet");
    expect(raised.text).toContain(`tollgate wallets limit ${id} --limit &quot;${NATIVE} 1/payment 1/day&quot;`);
    expect(raised.text).toContain(address);
    expect(raised.text).not.toContain("data-challenge");
  });
});
