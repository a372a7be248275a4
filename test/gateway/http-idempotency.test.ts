// Idempotency-Key on every POST: one run, one answer, on SQLite and on Postgres, in one process and in two.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fault, type Outcome } from "../../src/gateway/errors.js";
import { contentHash, createIdempotency } from "../../src/gateway/http/seal.js";
import { noPostgres } from "../support/postgres.js";
import { REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "./world.js";

const { engine, reached, answer, hold } = scriptEngine();
const [[, SEND, ORDER]] = REQUESTS;
const ok = (value: object, pending?: boolean): Outcome<object> => ({ ok: true, value, ...(pending && { pending }) });
let fresh = 0;
const newKey = () => `request-${++fresh}-${Math.trunc(performance.timeOrigin)}`;

function rules(database: "sqlite" | "postgres"): void {
  describe.skipIf(database === "postgres" && noPostgres() !== undefined)(`idempotency on ${database}`, () => {
    let world: GatewayWorld;
    let second: Instance;
    beforeAll(async () => {
      world = await createGatewayWorld({ context: { engine }, database });
      second = await world.another();
    });
    afterAll(() => world.close());
    const post = (key: string, body: unknown = ORDER, at: Instance = world, path: string = SEND) =>
      at.call("POST", path, body, { key: world.apiKey, headers: { "Idempotency-Key": key } });

    it("gives twenty racing copies at two processes one run, and each of them its answer or 409", async () => {
      const key = newKey();
      const before = reached.length;
      const end = hold("send");
      const racing = Array.from({ length: 20 }, (_, n) => post(key, ORDER, n % 2 ? second : world));
      await expect.poll(() => reached.length).toBe(before + 1);
      const early = await Promise.any(racing.map(async (one) => ((await one).status === 409 ? one : Promise.reject())));
      expect(early).toMatchObject({ body: { error: { code: "CONFLICT", retryable: true } } });
      expect(early.headers.get("retry-after")).toBe("2");
      end({ success: true, n: before + 1 });
      const all = await Promise.all(racing);
      expect(reached.length).toBe(before + 1);
      expect(all.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      const repeats = await Promise.all([post(key), post(key, ORDER, second)]);
      for (const repeat of repeats) {
        expect(repeat).toMatchObject({ status: 200, body: { n: before + 1 } });
        expect(repeat.headers.get("idempotent-replayed")).toBe("true");
        expect(repeat.headers.get("ratelimit-remaining")).not.toBeNull();
      }
      expect(reached.length).toBe(before + 1);
      answer("send", undefined);
    });

    it("gives another content of the same key 409, and says so", async () => {
      const key = newKey();
      expect((await post(key)).status).toBe(200);
      const other = await post(key, { ...ORDER, amount: 2 });
      expect(other).toMatchObject({ status: 409, body: { error: { code: "CONFLICT" } } });
      expect(String(other.body.error?.message)).toContain("another request");
    });

    it("takes the same content in whatever order and spacing it is written", async () => {
      const key = newKey();
      await post(key);
      const shuffled = JSON.stringify(Object.fromEntries(Object.entries(ORDER).reverse()), null, 3);
      expect((await post(key, shuffled)).headers.get("idempotent-replayed")).toBe("true");
    });

    it("is scoped to account, endpoint and mode", async () => {
      const key = newKey();
      await post(key);
      const before = reached.length;
      const stranger = await world.newKey({ account: await world.newAccount() });
      const live = await world.newKey({ mode: "live" });
      for (const apiKey of [stranger, live]) {
        await world.call("POST", SEND, ORDER, { key: apiKey, headers: { "Idempotency-Key": key } });
      }
      await post(key, REQUESTS[4][2], world, REQUESTS[4][1]);
      expect(reached.length).toBe(before + 3);
      const another = await world.newKey();
      await world.call("POST", SEND, ORDER, { key: another, headers: { "Idempotency-Key": key } });
      expect(reached.length).toBe(before + 3);
    });

    it.each([
      ["a 5xx", fault("INTERNAL_ERROR", "…")],
      ["an unavailable service", fault("UNAVAILABLE", "…")],
      ["a limit of the engine's own", fault("RATE_LIMIT", "…")],
      ["a pending success", ok({ success: true }, true)],
    ])("evaluates anew after %s", async (_name, outcome) => {
      const key = newKey();
      answer("send", async () => outcome);
      const before = reached.length;
      await post(key);
      await post(key);
      expect(reached.length).toBe(before + 2);
      answer("send", undefined);
      expect((await post(key)).headers.get("idempotent-replayed")).toBeNull();
      expect((await post(key)).headers.get("idempotent-replayed")).toBe("true");
    });

    it("evaluates anew after an exception, which the caller sees as INTERNAL_ERROR without its text", async () => {
      const key = newKey();
      answer("send", () => Promise.reject(new Error("inner words of a database")));
      const failed = await post(key);
      expect(failed).toMatchObject({ status: 500, body: { error: { code: "INTERNAL_ERROR" } } });
      expect(failed.text).not.toContain("inner words");
      answer("send", undefined);
      expect((await post(key)).status).toBe(200);
    });

    it("keeps a final refusal, with its status and body", async () => {
      const key = newKey();
      answer("send", async () => fault("INSUFFICIENT_BALANCE", "holds 1, needs 2", { paymentId: "pay_1" }));
      const first = await post(key);
      answer("send", undefined);
      const again = await post(key);
      expect(again.status).toBe(400);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
    });

    it("finishes and keeps what a caller has begun who goes away", async () => {
      const key = newKey();
      const end = hold("send");
      const before = reached.length;
      const stop = new AbortController();
      const headers = { "Idempotency-Key": key };
      const gone = world.call("POST", SEND, ORDER, { headers, signal: stop.signal }).catch(() => "gone");
      await expect.poll(() => reached.length).toBe(before + 1);
      stop.abort();
      expect(await gone).toBe("gone");
      expect((await post(key)).status).toBe(409);
      expect(reached.at(-1)?.caller.signal.aborted).toBe(false);
      end({ success: true, finished: true });
      await expect.poll(async () => (await post(key)).status).toBe(200);
      expect((await post(key)).body).toMatchObject({ finished: true });
      expect(reached.length).toBe(before + 1);
      answer("send", undefined);
    });

    it("keeps neither key nor answer readable in the database", async () => {
      const key = newKey();
      const { key: owner } = await world.gateway.database.keys.create({
        ...{ account: world.account, name: "x", mode: "test", plan: "premium", scopes: [] },
      });
      answer("send", async () => ok({ success: true, paymentProof: "the proof itself" }));
      await post(key);
      answer("send", undefined);
      const content = { account: owner.account, mode: "test", endpoint: "POST /payment/send", key } as const;
      const { id, open } = createIdempotency(content);
      const kept = await world.gateway.database.requests.begin(id, "another content", 1);
      expect(kept.outcome).toBe("other_content");
      const { sendRequest } = await import("../../src/gateway/schemas/index.js");
      const done = await world.gateway.database.requests.begin(id, contentHash(sendRequest.parse(ORDER)), 1);
      if (done.outcome !== "done") throw new Error(`expected an answer, got ${done.outcome}`);
      expect(JSON.stringify(done) + id).not.toMatch(/proof itself|request-/);
      expect(open(done.sealed)).toContain("the proof itself");
      expect(createIdempotency({ ...content, key: `${key}x` }).open(done.sealed)).toBeUndefined();
      expect(createIdempotency({ ...content, account: "acc_other" }).open(done.sealed)).toBeUndefined();
    });

    it.each(["", "has space", "ümlaut", "x".repeat(256), "tab\there"])("refuses the key %j", async (key) => {
      const before = reached.length;
      const headers = { "Idempotency-Key": encodeHeader(key) };
      const refused = await world.call("POST", SEND, ORDER, { headers });
      expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: "Idempotency-Key" }] } } });
      expect(reached.length).toBe(before);
    });
  });
}

/** What goes over the wire byte by byte. */
const encodeHeader = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

rules("sqlite");
rules("postgres");

describe("a seal", () => {
  it("opens nothing that was altered, byte by byte, and no text at all", () => {
    const { seal, open } = createIdempotency({ account: "a", mode: "test", endpoint: "POST /settle", key: "k" });
    const sealed = seal("answer");
    expect(open(sealed)).toBe("answer");
    expect(seal("answer")).not.toBe(sealed);
    const bytes = Buffer.from(sealed, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(open(altered.toString("base64url"))).toBeUndefined();
    }
    expect(open("")).toBeUndefined();
  });
});
