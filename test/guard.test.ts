// The steps of the guard with the chain scripted: what is refused, with which code, and that nothing else runs.
import { describe, expect, it } from "vitest";
import { PaywallError } from "../src/errors.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  BUYER,
  broken,
  createWorld,
  type Handler,
  makeRequest,
  ok,
  PAY_TO,
  scriptedReceiver,
  TRANSACTION,
} from "./support/world.js";

const KEY = "retry-key-0123456789";
const codeOf = (sent: { json(): Record<string, unknown>; answer: { status: number } }) => [
  sent.answer.status,
  sent.json().code,
];
const seconds = (world: ReturnType<typeof createWorld>, from: number) =>
  String(Math.floor(world.clock.now() / 1000) + from);

describe("a request without a proof", () => {
  it("gets the dual challenge: one offer as v2 header and v1 body, the URL with its query, never stored", async () => {
    const world = createWorld();
    const sent = await world.send({ target: "/report?id=7&name=%C3%A9" });
    const required = JSON.parse(atob(sent.header("PAYMENT-REQUIRED") ?? ""));
    expect(required).toMatchObject({
      x402Version: 2,
      error: "Payment required",
      resource: { url: "http://shop.example/report?id=7&name=%C3%A9", description: "One report" },
      accepts: [{ scheme: "exact", network: "eip155:84532", amount: "10000", payTo: PAY_TO, maxTimeoutSeconds: 60 }],
      extensions: { "payment-identifier": { info: { required: false } } },
    });
    expect(sent.json()).toMatchObject({
      x402Version: 1,
      error: "X-PAYMENT header is required",
      code: "payment_required",
      accepts: [
        { network: "base-sepolia", maxAmountRequired: "10000", resource: required.resource.url, payTo: PAY_TO },
      ],
    });
    expect(sent.header("Cache-Control")).toBe("no-store");
    expect(sent.header("Access-Control-Expose-Headers")).toContain("PAYMENT-REQUIRED");
  });

  it("is answered at once, without a promise and without the receiver", () => {
    const world = createWorld();
    expect(world.guard(makeRequest({}))).not.toBeInstanceOf(Promise);
    expect(world.receiver.calls.verify).toBe(0);
  });

  it.each(["HEAD", "OPTIONS"])("with %s never reaches the handler, with or without a proof", async (method) => {
    const world = createWorld();
    const headers = await world.sign();
    for (const given of [{}, headers]) {
      const sent = await world.send({ method, headers: given });
      expect(sent.answer.status).toBe(method === "HEAD" ? 402 : 204);
      expect(sent.answer.body).toBe("");
    }
    expect(world.runs).toHaveLength(0);
  });

  it.each(["", "[::1", "a b", "x".repeat(300), "evil.test/path", 'a"b'])(
    "with the host %j is refused as malformed",
    async (host) => {
      const world = createWorld();
      const verdict = await world.guard({ ...makeRequest({}), origin: `http://${host}` });
      expect(verdict).toMatchObject({ kind: "refuse", answer: { status: 400 } });
    },
  );
});

describe("a proof that cannot be read", () => {
  it.each([
    ["not base64", "!!!"],
    ["not JSON", btoa("garbage")],
    ["an array", btoa("[]")],
    ["null", btoa("null")],
    ["a number", btoa("1")],
    ["an empty object", btoa("{}")],
    ["no payload", btoa('{"x402Version":2}')],
    ["deeply nested", btoa(`{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`).slice(0, 16_000)],
    ["two headers joined", `${btoa("{}")}, ${btoa("{}")}`],
  ])("because it is %s gets 400 and no offers", async (_what, header) => {
    const world = createWorld();
    const sent = await world.send({ headers: { "PAYMENT-SIGNATURE": header } });
    expect(sent.answer.status).toBe(400);
    expect(sent.json()).not.toHaveProperty("accepts");
    expect(world.receiver.calls.verify).toBe(0);
  });

  it("because it is over 16 KiB gets payment_header_too_large", async () => {
    const sent = await createWorld().send({ headers: { "X-PAYMENT": "A".repeat(16 * 1024 + 4) } });
    expect(codeOf(sent)).toEqual([400, "payment_header_too_large"]);
  });

  it("because its version does not fit its header gets payment_version_invalid", async () => {
    const world = createWorld();
    const { "PAYMENT-SIGNATURE": v2 = "" } = await world.sign();
    expect(codeOf(await world.send({ headers: { "X-PAYMENT": v2 } }))).toEqual([400, "payment_version_invalid"]);
  });

  it("because the retry key is malformed gets retry_key_invalid", async () => {
    const world = createWorld();
    const headers = await world.sign({ version: 1, retryKey: "short" });
    expect(codeOf(await world.send({ headers }))).toEqual([400, "retry_key_invalid"]);
  });
});

