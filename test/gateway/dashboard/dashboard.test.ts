// Who may do what in the dashboard: links, sessions, forms and accounts, on both databases, with the attacks on each.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { createPayments, HOSTILE } from "./payments.js";
import { createVisitor, linkFor, tokenOf } from "./visitor.js";

describe.each(["sqlite", "postgres"] as const)("the dashboard on %s", { timeout: 60_000 }, (database) => {
  let world: GatewayWorld;
  let other: string;
  let ahead = 0;
  beforeAll(async () => {
    world = await createGatewayWorld({ database, watch: false, context: { now: () => Date.now() + ahead } });
    other = await world.newAccount("other");
  }, 60_000);
  afterAll(() => world?.close());
  const signedIn = async (account = world.account) => {
    const visitor = createVisitor(world);
    expect((await visitor.signIn(account)).status).toBe(303);
    return visitor;
  };

  it("shows nothing without a session", async () => {
    const stranger = createVisitor(world);
    for (const path of ["", "/payments", "/payments/pay_1", "/keys", "/wallets", "/account", "/nothing"]) {
      const { status, headers } = await stranger.get(path);
      expect([path, status, headers.get("location")]).toEqual([path, 303, "/dashboard/login"]);
    }
    expect((await stranger.post("/keys", { name: "x", mode: "test", plan: "standard", scopes: "read" })).status).toBe(
      303,
    );
    expect((await world.gateway.database.keys.list(world.account)).map(({ name }) => name)).not.toContain("x");
  });

  it("takes a link once, however many come with it at once", async () => {
    const token = tokenOf(await linkFor(world, world.account));
    const answers = await Promise.all(Array.from({ length: 8 }, () => createVisitor(world).post("/login", { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(403)]);
  });

  it("takes no link of another gateway, no altered one and none for another account", async () => {
    const elsewhere = tokenOf(await linkFor(world, world.account, "https://pay.example"));
    const good = tokenOf(await linkFor(world, world.account));
    const swapped = good.replace(world.account, other);
    for (const token of [elsewhere, swapped, `${good}x`, "", "acc_1.x"]) {
      const visitor = createVisitor(world);
      const { status, text } = await visitor.post("/login", { token });
      expect([token, status, visitor.cookie]).toEqual([token, 403, undefined]);
      expect(text).toContain("make a new one with tollgate gateway login");
    }
    expect((await createVisitor(world).post("/login", { token: good })).status).toBe(303);
  });

  it("sets a cookie that no script reads and no other site sends", async () => {
    const { headers } = await createVisitor(world).signIn(world.account);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^tollgate_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  it("permits a browser nothing that is not the gateway's own, and keeps no page", async () => {
    const { headers } = await (await signedIn()).get("");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect([
      headers.get("cache-control"),
      headers.get("referrer-policy"),
      headers.get("x-content-type-options"),
    ]).toEqual(["no-store", "no-referrer", "nosniff"]);
  });

  it("ends a session by signing out, here and everywhere", async () => {
    const [one, two] = [await signedIn(), await signedIn()];
    const cookie = one.cookie;
    await one.post("/logout", { form: (await one.get("/account")).form });
    expect(one.cookie).toBeUndefined();
    one.cookie = cookie;
    expect((await one.get("")).status).toBe(303);
    const three = await signedIn();
    await two.post("/logout-everywhere", { form: (await two.get("/account")).form });
    expect((await three.get("")).status).toBe(303);
  });

  it("A37: takes no form from another site, another session, or without its token", async () => {
    const visitor = await signedIn();
    const { form } = await visitor.get("/keys");
    const key = { name: "forged", mode: "test", plan: "standard", scopes: "read" };
    const foreign = (await (await signedIn(other)).get("/keys")).form;
    const forged = [
      visitor.post("/keys", key),
      visitor.post("/keys", { ...key, form: foreign }),
      visitor.post("/keys", { ...key, form }, { origin: "https://evil.example" }),
      visitor.post("/keys", { ...key, form }, { origin: "null" }),
      visitor.post("/keys", { ...key, form }, { "sec-fetch-site": "cross-site" }),
      visitor.post("/keys", { ...key, form }, { "sec-fetch-site": "same-site" }),
      visitor.post("/keys", { ...key, form }, { origin: "null", "sec-fetch-site": "cross-site" }),
      visitor.post("/keys", { ...key, form }, { origin: "https://evil.example", "sec-fetch-site": "same-origin" }),
    ];
    expect((await Promise.all(forged)).map(({ status }) => status)).toEqual(Array(8).fill(403));
    const link = tokenOf(await linkFor(world, world.account));
    const stranger = createVisitor(world);
    expect((await stranger.post("/login", { token: link }, { origin: "https://evil.example" })).status).toBe(403);
    const names = (await world.gateway.database.keys.list(world.account)).map(({ name }) => name);
    expect(names).not.toContain("forged");
  });

  it("makes a key that works, shows it once, rotates it and deletes it", async () => {
    const visitor = await signedIn();
    const { form } = await visitor.get("/keys");
    const fields = { form, name: "مفتاح 🔑", mode: "test", plan: "standard", scopes: ["read", "receive"] };
    const made = await visitor.post("/keys", fields);
    const secret = /tg_test_[1-9A-HJ-NP-Za-km-z]{30,}/.exec(made.text)?.[0] ?? "";
    const works = async (key: string) =>
      (await world.call("GET", `/payment/history/${WALLET}`, undefined, { key })).status;
    expect(await works(secret)).toBe(200);
    const list = await visitor.get("/keys");
    expect(list.text).toContain("مفتاح 🔑");
    expect(list.text).not.toContain(secret);
    const [old] = (await world.gateway.database.keys.list(world.account)).filter(({ name }) => name === fields.name);
    const rotated = await visitor.post(`/keys/${old?.id}/rotate`, { form });
    const second = /tg_test_[1-9A-HJ-NP-Za-km-z]{30,}/.exec(rotated.text)?.[0] ?? "";
    expect([await works(secret), await works(second)]).toEqual([200, 200]);
    expect(rotated.text).toContain(`/dashboard/keys/${old?.id}/delete`);
    expect((await visitor.post(`/keys/${old?.id}/delete`, { form })).status).toBe(303);
    expect([await works(secret), await works(second)]).toEqual([401, 200]);
  });

  it("makes no key that may send, and says which command does", async () => {
    const visitor = await signedIn();
    const { form } = await visitor.get("/keys");
    const before = await world.gateway.database.keys.list(world.account);
    const wide = { form, name: "wide", mode: "test", plan: "standard", scopes: ["read", "send"] };
    const refused = await visitor.post("/keys", wide);
    expect(refused.text).toContain("No wallet signs for this account yet");
    expect(refused.text).toContain(`tollgate keys create --account ${world.account} --name &#39;wide&#39;`);
    // The world's own key may send.
    const sending = before.find(({ scopes }) => scopes.includes("send"));
    expect((await visitor.post(`/keys/${sending?.id}/rotate`, { form })).status).toBe(400);
    expect(await world.gateway.database.keys.list(world.account)).toHaveLength(before.length);
  });

  it("shows and changes nothing of another account", async () => {
    const visitor = await signedIn(other);
    const { form } = await visitor.get("/keys");
    const [theirs] = await createPayments(world, world.account);
    const [key] = await world.gateway.database.keys.list(world.account);
    expect((await visitor.get(`/payments/${theirs?.id}`)).status).toBe(404);
    expect((await visitor.get(`/payments?q=${theirs?.id}`)).text).toContain("No payment fits this search");
    expect((await visitor.get("")).text).toContain("Nothing has been received yet");
    for (const action of ["rotate", "delete"]) {
      expect((await visitor.get(`/keys/${key?.id}/${action}`)).status).toBe(404);
      expect((await visitor.post(`/keys/${key?.id}/${action}`, { form })).status).toBe(404);
    }
    expect((await world.gateway.database.keys.get(key?.id ?? ""))?.revokedAt).toBeNull();
  });

  it("adds amounts up exactly, by day and by route, and only what is on the chain", async () => {
    const account = await world.newAccount("sums");
    await createPayments(world, account);
    const { text } = await (await signedIn(account)).get("");
    // 0.01 and 9007199254.740993 of the priced route, 0.1 of the other; what failed and what was sent is not in it.
    expect(text).toContain("9007199254.850993 USDC");
    expect(text).toContain("9007199254.750993 USDC");
    expect(text).toContain("base-sepolia (test)");
  });

  it("finds payments by id, wallet, transaction, part of the resource, status, kind and day", async () => {
    const account = await world.newAccount("search");
    const made = await createPayments(world, account);
    const visitor = await signedIn(account);
    const found = async (query: Record<string, string>) => {
      const { text } = await visitor.get(`/payments?${new URLSearchParams(query)}`);
      return made.flatMap(({ id }, at) => (text.includes(`/payments/${id}`) ? [at] : []));
    };
    const [first] = made;
    const today = new Date(first?.createdAt ?? 0).toISOString().slice(0, 10);
    expect(await found({})).toEqual(made.map((_, at) => at));
    expect(await found({ q: first?.id ?? "" })).toEqual([0]);
    expect(await found({ q: (first?.sender ?? "").toLowerCase() })).toContain(0);
    expect(await found({ q: first?.signature ?? "" })).toEqual([0]);
    expect(await found({ q: "/report?" })).toEqual([0, 1]);
    expect(await found({ q: "%" })).toEqual([]);
    expect(await found({ type: "sent" })).toEqual([4]);
    expect(await found({ status: "failed" })).toEqual([3]);
    expect(await found({ from: today, to: "2100-01-01" })).toEqual(made.map((_, at) => at));
    expect(await found({ from: "2100-01-01" })).toEqual([]);
  });

  it("escapes whatever others have written", async () => {
    const account = await world.newAccount(HOSTILE);
    const made = await createPayments(world, account);
    await world.newKey({ account, name: HOSTILE });
    const visitor = await signedIn(account);
    const paths = ["", "/payments", "/keys", "/account", `/payments?q=${encodeURIComponent(HOSTILE)}`];
    for (const path of [...paths, ...made.map(({ id }) => `/payments/${id}`)]) {
      const { status, text } = await visitor.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text.replaceAll(/<script type="module" src="[^"<>]*"><\/script>/g, "")).not.toMatch(
        /<script|<img|<\/script/i,
      );
    }
  });

  it("limits attempts to sign in from one address", async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 70; at += 1)
      statuses.push((await createVisitor(world).post("/login", { token: "x" })).status);
    expect(statuses.at(-1)).toBe(429);
    // A link is not used up by being refused for that, and counts again when the minute is over.
    ahead += 61_000;
    expect((await createVisitor(world).signIn(world.account)).status).toBe(303);
  });
});

const WALLET = "0x1111111111111111111111111111111111111111";
