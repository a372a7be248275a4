// The dashboard against who is not meant: a stranger, a second tenant, whoever has taken a key that only receives or a session's
// cookie. What they send is refused, costs little, and says nothing else than it does.
import { randomBytes } from "node:crypto";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evmWallet } from "../signing-wallets.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { addSigner, challengeOf } from "./signing.js";
import { createVisitor, type Visitor } from "./visitor.js";

describe.each(["sqlite", "postgres"] as const)(
  "an attacker at the dashboard on %s",
  { timeout: 60_000 },
  (database) => {
    let world: GatewayWorld;
    let account: string;
    let visitor: Visitor;
    beforeAll(async () => {
      world = await createGatewayWorld({ database, watch: false });
      account = await world.newAccount("shop");
      visitor = createVisitor(world);
      await visitor.signIn(account);
    }, 60_000);
    afterAll(() => world?.close());

    const failures = () => world.log.of("a page of the dashboard failed");

    it("breaks no page by what no database keeps", async () => {
      const { form } = await visitor.get("/account");
      const nul = "\0";
      for (const path of [
        "/payments?q=%00",
        "/payments?before=%00",
        "/payments?q=%ED%A0%80",
        "/payments?from=0000-00-00&to=9999-99-99",
        "/payments/%00",
        "/payments/..%2f..%2fetc",
        "/payments/%",
        "/keys/%00/rotate",
        "/keys/%00/delete",
        "/keys/__proto__/delete",
      ]) {
        const { status } = await visitor.get(path);
        expect([path, status < 500]).toEqual([path, true]);
      }
      for (const [path, fields] of [
        ["/account/unsign", { address: nul }],
        ["/keys/%00/delete", {}],
        ["/wallets/limit", { wallet: nul, asset: nul, perPayment: nul, perDay: nul }],
        ["/changes/challenge", { change: "rotate", key: nul, address: evmWallet().address }],
        ["/changes/challenge", { change: "__proto__", address: evmWallet().address }],
        ["/changes", { change: "limit", wallet: nul, address: evmWallet().address, nonce: nul, signature: nul }],
        ["/keys", { name: nul, mode: nul, plan: nul, scopes: nul, wallets: nul, expires: nul }],
      ] as const) {
        const { status } = await visitor.post(path, { form, ...fields });
        expect([path, status < 500]).toEqual([path, true]);
      }
      expect(failures()).toEqual([]);
    });

    it("is refused a form that cannot be read, and writes no error into the log by it", async () => {
      for (const path of ["/login", "/login/challenge", "/login/wallet", "/keys"]) {
        const sent = await fetch(`${world.url}/dashboard${path}`, {
          method: "POST",
          redirect: "manual",
          headers: {
            origin: world.url,
            cookie: visitor.cookie ?? "",
            "content-type": "multipart/form-data; boundary=x",
          },
          body: "--x\r\nContent-Disposition: form-data; name=",
        });
        expect([path, sent.status]).toEqual([path, 400]);
      }
      expect(failures()).toEqual([]);
    });

    it("hides behind the name of a key nothing of what is signed, and begins no line with it", async () => {
      const wallet = evmWallet();
      await addSigner(visitor, wallet);
      const { form } = await visitor.get("/account");
      const asked = async (name: string) => {
        const key = { change: "key", name, mode: "test", plan: "standard", scopes: ["send"] };
        return (await challengeOf(visitor, "/changes/challenge", wallet.address, { form, ...key })).text;
      };
      const told = "Make an API key. It may send on test networks, plan standard, for ever. Its name: '";
      const forged = "till'. It may read on test networks, plan standard, for ever. Its name: 'till";
      expect((await asked(forged)).split("\n")[3]).toBe(`${told}${forged}'`);
      const lines = await asked("till\u2028URI: https://other.example\u2029Chain ID: 1");
      expect(lines.split(/[\n\r\u2028\u2029]/)[3]).toBe(
        `${told}till\\u{2028}URI: https://other.example\\u{2029}Chain ID: 1'`,
      );
      // By the operator's hand an account may be called anything.
      const other = createVisitor(world);
      await other.signIn(await world.newAccount("shop\u2028till\u202e"));
      const signer = { form: (await other.get("/account")).form, change: "signer" };
      const { text } = await challengeOf(other, "/changes/challenge", evmWallet().address, signer);
      expect(text.split("\n")[3]).toMatch(/what its money may do\. Its name: 'shop\\u\{2028\}till\\u\{202e\}'$/);
    });

    it("is signed out where the browser signs in anew", async () => {
      const owner = createVisitor(world);
      await owner.signIn(account);
      const thief = createVisitor(world);
      thief.cookie = owner.cookie;
      await owner.signIn(account);
      expect([(await thief.get("/keys")).status, (await owner.get("/keys")).status]).toEqual([303, 200]);
    });

    it("brings nobody into an account of his own by a link that a page of another site opens", async () => {
      const page = async (site: string) => (await createVisitor(world).get("/login", { "sec-fetch-site": site })).text;
      for (const site of ["cross-site", "same-site"]) expect(await page(site)).toContain("data-brought");
      for (const site of ["none", "same-origin"]) expect(await page(site)).not.toContain("data-brought");
    });

    it("makes no page long by a key that only receives: it shows many wallets to be the account's", async () => {
      const { accounts } = world.gateway.database;
      const signer = evmWallet();
      const others = Array.from({ length: 250 }, () => `0x${randomBytes(20).toString("hex")}`);
      const shop = await world.newAccount("crowded");
      for (const address of others) await accounts.prove(shop, address);
      const owner = createVisitor(world);
      await owner.signIn(shop);
      await addSigner(owner, signer);
      const { text } = await owner.get("/account");
      expect(text.match(/<section /g)).toHaveLength(200);
      expect(text).toContain(signer.address);
    });

    it("asks for no more than six hundred pages a minute, and keeps nobody from signing out", async () => {
      const shop = await world.newAccount("asked");
      const [thief, owner] = [createVisitor(world), createVisitor(world)];
      await thief.signIn(shop);
      await owner.signIn(shop);
      const ask = async () => (await thief.get("/changes")).status;
      const statuses: number[] = [];
      for (let at = 0; at < 61; at += 1) statuses.push(...(await Promise.all(Array.from({ length: 10 }, ask))));
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
      expect(await visitor.get("/keys")).toMatchObject({ status: 200 });
      const { form } = await owner.get("/account");
      expect((await owner.post("/logout-everywhere", { form })).status).toBe(303);
      expect(await ask()).toBe(303);
    });
  },
);

describe("a cookie that is nobody's", () => {
  it("takes no turn of the database's one writer", { timeout: 60_000 }, async () => {
    const world = await createGatewayWorld({ database: "sqlite", watch: false });
    const { database } = world.gateway.settings;
    if (!("file" in database)) throw new Error("expected a file");
    const writer = new Database(database.file);
    try {
      writer.exec("begin immediate");
      const stranger = createVisitor(world);
      stranger.cookie = `tollgate_session=${randomBytes(32).toString("base64url")}`;
      expect(await stranger.get("/keys")).toMatchObject({ status: 303 });
    } finally {
      writer.close();
      await world.close();
    }
  });
});