describe("both payment headers at once", () => {
  it("are one payment when they carry the same proof, and both receipts go out", async () => {
    const world = createWorld();
    const v2 = await world.sign();
    const { payload } = JSON.parse(atob(v2["PAYMENT-SIGNATURE"] ?? "")) as { payload: unknown };
    const v1 = btoa(JSON.stringify({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload }));
    const sent = await world.send({ headers: { ...v2, "X-PAYMENT": v1 } });
    expect(sent.answer.status).toBe(200);
    expect(JSON.parse(atob(sent.header("PAYMENT-RESPONSE") ?? ""))).toMatchObject({ network: "eip155:84532" });
    expect(JSON.parse(atob(sent.header("X-PAYMENT-RESPONSE") ?? ""))).toMatchObject({ network: "base-sepolia" });
  });

  it("are refused when they carry different proofs", async () => {
    const world = createWorld();
    const sent = await world.send({ headers: { ...(await world.sign()), ...(await world.sign({ version: 1 })) } });
    expect(codeOf(sent)).toEqual([400, "payment_headers_conflict"]);
    expect(world.runs).toHaveLength(0);
  });
});

describe("a proof that is not for our offer", () => {
  it.each([
    ["scheme", { scheme: "upto" }, "unsupported_scheme"],
    ["amount", { amount: "1" }, "offer_mismatch"],
    ["payTo", { payTo: BUYER.address }, "offer_mismatch"],
    ["asset", { asset: "0x0000000000000000000000000000000000000001" }, "offer_mismatch"],
    ["network", { network: "eip155:8453" }, "offer_mismatch"],
    ["maxTimeoutSeconds", { maxTimeoutSeconds: 6000 }, "offer_mismatch"],
    ["extra.name", { extra: { name: "USD Coin", version: "2" } }, "offer_mismatch"],
  ])("because its %s was changed is refused before anything is verified", async (field, accepted, code) => {
    const world = createWorld();
    const sent = await world.send({ headers: await world.sign({ accepted }) });
    expect(codeOf(sent)).toEqual([402, code]);
    if (code === "offer_mismatch") expect(sent.json().expected).toContain(field);
    expect(sent.json().accepts).toHaveLength(1);
    expect(world.receiver.calls.verify).toBe(0);
  });

  it.each([1, 2] as const)("because the signed recipient is another one (v%d) is refused", async (version) => {
    const world = createWorld();
    const sent = await world.send({ headers: await world.sign({ version, authorization: { to: BUYER.address } }) });
    expect(codeOf(sent)).toEqual([402, "recipient_mismatch"]);
    expect(world.receiver.calls.verify).toBe(0);
  });

  it.each(["9999", "10001", "10000000"])(
    "because the signed value is %s is refused, over- and underpaid alike",
    async (value) => {
      const world = createWorld();
      for (const version of [1, 2] as const) {
        const sent = await world.send({ headers: await world.sign({ version, authorization: { value } }) });
        expect(codeOf(sent)).toEqual([402, "amount_mismatch"]);
      }
      expect(world.runs).toHaveLength(0);
    },
  );

  it("because an echoed extension was altered gets extension_echo_mismatch", async () => {
    const world = createWorld();
    const extensions = { "payment-identifier": { info: { required: true, id: KEY }, schema: {} } };
    expect(codeOf(await world.send({ headers: await world.sign({ extensions }) }))).toEqual([
      402,
      "extension_echo_mismatch",
    ]);
  });
});

