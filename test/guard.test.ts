// The guard's first steps with the chain scripted: route, price and proof. What is refused, with which code, and that
// nothing else runs.
import { describe, expect, it } from "vitest";
import { PaywallError } from "../src/errors.js";
import { settle } from "./support/fake-clock.js";
import { BUYER, codeOf, createWorld, makeRequest, PAY_TO } from "./support/world.js";

const KEY = "retry-key-0123456789";
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

  it("because it names another network (v1) is refused", async () => {
    const world = createWorld();
    const { "X-PAYMENT": header = "" } = await world.sign({ version: 1 });
    const payload = JSON.parse(atob(header)) as Record<string, unknown>;
    for (const network of ["base", "eip155:8453"]) {
      const headers = { "X-PAYMENT": btoa(JSON.stringify({ ...payload, network })) };
      expect(codeOf(await world.send({ headers }))).toEqual([402, "offer_mismatch"]);
    }
    expect(world.receiver.calls.verify).toBe(0);
  });

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
    // What is over may have paid before: the chain tells.
    expect(world.receiver.calls.verify).toBe(/expire/.test(code) ? 1 : 0);
    expect(world.runs).toEqual([]);
  });

  it.each([
    ["has expired", -1],
    ["is about to end", 39],
  ])(
    "that %s and has paid before, which the store has forgotten, is used and no reason for a new bill",
    async (_what, from) => {
      const world = createWorld();
      const headers = await world.sign({ authorization: { validBefore: seconds(world, from) } });
      world.receiver.verification = { outcome: "used" };
      const sent = await world.send({ headers });
      expect(codeOf(sent)).toEqual([409, "payment_already_used"]);
      expect(sent.json()).not.toHaveProperty("accepts");
      world.receiver.verification = { outcome: "unavailable", code: "receiver_unreachable", message: "no connection" };
      const untold = await world.send({ headers });
      expect(codeOf(untold)).toEqual([503, "receiver_unreachable"]);
      expect(untold.json()).not.toHaveProperty("accepts");
    },
  );

  it("that has expired and is shown by twenty at once asks the chain once", async () => {
    const world = createWorld();
    const headers = await world.sign({ authorization: { validBefore: seconds(world, -1) } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send({ headers })));
    expect(new Set(answers.map((answer) => codeOf(answer).join()))).toEqual(new Set(["402,payment_expired"]));
    expect(world.receiver.calls.verify).toBe(1);
  });

  it("that ends too soon by now, while a copy that came in time is being looked at, makes no bill", async () => {
    const world = createWorld();
    const headers = await world.sign({ authorization: { validBefore: seconds(world, 41) } });
    const verify = world.receiver.verify.bind(world.receiver);
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    world.receiver.verify = async (...asked) => {
      await gate;
      return verify(...asked);
    };
    const first = world.send({ headers });
    await settle();
    await world.clock.advance(3_000);
    const second = world.send({ headers });
    await settle();
    go();
    const answers = await Promise.all([first, second]);
    expect(answers.filter(({ answer }) => answer.status === 200)).toHaveLength(1);
    expect(answers.map(({ answer }) => answer.status)).not.toContain(402);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it.each([40, 60, 120])("that ends in %d s is fine", async (from) => {
    const world = createWorld();
    const headers = await world.sign({ authorization: { validBefore: seconds(world, from) } });
    expect((await world.send({ headers })).answer.status).toBe(200);
  });
});

describe("an error inside the paywall", () => {
  it("is a 500 with an id, its text in the log only", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settleMs = () => {
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
    world.receiver.settleMs = () => {
      throw new PaywallError("store_unavailable");
    };
    expect(codeOf(await world.send({ headers }))).toEqual([503, "store_unavailable"]);
  });
});
