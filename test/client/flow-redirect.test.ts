// Redirects, before and after a payment (A55): they never choose who is paid, and no proof follows them.
import { describe, expect, it } from "vitest";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, receipt, type ScriptedSeller, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const STATUSES = [301, 302, 303, 307, 308];
const METHODS = ["GET", "POST"];
const WHERE = ["the same origin", "another port", "another host"] as const;
type Where = (typeof WHERE)[number];

const rows = STATUSES.flatMap((status) =>
  METHODS.flatMap((method) => WHERE.map((where) => [status, method, where] as const)),
);

/** One seller, the one to which it leads, and how that is called. */
async function two(where: Where): Promise<{ shop: ScriptedSeller; other: ScriptedSeller; place: string }> {
  const shop = await seller();
  const other = where === "another port" ? await seller() : shop;
  const origin = where === "another host" ? shop.origin.replace("127.0.0.1", "localhost") : other.origin;
  return { shop, other, place: `${origin}/elsewhere` };
}

const init = (method: string): RequestInit => ({
  method,
  headers: { authorization: "Bearer of the caller", cookie: "a=b", "payment-pass": "of the caller", "x-own": "kept" },
  ...(method === "POST" && { body: "the caller's text" }),
});

describe("before a payment", () => {
  it.each(rows)("%i of a %s to %s", async (status, method, where) => {
    const { shop, other, place } = await two(where);
    shop.script = ({ path, proof }) =>
      path === "/report" ? { status, headers: { location: place } } : proof ? goods() : asks();
    const { pay, wallet } = flowBuyer();
    const paid = pay(shop.url, init(method));
    if (method === "GET" && where === "the same origin") {
      expect((await paid).status).toBe(200);
      expect(shop.paid.map(({ path }) => path)).toEqual(["/elsewhere"]);
      return;
    }
    await expect(paid).rejects.toMatchObject({ code: "redirected", money: "none" });
    expect(wallet.signed).toHaveLength(0);
    expect([...shop.paid, ...other.paid]).toEqual([]);
  });
});

describe("after a payment", () => {
  /** What fetch makes of the method. */
  const next = (status: number, method: string) => (status < 304 ? "GET" : method);

  it.each(rows)("%i of a %s to %s", async (status, method, where) => {
    const { shop, other, place } = await two(where);
    shop.script = ({ path, proof }) => {
      if (path !== "/report") return { status: 200, body: "led on" };
      return proof ? { status, headers: { location: place, ...receipt() } } : asks();
    };
    if (other !== shop) other.script = () => ({ status: 200, body: "led on" });
    const { pay, wallet, payments } = flowBuyer();
    const response = await pay(shop.url, init(method));
    expect(await response.text()).toBe("led on");
    const led = other.requests.filter(({ path }) => path === "/elsewhere");
    expect(led).toHaveLength(1);
    const { headers, body, proof } = led[0]!;
    expect(proof).toBeUndefined();
    expect(headers["idempotency-key"]).toBeUndefined();
    expect(led[0]?.method).toBe(next(status, method));
    const keeps = next(status, method) === "POST";
    expect(body.toString()).toBe(keeps ? "the caller's text" : "");
    expect(headers["content-type"]).toBe(keeps ? "text/plain;charset=UTF-8" : undefined);
    expect(headers["x-own"]).toBe("kept");
    const same = where === "the same origin";
    expect([headers.authorization, headers.cookie, headers["payment-pass"]]).toEqual(
      same ? ["Bearer of the caller", "a=b", "of the caller"] : [undefined, undefined, undefined],
    );
    expect(wallet.signed).toHaveLength(1);
    expect(payments).toMatchObject([{ served: true, status: "settled" }]);
  });

  it.each(rows)("%i of a %s to %s that asks for money again is not paid", async (status, method, where) => {
    const { shop, other, place } = await two(where);
    shop.script = ({ path, proof }) =>
      path === "/report" && proof ? { status, headers: { location: place, ...receipt() } } : asks();
    if (other !== shop) other.script = () => asks();
    const { pay, wallet } = flowBuyer();
    await expect(pay(shop.url, init(method))).rejects.toMatchObject({ code: "redirected", money: "settled" });
    expect(wallet.signed).toHaveLength(1);
    expect(shop.paid).toHaveLength(1);
    expect(other === shop ? [] : other.paid).toEqual([]);
  });
});