describe("the time window of a proof", () => {
  it.each([
    ["is not valid yet", { validAfter: 30 }, "payment_not_yet_valid"],
    ["has expired", { validBefore: -1 }, "payment_expired"],
    ["ends before the handler and the settlement can be done", { validBefore: 39 }, "payment_expires_too_soon"],
    ["lasts longer than the offer and a minute", { validBefore: 121 }, "payment_valid_too_long"],
  ])("that %s", async (_what, window, code) => {
    const world = createWorld();
    const authorization = Object.fromEntries(
      Object.entries(window).map(([name, from]) => [name, seconds(world, from)]),
    );
    const sent = await world.send({ headers: await world.sign({ authorization }) });
    expect(codeOf(sent)).toEqual([402, code]);
    expect(world.receiver.calls.verify).toBe(0);
  });

  it.each([40, 60, 120])("that ends in %d s is fine", async (from) => {
    const world = createWorld();
    const headers = await world.sign({ authorization: { validBefore: seconds(world, from) } });
    expect((await world.send({ headers })).answer.status).toBe(200);
  });
});

describe("verification", () => {
  it("that the chain shows as used gets 409 without offers: this store never saw the proof", async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "used" };
    const sent = await world.send({ headers: await world.sign() });
    expect(codeOf(sent)).toEqual([409, "payment_already_used"]);
    expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
    expect(world.runs).toHaveLength(0);
  });

  it.each(["receiver_unreachable", "receiver_bad_response", "receiver_auth"] as const)(
    "that fails with %s leaves the proof good",
    async (code) => {
      const world = createWorld();
      const headers = await world.sign();
      world.receiver.verification = { outcome: "unavailable", code, message: "scripted" };
      const sent = await world.send({ headers });
      expect(sent.answer.status).toBe(code === "receiver_bad_response" ? 502 : 503);
      expect(sent.header("Retry-After")).toBeDefined();
      world.receiver.verification = undefined;
      expect((await world.send({ headers })).answer.status).toBe(200);
    },
  );

  it("happens once for copies that arrive together, and one of them gets the goods", async () => {
    const world = createWorld();
    const headers = await world.sign();
    const all = await Promise.all(Array.from({ length: 50 }, () => world.send({ headers })));
    expect(all.filter(({ answer }) => answer.status === 200)).toHaveLength(1);
    expect(all.filter(({ answer }) => answer.status === 409)).toHaveLength(49);
    expect([world.runs.length, world.receiver.calls.settle, world.receiver.calls.verify]).toEqual([1, 1, 1]);
  });

  it("checks a signature once for a handler that fails twice and then works, and charges once", async () => {
    const world = createWorld();
    const headers = await world.sign();
    for (const handler of [broken, broken, ok]) {
      await world.send({ headers }, handler);
      await world.clock.advance(5000);
    }
    expect(world.receiver.calls).toMatchObject({ signatures: 1, settle: 1 });
    expect(world.runs.map(({ run }) => run)).toEqual([1, 2, 3]);
  });

  it("of a forged copy does not spoil the true proof, and is not remembered", async () => {
    const world = createWorld();
    const headers = await world.sign();
    const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as { payload: { signature: string } };
    payload.payload.signature = `0x${"22".repeat(65)}`;
    const forged = { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) };
    for (let round = 0; round < 3; round += 1)
      expect(codeOf(await world.send({ headers: forged }))).toEqual([402, "signature_invalid"]);
    expect(world.receiver.calls.verify).toBe(3);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("writes nothing to the store for a proof that did not pass", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    let commits = 0;
    const counting: Store = { ...store, commit: (transaction) => (commits++, store.commit(transaction)) };
    const world = createWorld({ clock, store: counting });
    world.receiver.verification = { outcome: "invalid", code: "insufficient_funds" };
    await world.send({ headers: await world.sign() });
    expect(commits).toBe(0);
  });
});

