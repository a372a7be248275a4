// Where money may go: https, loopback, and hosts that the options name; and when a host is not paid any more (A59).
import { describe, expect, it } from "vitest";
import { createBreaker } from "../../src/client/breaker.js";
import { encodeHeader } from "../../src/wire/header.js";
import { challengeV2, evm } from "./challenges.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, receipt, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();

/** Sells at every URL. */
const everywhere = (async (_url: string, init?: RequestInit) =>
  new Headers(init?.headers).has("payment-signature")
    ? new Response("the goods")
    : new Response("{}", {
        status: 402,
        headers: { "PAYMENT-REQUIRED": encodeHeader(challengeV2([evm()])) },
      })) as typeof globalThis.fetch;

async function outcomeOf(url: string, options: Parameters<typeof flowBuyer>[0] = {}): Promise<string | number> {
  const { pay, wallet } = flowBuyer({ fetch: everywhere, ...options });
  const outcome = await pay(url).then(
    ({ status }) => status,
    ({ code }) => String(code),
  );
  expect(wallet.signed).toHaveLength(outcome === 200 ? 1 : 0);
  return outcome;
}

describe("plain http", () => {
  it.each(["http://localhost/", "http://localhost:8080/", "http://127.0.0.1/", "http://127.9.9.9/", "http://[::1]:1/"])(
    "to loopback is paid: %s",
    async (url) => expect(await outcomeOf(url)).toBe(200),
  );

  it.each([
    "http://api.example/",
    "http://localhost.example/",
    "http://127.0.0.1.example/",
    "http://128.0.0.1/",
    "http://192.168.0.1/",
    "http://[::2]/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
  ])("elsewhere is not: %s", async (url) => expect(await outcomeOf(url)).toBe("insecure_url"));

  it("is paid at a host that allowHttp names, with its port, and nowhere else", async () => {
    const allowHttp = ["api.internal", "api.internal:8080"];
    expect(await outcomeOf("http://api.internal/x", { allowHttp })).toBe(200);
    expect(await outcomeOf("http://API.internal.:8080/x", { allowHttp })).toBe(200);
    expect(await outcomeOf("http://api.internal:9090/x", { allowHttp })).toBe("insecure_url");
    expect(await outcomeOf("http://other.internal/x", { allowHttp })).toBe("insecure_url");
  });
});

it("with a list of hosts no other one is paid, loopback neither", async () => {
  const hosts = ["api.example", "api.example:8443"];
  expect(await outcomeOf("https://api.example/", { hosts })).toBe(200);
  expect(await outcomeOf("https://api.example:8443/", { hosts })).toBe(200);
  for (const url of ["https://api.example:444/", "https://x.api.example/", "http://localhost/"])
    expect(await outcomeOf(url, { hosts })).toBe("host_not_allowed");
});

describe("a host that takes money and does not serve", () => {
  it("is not paid any more after three payments, and the caller is told (A59)", async () => {
    const shop = await seller(sells({ status: 402, headers: receipt() }));
    const { pay, wallet, events, counted } = flowBuyer();
    const codes = [];
    for (let call = 0; call < 50; call += 1) codes.push(await pay(`${shop.url}/${call}`).catch(({ code }) => code));
    expect(codes).toEqual([...Array(3).fill("charged_without_goods"), ...Array(47).fill("host_stopped")]);
    expect(wallet.signed).toHaveLength(3);
    expect(await counted()).toBe(30_000);
    const stopped = events.filter(({ type }) => type === "stopped");
    expect(stopped).toHaveLength(47);
    expect(stopped[0]).toMatchObject({ code: "host_stopped", host: shop.host });
  });

  it("an agent that makes the same request fifty times has paid once", async () => {
    const shop = await seller(sells({ status: 402, headers: receipt() }));
    const { pay, wallet } = flowBuyer();
    for (let call = 0; call < 50; call += 1) await expect(pay(shop.url)).rejects.toThrow();
    expect(wallet.signed).toHaveLength(1);
  });

  it.each([
    ["a refusal", asks()],
    ["another status", { status: 500 }],
    ["an unknown outcome", "drop" as const],
  ])("fails by %s", async (_name, answer) => {
    const shop = await seller(sells(answer));
    const { pay, wallet } = flowBuyer({ resend: { times: 0 }, breaker: { failures: 2 } });
    for (let call = 0; call < 5; call += 1) await pay(`${shop.url}/${call}`).catch(() => {});
    expect(wallet.signed).toHaveLength(2);
  });

  it("is paid again once its failures are old, and other hosts are paid all the time", async () => {
    const shop = await seller(sells({ status: 500 }));
    const other = await seller();
    const { pay, advance } = flowBuyer({ breaker: { failures: 2, windowMs: 10_000 } });
    for (let call = 0; call < 2; call += 1) await pay(`${shop.url}/${call}`);
    advance(9_999);
    await expect(pay(`${shop.url}/2`)).rejects.toMatchObject({ code: "host_stopped", money: "none" });
    expect((await pay(other.url)).status).toBe(200);
    advance(1);
    expect((await pay(`${shop.url}/2`)).status).toBe(500);
  });

  it("still gets the proofs that it was given: they cost nothing more", async () => {
    const shop = await seller(sells({ status: 500 }, { status: 500 }, { status: 500 }, goods()));
    const { pay, wallet } = flowBuyer({ breaker: { failures: 3 } });
    const statuses = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await pay(shop.url)).status);
    expect(statuses).toEqual([500, 500, 500, 200]);
    expect(wallet.signed).toHaveLength(1);
  });

  it("still answers what is free", async () => {
    const shop = await seller(sells({ status: 500 }));
    const { pay } = flowBuyer({ breaker: { failures: 1 } });
    await pay(shop.url);
    shop.script = () => ({ status: 200, body: "free" });
    expect((await pay(`${shop.url}/free`)).status).toBe(200);
  });

  it("is not blamed for a call that the caller gave up", async () => {
    const shop = await seller(({ proof }) => (proof ? "hang" : asks()));
    const { pay } = flowBuyer({ breaker: { failures: 1 } });
    const stop = new AbortController();
    const call = pay(shop.url, { signal: stop.signal });
    await shop.got(2);
    stop.abort("enough");
    await expect(call).rejects.toBe("enough");
    shop.script = sells();
    expect((await pay(`${shop.url}/2`)).status).toBe(200);
  });

  it("is one of a thousand that are remembered", () => {
    const breaker = createBreaker({ failures: 1, windowMs: 1_000 }, () => 0);
    for (let host = 0; host < 1_001; host += 1) breaker.failed(`host ${host}`);
    expect(breaker.stoppedUntil("host 0")).toBeUndefined();
    expect(breaker.stoppedUntil("host 1")).toBe(1_000);
    expect(breaker.stoppedUntil("host 1000")).toBe(1_000);
  });
});
