// Binding: a payment buys one request. Another route, method, body or receiver's terms never ride on it, and nothing a
// client echoes becomes a term of the sale.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { times } from "../../src/price.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { root } from "../support/sources.js";
import { BUYER, createWorld, type Handler, ok } from "../support/world.js";
import { ask, required, signFor } from "./buyer.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
/** The entries of the package: with types and code, or a file that is no code. */
const entry = z.union([z.string(), z.object({ types: z.string(), default: z.string() })]);
const { exports: all } = z
  .object({ exports: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
const ATTACKER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

describe.each(FRAMEWORKS)("binding on %s", (framework) => {
  it("A8: one payment at two routes of one price buys one of them, before and after", async () => {
    shop = await openShop(framework, { routes: [{ path: "/a" }, { path: "/b" }] });
    const { url } = shop;
    const payment = await signFor(`${url}/a`);
    const both = await Promise.all([...Array(10)].map((_, at) => ask(`${url}/${at % 2 ? "a" : "b"}`, payment)));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    const [won] = [0, 1].filter((at) => both.some(({ status }, n) => status === 200 && n % 2 === at));
    const other = await ask(`${url}/${won === 1 ? "b" : "a"}`, payment);
    expect([other.status, other.json.code, shop.runs.length]).toEqual([402, "payment_used_elsewhere", 1]);
  });

  it("A10: terms that the client changed in its echo are refused before the facilitator is asked", async () => {
    shop = await openShop(framework, { verify: "remote" });
    const url = `${shop.url}/report`;
    const changes: Record<string, unknown>[] = [
      { amount: "1" },
      { payTo: ATTACKER },
      { asset: ATTACKER },
      { network: "eip155:80002" },
      { extra: { name: "Worthless", version: "2" } },
    ];
    for (const change of changes) {
      const payment = await signFor(url);
      const payload = JSON.parse(Buffer.from(payment.value, "base64").toString());
      payload.accepted = { ...payload.accepted, ...change };
      if (change.amount) payload.payload.authorization.value = change.amount;
      if (change.payTo) payload.payload.authorization.to = change.payTo;
      const value = Buffer.from(JSON.stringify(payload)).toString("base64");
      const got = await ask(url, { headers: { [payment.name]: value } });
      expect([got.status, got.json.code]).toEqual([402, "offer_mismatch"]);
    }
    expect(shop.remote.requests.filter(({ endpoint }) => endpoint !== "supported")).toEqual([]);
    expect(shop.runs).toHaveLength(0);
  });

  it.each(["POST", "PUT", "DELETE"])("A12: a payment that bought a GET buys no %s of the same path", async (method) => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const payment = await signFor(url);
    expect((await ask(url, payment)).status).toBe(200);
    const got = await ask(url, { method, headers: payment.headers });
    expect([got.status, got.json.code]).toEqual([402, "payment_used_elsewhere"]);
    for (const name of ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"]) {
      const masked = await ask(url, { method: "POST", headers: { ...payment.headers, [name]: "GET" } });
      expect([masked.status, masked.json.code]).toEqual([402, "payment_used_elsewhere"]);
    }
    expect(shop.runs).toHaveLength(1);
  });

  it("A13: a payment for a small body buys no larger one: the new price is asked for", async () => {
    const price = async (request: { body(limit: number): Promise<Uint8Array | undefined> }) => {
      const { n } = JSON.parse(new TextDecoder().decode(await request.body(1024)));
      return times("$0.001", n);
    };
    shop = await openShop(framework, { routes: [{ path: "/render", price }] });
    const url = `${shop.url}/render`;
    const type = { "content-type": "application/json" };
    const payment = await signFor(url, {}, { method: "POST", headers: type, body: '{"n":1}' });
    const headers = { ...payment.headers, ...type };
    const got = await ask(url, { method: "POST", headers, body: '{"n":1000}' });
    expect([got.status, got.json.code, shop.runs.length]).toEqual([402, "offer_mismatch", 0]);
    expect((required(got).accepts as { amount: string }[])[0]?.amount).toBe("1000000");
    const right = await ask(url, { method: "POST", headers, body: '{"n":1}' });
    expect([right.status, shop.runs[0]?.body]).toEqual([200, '{"n":1}']);
  });
});

describe("A11: no public entry gives a verify or settle that works without the seller's own requirement", () => {
  const entries = Object.entries(all).flatMap(([name, at]) =>
    typeof at === "string" ? [] : [[name, at.default.replace("./dist/", "").replace(/\.js$/, ".ts")] as const],
  );

  it.each(entries)("%s", async (_name, source) => {
    const names = Object.keys((await import(join(root, source))) as object);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => /verif|settle|check|valid|recover/i.test(name))).toEqual([]);
  });

  it("and these are all entries that there are", () => {
    const others = Object.keys(all).filter((name) => !entries.some(([known]) => known === name));
    expect([others, entries.length > 10]).toEqual([["./package.json"], true]);
  });
});

it("A16: forty payments at once by a payer who holds ten times the price buy ten", async () => {
  const world = createWorld();
  world.receiver.verification = { outcome: "valid", payer: BUYER.address, balance: 100_000n };
  const proofs: Record<string, string>[] = [];
  for (let n = 0; n < 40; n += 1) proofs.push(await world.sign());
  const waiting: (() => void)[] = [];
  const open: Handler = (payment) => new Promise((resolve) => waiting.push(() => resolve(ok(payment))));
  const sent = proofs.map((headers) => world.send({ headers }, open));
  // The refused ones are answered while the ten are still at work.
  const refused = new Set<number>();
  await new Promise<void>((resolve) => {
    sent.forEach((one, at) => {
      void one.then(({ answer }) => {
        if (answer.status === 429 && refused.add(at).size === 30) resolve();
      });
    });
  });
  for (const finish of waiting) finish();
  const statuses = (await Promise.all(sent)).map(({ answer }) => answer.status);
  expect([statuses.filter((status) => status === 200).length, world.receiver.calls.settle]).toEqual([10, 10]);
});