describe("claims", () => {
  it("are never more in sum than the payer holds", async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "valid", payer: BUYER.address, balance: 25_000n };
    const waiting: (() => void)[] = [];
    const slow: Handler = (payment) => new Promise((resolve) => waiting.push(() => resolve(ok(payment) as never)));
    const proofs = [await world.sign(), await world.sign(), await world.sign()];
    const sent = proofs.map((headers) => world.send({ headers }, slow));
    expect(codeOf(await (sent[2] as (typeof sent)[number]))).toEqual([429, "too_many_payments"]);
    for (const finish of waiting) finish();
    expect((await Promise.all(sent)).map(({ answer }) => answer.status)).toEqual([200, 200, 429]);
  });

  it("are never more for a payer than the limit", async () => {
    const world = createWorld({ limits: { openClaimsPerPayer: 2 } });
    const never: Handler = () => new Promise(() => {});
    for (let open = 0; open < 2; open += 1) void world.send({ headers: await world.sign() }, never);
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([429, "too_many_payments"]);
  });

  it("that end uncharged three times close the proof", async () => {
    const world = createWorld();
    const headers = await world.sign();
    for (let run = 0; run < 3; run += 1) expect((await world.send({ headers }, broken)).answer.status).toBe(500);
    expect(codeOf(await world.send({ headers }))).toEqual([429, "too_many_failures"]);
    expect(world.receiver.calls.settle).toBe(0);
  });

  it("that end uncharged too often shut the payer out for ten minutes", async () => {
    const world = createWorld({ limits: { unchargedRunsPerPayer: 2 } });
    for (let run = 0; run < 2; run += 1) await world.send({ headers: await world.sign() }, broken);
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([429, "too_many_failures"]);
    await world.clock.advance(600_001);
    expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  });

  it("are refused by a full store with the proof still good", async () => {
    const clock = createFakeClock();
    const world = createWorld({ clock, store: memoryStore({ maxEntries: 1 }, clock) });
    await world.send({ headers: await world.sign() });
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([503, "store_full"]);
    expect(world.runs).toHaveLength(1);
  });

  it("are refused by a store that cannot be reached", async () => {
    const fails = async () => {
      throw new Error("connection lost");
    };
    const world = createWorld({ store: { ...memoryStore(), read: fails } });
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([503, "store_unavailable"]);
    expect(world.runs).toHaveLength(0);
  });
});

describe("the answer of the handler decides", () => {
  it.each([400, 404, 500, 503])("status %d: nothing is taken and the answer goes through as it is", async (status) => {
    const world = createWorld();
    const sent = await world.send({ headers: await world.sign() }, () => ({
      status,
      headers: [["X-A", "b"]],
      body: "no",
    }));
    expect([sent.answer.status, sent.header("X-A"), sent.header("PAYMENT-RESPONSE")]).toEqual([status, "b", undefined]);
    expect(world.receiver.calls.settle).toBe(0);
  });

  it("status 204 and 302 are goods", async () => {
    for (const status of [204, 302]) {
      const world = createWorld();
      await world.send({ headers: await world.sign() }, () => ({ status, headers: [], body: "" }));
      expect(world.receiver.calls.settle).toBe(1);
    }
  });

  it("too late: 504, nothing is taken, and the claim is free only when the handler has ended", async () => {
    const world = createWorld({ terms: { handlerTimeoutMs: 1000, maxTimeoutSeconds: 300 } });
    const headers = await world.sign();
    let finish = () => {};
    const slow: Handler = (payment) => new Promise((resolve) => (finish = () => resolve(ok(payment) as never)));
    const first = world.send({ headers }, slow);
    await world.clock.advance(1000);
    expect(codeOf(await first)).toEqual([504, "handler_timeout"]);
    await world.clock.advance(60_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    finish();
    await world.clock.advance(0);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([2, 1]);
  });

  it("although the client has gone: the money is taken, and the buyer's retry gets the goods", async () => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    await world.send({ headers, client: "leaves" });
    expect(world.receiver.calls.settle).toBe(1);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });
});

