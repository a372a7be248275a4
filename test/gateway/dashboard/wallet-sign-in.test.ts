// Signing in by a wallet: which wallets may, and every way in which a signature is not the one that was asked for.
import { parseSiweMessage, validateSiweMessage } from "viem/siwe";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { evmWallet, solanaWallet, type Wallet } from "../signing-wallets.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { addSigner, challengeOf, signInWith } from "./signing.js";
import { createVisitor } from "./visitor.js";

const PUBLIC = "https://pay.example/shop";
const ORIGIN = { origin: "https://pay.example" };

describe.each(["sqlite", "postgres"] as const)("signing in by a wallet, on %s", { timeout: 60_000 }, (database) => {
  let world: GatewayWorld;
  let ahead = 0;
  beforeAll(async () => {
    world = await createGatewayWorld({ database, watch: false, context: { now: () => Date.now() + ahead } });
  }, 60_000);
  afterAll(() => world?.close());
  // Attempts are counted by the minute, and all of these come from one address.
  afterEach(() => {
    ahead += 61_000;
  });
  /** A wallet that signs for the account: added by whoever came by a link. */
  const signerOf = async (wallet: Wallet, account = world.account) => {
    const visitor = createVisitor(world);
    await visitor.signIn(account);
    expect((await addSigner(visitor, wallet)).status).toBe(303);
    return wallet;
  };
  const accountIn = async (visitor: ReturnType<typeof createVisitor>) =>
    /acc_\w{22}/.exec((await visitor.get("/account")).text)?.[0];

  it.each([
    ["EVM", evmWallet],
    ["Solana", solanaWallet],
  ])("lets a wallet of %s in that was added, to its own account", async (_name, create) => {
    const account = await world.newAccount();
    const wallet = await signerOf(create(), account);
    const visitor = createVisitor(world);
    const entered = await signInWith(visitor, wallet);
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/dashboard"]);
    expect(await accountIn(visitor)).toBe(account);
  });

  it("writes what EIP-4361 says, about this gateway, for five minutes", async () => {
    const { address } = evmWallet();
    const { text, nonce } = await challengeOf(createVisitor(world), "/login/challenge", address.toLowerCase());
    const message = parseSiweMessage(text);
    const { host } = new URL(world.url);
    expect(validateSiweMessage({ message, address: address as `0x${string}`, domain: host, nonce })).toBe(true);
    expect(message).toMatchObject({ uri: `${world.url}/dashboard`, version: "1", chainId: 84532 });
    expect((message.expirationTime?.getTime() ?? 0) - (message.issuedAt?.getTime() ?? 0)).toBe(300_000);
  });

  it("takes a signature once, however often and by however many it is sent", async () => {
    const wallet = await signerOf(evmWallet());
    const visitor = createVisitor(world);
    const { text, nonce } = await challengeOf(visitor, "/login/challenge", wallet.address);
    const signed = { address: wallet.address, nonce, signature: await wallet.sign(text) };
    const { cookie } = visitor;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => {
        const one = createVisitor(world);
        one.cookie = cookie;
        return one.post("/login/wallet", signed);
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(5).fill(403)]);
    expect(answers.find(({ status }) => status === 403)?.text).toContain(
      "is over, was used, or was asked for by another",
    );
  });

  it("takes no signature in another browser than the one that asked for it", async () => {
    const wallet = await signerOf(evmWallet());
    const [victim, thief] = [createVisitor(world), createVisitor(world)];
    const { text, nonce } = await challengeOf(victim, "/login/challenge", wallet.address);
    const signed = { address: wallet.address, nonce, signature: await wallet.sign(text) };
    expect((await thief.post("/login/wallet", signed)).text).toContain(
      "asked for no signature in the last five minutes",
    );
    await challengeOf(thief, "/login/challenge", wallet.address);
    const stolen = await thief.post("/login/wallet", signed);
    expect([stolen.status, stolen.text.includes("by another browser")]).toEqual([403, true]);
    expect((await victim.post("/login/wallet", signed)).status).toBe(303);
  });

  it("takes no signature of another text: domain, address, nonce, time, statement", async () => {
    const wallet = await signerOf(evmWallet());
    const stranger = evmWallet();
    const visitor = createVisitor(world);
    const { host } = new URL(world.url);
    const alter: readonly ((text: string, nonce: string) => string)[] = [
      (text) => text.replaceAll(host, "evil.example"),
      (text) => text.replace(wallet.address, stranger.address),
      // Another last sign than it has.
      (text, nonce) => text.replace(nonce, `${nonce.slice(0, -1)}${nonce.endsWith("1") ? "2" : "1"}`),
      (text) => text.replace(/Expiration Time: ..../, "Expiration Time: 2999"),
      (text) => text.replace("moves no money", "moves money"),
      (text) => `${text}\n`,
    ];
    for (const [at, change] of alter.entries()) {
      const { text, nonce } = await challengeOf(visitor, "/login/challenge", wallet.address);
      const signature = await wallet.sign(change(text, nonce));
      const { status, text: page } = await visitor.post("/login/wallet", { address: wallet.address, nonce, signature });
      expect([at, status, page.includes("not the wallet&#39;s signature")]).toEqual([at, 403, true]);
    }
    const { text, nonce } = await challengeOf(visitor, "/login/challenge", wallet.address);
    for (const other of ["", "1", `9${nonce.slice(1)}`, `${nonce}x`]) {
      const signature = await wallet.sign(text.replace(nonce, other));
      expect((await visitor.post("/login/wallet", { address: wallet.address, nonce: other, signature })).status).toBe(
        403,
      );
    }
  });

  it("lets in no wallet that was not added, also where an API key has shown that it is the account's", async () => {
    const wallet = evmWallet();
    expect((await signInWith(createVisitor(world), wallet)).text).toContain("signs for no account here");
    const { body } = await world.call("POST", "/wallets/challenge", { walletAddress: wallet.address });
    const signature = await wallet.sign(String(body.message));
    const shown = { walletAddress: wallet.address, nonce: body.nonce, signature };
    expect((await world.call("POST", "/wallets/prove", shown)).status).toBe(200);
    const refused = await signInWith(createVisitor(world), wallet);
    expect([refused.status, refused.text.includes("signs for no account here")]).toEqual([403, true]);
  });

  it("is one account's wallet: a second one cannot add it", async () => {
    const wallet = await signerOf(evmWallet());
    const other = createVisitor(world);
    await other.signIn(await world.newAccount());
    expect((await addSigner(other, wallet)).text).toContain("Another account has shown that this wallet is its own");
    const visitor = createVisitor(world);
    await signInWith(visitor, wallet);
    expect(await accountIn(visitor)).toBe(world.account);
  });

  it("lets a wallet in no more that signs no more, and ends what it had opened", async () => {
    const wallet = await signerOf(solanaWallet());
    const [own, visitor] = [createVisitor(world), createVisitor(world)];
    await signInWith(visitor, wallet);
    await own.signIn(world.account);
    const { form } = await own.get("/account");
    expect((await own.post("/account/unsign", { form, address: wallet.address })).status).toBe(303);
    expect((await visitor.get("")).status).toBe(303);
    expect((await signInWith(createVisitor(world), wallet)).text).toContain("signs for no account here");
  });

  it("limits attempts from one address, those that only ask for a text too", async () => {
    const { address } = evmWallet();
    const statuses: number[] = [];
    for (let at = 0; at < 62; at += 1)
      statuses.push((await challengeOf(createVisitor(world), "/login/challenge", address)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429]);
    expect((await createVisitor(world).post("/login/wallet", { address, nonce: "", signature: "" })).status).toBe(429);
  });
});

describe("a gateway with a public URL", () => {
  it("has its domain signed, whatever the request says, and keeps the browser's cookie to https", async () => {
    const world = await createGatewayWorld({ watch: false, options: { publicUrl: PUBLIC } });
    try {
      const visitor = createVisitor(world);
      const asked = await visitor.post("/login/challenge", { address: evmWallet().address }, ORIGIN);
      expect(JSON.parse(asked.text).text).toMatch(
        /^pay\.example wants you to sign in[\s\S]*\nURI: https:\/\/pay\.example\/shop\/dashboard\n/,
      );
      expect(asked.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-tollgate_signin=[\w-]{43}; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
      ]);
    } finally {
      await world.close();
    }
  });
});