describe("a settlement", () => {
  it("that is refused hides the goods and invites a new payment", async () => {
    const world = createWorld();
    world.receiver.settlements.push(() => ({
      outcome: "refused",
      code: "insufficient_funds",
      reason: "insufficient_funds",
    }));
    const sent = await world.send({ headers: await world.sign() });
    expect(codeOf(sent)).toEqual([402, "insufficient_funds"]);
    expect(JSON.stringify(sent.answer)).not.toContain("the goods");
  });

  it("that could not be sent leaves the proof good, and counts no run against it", async () => {
    const world = createWorld({ limits: { unchargedRunsPerProof: 1 } });
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unavailable", message: "no gas" }));
    expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unavailable"]);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("boom"))],
    ["says it does not know", () => ({ outcome: "unknown", message: "lost", transaction: TRANSACTION }) as const],
  ])("that %s is unknown: 503, the receipt says pending, never a new bill", async (_what, settlement) => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settlements.push(settlement);
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    expect(sent.json().payment).toBe("unknown");
    expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
    expect(JSON.parse(atob(sent.header("PAYMENT-RESPONSE") ?? ""))).toMatchObject({
      errorReason: "settlement_pending",
    });
  });

  it("that hangs is unknown past its deadline, and counts once its late answer comes", async () => {
    const world = createWorld();
    const headers = await world.sign();
    let answer = () => {};
    world.receiver.settlements.push(
      (proof) =>
        new Promise(
          (resolve) =>
            (answer = () => resolve({ outcome: "settled", transaction: TRANSACTION, payer: proof.authorization.from })),
        ),
    );
    const first = world.send({ headers });
    await world.clock.advance(11_000);
    expect(codeOf(await first)).toEqual([503, "settlement_unknown"]);
    answer();
    await world.clock.advance(1000);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });

  it("that is unknown is looked up in the background until it is decided", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    world.receiver.lookups = [
      { outcome: "unknown", message: "not yet" },
      { outcome: "settled", transaction: TRANSACTION },
    ];
    await world.send({ headers });
    await world.clock.advance(30_000);
    const looked = world.receiver.calls.lookup;
    expect(looked).toBe(2);
    await world.clock.advance(60_000);
    expect(world.receiver.calls.lookup).toBe(looked);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("is written down as settling before the receiver is asked, with the transaction before it leaves", async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.receiver.settlements.push(async (proof, context) => {
      seen.push((await world.claims.peek(proof.id)).record?.settlement);
      await context.sending(TRANSACTION);
      seen.push((await world.claims.peek(proof.id)).record?.trace.transaction);
      return { outcome: "settled", transaction: TRANSACTION, payer: proof.authorization.from };
    });
    await world.send({ headers: await world.sign() });
    expect(seen).toEqual(["settling", TRANSACTION]);
  });

  it("whose result cannot be stored gives no goods", async () => {
    const clock = createFakeClock();
    const inner = memoryStore({}, clock);
    let broken = false;
    const store: Store = {
      ...inner,
      commit: async (transaction) => (broken ? Promise.reject(new Error("down")) : inner.commit(transaction)),
    };
    const world = createWorld({ clock, store });
    const headers = await world.sign();
    world.receiver.settlements.push((proof) => {
      broken = true;
      return { outcome: "settled", transaction: TRANSACTION, payer: proof.authorization.from };
    });
    world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    broken = false;
    await clock.advance(13_000);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });
});

describe("the fence", () => {
  it("shuts out a process that stalled past its lease: it neither settles nor delivers", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    // Two processes: the first one's timers stand still.
    const stalled = createFakeClock(clock.now());
    const receiver = scriptedReceiver();
    const first = createWorld({ clock: stalled, store, receiver });
    const second = createWorld({ clock, store, receiver });
    const headers = await second.sign();
    const verdict = await first.guard(makeRequest({ headers }));
    if (verdict.kind !== "admit") throw new Error("not admitted");
    await clock.advance(15_001);
    expect((await second.send({ headers })).answer.status).toBe(200);
    const outcome = await verdict.capture.answered(await ok(verdict.payment));
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 503 } });
    expect(receiver.calls.settle).toBe(1);
  });

  it("keeps a handler that works for longer than the lease in its claim", async () => {
    const world = createWorld({ terms: { maxTimeoutSeconds: 300, handlerTimeoutMs: 100_000 } });
    const headers = await world.sign();
    let finish = () => {};
    const slow: Handler = (payment) => new Promise((resolve) => (finish = () => resolve(ok(payment) as never)));
    const first = world.send({ headers }, slow);
    await world.clock.advance(60_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    finish();
    expect((await first).answer.status).toBe(200);
  });
});

describe("upfront", () => {
  const terms = { flow: "upfront" as const };

  it("settles before the handler runs, shows the transaction to it, and says so in the offer", async () => {
    const world = createWorld({ terms });
    const unpaid = await world.send({});
    expect(JSON.parse(atob(unpaid.header("PAYMENT-REQUIRED") ?? "")).accepts[0].extra.paymentFlow).toBe("upfront");
    let settledBefore = 0;
    const sent = await world.send({ headers: await world.sign() }, (payment) => {
      settledBefore = world.receiver.calls.settle;
      return ok(payment);
    });
    expect([sent.answer.status, settledBefore, sent.payment?.transaction]).toEqual([200, 1, TRANSACTION]);
  });

  it("gives the receipt with a failed answer, and the buyer's retry runs again without a new charge", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    const failed = await world.send({ headers }, broken);
    expect(failed.answer.status).toBe(500);
    expect(JSON.parse(atob(failed.header("PAYMENT-RESPONSE") ?? ""))).toMatchObject({ success: true });
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([2, 1]);
  });

  it("never runs the handler for a settlement that is unknown, and serves once it is known", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unknown"]);
    expect(world.runs).toHaveLength(0);
    world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    await world.clock.advance(1000);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });
});

describe("a price function", () => {
  it("gets the request, runs once, and its price is what must be paid", async () => {
    let calls = 0;
    const world = createWorld({ price: (request) => (calls++, request.target.includes("long") ? "$0.02" : "$0.01") });
    const unpaid = await world.send({ target: "/long" });
    expect(unpaid.json().accepts).toMatchObject([{ maxAmountRequired: "20000" }]);
    expect(calls).toBe(1);
    expect(codeOf(await world.send({ target: "/long", headers: await world.sign() }))).toEqual([402, "offer_mismatch"]);
  });

  it.each([0, "$0", "", undefined, Number.NaN, null, [], "Free", "FREE", " free", {}, -1, "$0.0000001"])(
    "that answers %j is a 500 and no goods",
    async (price) => {
      const world = createWorld({ price: (() => price) as never });
      expect(codeOf(await world.send({}))).toEqual([500, "price_invalid"]);
    },
  );

  it("that throws is a 500, or the 4xx that it carries", async () => {
    const throwing = (error: unknown) =>
      createWorld({
        price: () => {
          throw error;
        },
      });
    expect(codeOf(await throwing(new Error("secret")).send({}))).toEqual([500, "price_invalid"]);
    const teapot = await throwing(Object.assign(new Error("pages is required"), { status: 422 })).send({});
    expect([teapot.answer.status, teapot.json().message]).toEqual([422, "pages is required"]);
  });

  it("opens the route with the exact text free", async () => {
    const world = createWorld({ price: () => "free" });
    expect(await world.guard(makeRequest({}))).toEqual({ kind: "open" });
  });
});

describe("an error inside the paywall", () => {
  it("is a 500 with an id, its text in the log only", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.verify = async () => {
      throw new Error("secret detail");
    };
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([500, "internal_error"]);
    expect(JSON.stringify(sent.answer)).not.toContain("secret detail");
    expect(world.log.some((line) => line.includes(String(sent.json().id)) && line.includes("secret detail"))).toBe(
      true,
    );
  });

  it("thrown on purpose keeps its code", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.verify = async () => {
      throw new PaywallError("receiver_unreachable");
    };
    expect(codeOf(await world.send({ headers }))).toEqual([503, "receiver_unreachable"]);
  });
});

it("never puts a signature or a nonce into the log or an event", async () => {
  const world = createWorld();
  const told: unknown[] = [];
  for (const name of [
    "challenge",
    "refusal",
    "verified",
    "claimed",
    "released",
    "settled",
    "refused",
    "unknown",
    "delivered",
    "undelivered",
    "replayed",
  ] as const) {
    world.events.on(name, (event) => told.push(event));
  }
  const headers = await world.sign({ retryKey: KEY });
  const { payload } = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as {
    payload: { signature: string; authorization: { nonce: string } };
  };
  await world.send({ headers }, broken);
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers });
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(6000);
  await world.send({ headers });
  await world.send({ headers });
  const everything = JSON.stringify([told, world.log], (_key, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  expect(told.length).toBeGreaterThan(8);
  for (const secret of [payload.signature, payload.authorization.nonce, KEY]) expect(everything).not.toContain(secret);
});

it("cannot be delayed or decided by a listener that throws", async () => {
  const world = createWorld();
  world.events.on("claimed", () => {
    throw new Error("observer");
  });
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  expect(world.log.some((line) => line.includes("observer"))).toBe(true);
});
