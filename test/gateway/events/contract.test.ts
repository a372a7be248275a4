// The words of GET /events, one by one, over a real socket: authentication, keys, cursors, answers. Source: design §7.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Payment } from "../../../src/gateway/payment.js";
import { eventMessage } from "../../../src/gateway/schemas/index.js";
import { newPayment, newReceived, RECIPIENT, recordOf, SENDER } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { type Listening, listen, listenAs, listenLater, refusalOf } from "./listening.js";

let world: GatewayWorld;
/** Waits for a key no longer than a moment. */
let hasty: GatewayWorld;
const opened: Listening[] = [];
const track = async (listening: Promise<Listening>): Promise<Listening> => {
  const one = await listening;
  opened.push(one);
  return one;
};
beforeAll(async () => {
  world = await createGatewayWorld({ watch: false, context: { eventTimes: { authenticateMs: 60_000 } } });
  hasty = await createGatewayWorld({ watch: false, context: { eventTimes: { authenticateMs: 300 } } });
});
afterAll(async () => {
  for (const one of opened) one.end();
  await Promise.all([world.close(), hasty.close()]);
});

/** An account with a key of its own, so that the tests do not hear each other. */
async function newListener(plan = "premium") {
  const account = await world.newAccount();
  const apiKey = await world.newKey({ account, plan });
  const insert = async (more: Parameters<typeof newPayment>[1] = {}): Promise<Payment> =>
    recordOf(await world.gateway.parts.database.payments.insert(newPayment(account, more)));
  return { account, apiKey, insert, open: () => track(listenAs(world.url, apiKey)) };
}

describe("authentication", () => {
  it("by the first message, or by the header at the upgrade: authenticated, with account and plan", async () => {
    const { account, apiKey } = await newListener("standard");
    for (const listening of [await track(listenLater(world.url, apiKey)), await track(listenAs(world.url, apiKey))]) {
      expect(listening.messages).toEqual([{ type: "authenticated", account, plan: "standard" }]);
    }
  });

  it("that does not come in time ends the socket", async () => {
    const listening = listen(hasty.url);
    expect(await listening.next("error")).toMatchObject({ code: "UNAUTHORIZED" });
    expect(await listening.closed).toMatchObject({ code: 4408 });
  });

  it.each([
    ["a subscription first", { method: "subscribe", keys: ["payments"] }],
    ["a wrong key", { method: "authenticate", apiKey: `tg_test_${"1".repeat(40)}` }],
    ["no key at all", { method: "authenticate" }],
    ["something else", "hello"],
  ])("by %s is UNAUTHORIZED or INVALID_REQUEST, and ends the socket", async (_name, message) => {
    const listening = listen(world.url);
    await new Promise((resolve) => listening.socket.once("open", resolve));
    listening.say(message);
    expect((await listening.next("error")).code).toMatch(/^(?:UNAUTHORIZED|INVALID_REQUEST)$/);
    expect(await listening.closed).toMatchObject({ code: 4401 });
  });

  it("never by the URL", async () => {
    const { apiKey } = hasty;
    const listening = listen(hasty.url, {}, `?apiKey=${apiKey}&access_token=${apiKey}`);
    expect(await listening.next("error")).toMatchObject({ code: "UNAUTHORIZED" });
    expect(await listening.closed).toMatchObject({ code: 4408 });
  });

  it("by a key without the scope, or of a plan without the endpoint, is FORBIDDEN", async () => {
    const apiKey = await world.newKey({ scopes: ["read"] });
    const refused = await refusalOf(world.url, { headers: { Authorization: `Bearer ${apiKey}` } });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining("FORBIDDEN") });
    const listening = listen(world.url);
    await new Promise((resolve) => listening.socket.once("open", resolve));
    listening.say({ method: "authenticate", apiKey });
    expect(await listening.next("error")).toMatchObject({ code: "FORBIDDEN" });
    expect(await listening.closed).toMatchObject({ code: 4403 });
  });

  it("by a wrong key in the header is a 401 in the shape of every refusal", async () => {
    const { status, body } = await refusalOf(world.url, { headers: { Authorization: "Bearer tg_test_nobody" } });
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: "UNAUTHORIZED" }, requestId: /^req_/ });
  });
});

describe("a subscription", () => {
  it("tells payments, verifications, settlements and wallets apart, each event once and in order", async () => {
    const { account, insert, open } = await newListener();
    const { payments } = world.gateway.parts.database;
    const all = ["payments", "verifications", "settlements", SENDER.toLowerCase()];
    const [everything, verifications, wallet] = [await open(), await open(), await open()];
    await everything.subscribe(all);
    await verifications.subscribe(["verifications"]);
    await wallet.subscribe([RECIPIENT]);
    const sent = await insert();
    await payments.change(sent, "submitted", {});
    const other = `0x${"11".repeat(20)}`;
    const got = recordOf(await payments.insert(newReceived(account, { sender: SENDER, recipient: other })));
    await payments.change(got, "confirmed", {});
    await everything.reached(4);
    const kinds = (one: Listening) => one.events().map(({ type, cursor }) => [type, cursor]);
    expect(kinds(everything)).toEqual([
      ["payment", 1],
      ["payment", 2],
      ["verification", 3],
      ["settlement", 4],
    ]);
    await verifications.reached(1);
    expect(kinds(verifications)).toEqual([["verification", 3]]);
    await wallet.reached(2);
    expect(kinds(wallet)).toEqual([
      ["payment", 1],
      ["payment", 2],
    ]);
    const [first] = everything.events();
    expect(eventMessage.parse(first)).toEqual(first);
    expect(first).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      data: { paymentId: sent.id, status: "created" },
    });
    expect(Math.abs((first?.at ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it("answers with its keys and the cursor after which it tells; unsubscribe ends it; ping is answered", async () => {
    const { insert, open } = await newListener();
    await insert();
    const listening = await open();
    expect(await listening.subscribe(["payments", SENDER])).toBe(1);
    listening.say({ method: "unsubscribe", keys: ["payments", SENDER] });
    expect(await listening.next("unsubscribed")).toEqual({ type: "unsubscribed", keys: ["payments", SENDER] });
    await insert();
    expect(await listening.subscribe(["payments"])).toBe(2);
    await insert();
    await listening.reached(1);
    listening.say({ method: "ping" });
    await listening.next("pong");
    expect(listening.events().map(({ cursor }) => cursor)).toEqual([3]);
  });

  it("with since tells what came after it, without a gap and nothing twice, and goes on with what comes", async () => {
    const { insert, open } = await newListener();
    for (let n = 0; n < 120; n += 1) await insert();
    const listening = await open();
    expect(await listening.subscribe(["payments"], 7)).toBe(7);
    await insert();
    await listening.reached(114);
    // A key that is added later with a cursor of its own brings its past, and the other ones nothing again.
    await listening.subscribe([SENDER], 118);
    await insert();
    await listening.reached(118);
    const cursors = listening.events().map(({ cursor }) => cursor);
    expect(cursors).toEqual([...Array.from({ length: 114 }, (_, n) => n + 8), 119, 120, 121, 122]);
  });

  it("with a cursor that was never given out, or is kept no more, is cursor_expired", async () => {
    const { insert, open } = await newListener();
    await insert();
    const listening = await open();
    listening.say({ method: "subscribe", keys: ["payments"], since: 2 });
    expect(await listening.next("error")).toMatchObject({ code: "cursor_expired" });
    expect(await listening.subscribe(["payments"], 1)).toBe(1);
  });

  it("takes at most 100 keys on a socket", async () => {
    const { open } = await newListener();
    const listening = await open();
    const wallet = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
    await listening.subscribe(Array.from({ length: 99 }, (_, n) => wallet(n)));
    await listening.subscribe(["payments", wallet(0)]);
    for (const keys of [["settlements"], Array.from({ length: 101 }, (_, n) => wallet(n))]) {
      listening.say({ method: "subscribe", keys });
      expect(await listening.next("error")).toMatchObject({ code: "INVALID_REQUEST" });
    }
  });

  it.each([
    ["no JSON", "{", "INVALID_REQUEST"],
    ["an unknown method", { method: "steal" }, "INVALID_REQUEST"],
    ["an unknown field", { method: "ping", extra: 1 }, "INVALID_REQUEST"],
    ["an unknown key", { method: "subscribe", keys: ["everything"] }, "INVALID_REQUEST"],
    ["a prototype's name", { method: "subscribe", keys: ["constructor"] }, "INVALID_REQUEST"],
    ["a wrong checksum", { method: "subscribe", keys: [SENDER.replace("C7", "c7")] }, "INVALID_REQUEST"],
    ["no keys", { method: "subscribe", keys: [] }, "INVALID_REQUEST"],
    ["half a cursor", { method: "subscribe", keys: ["payments"], since: 1.5 }, "INVALID_REQUEST"],
    ["a second authentication", { method: "authenticate", apiKey: "tg_test_x" }, "INVALID_REQUEST"],
  ])("%s is refused in words, and the socket stays", async (_name, message, code) => {
    const { open } = await newListener();
    const listening = await open();
    listening.say(message);
    expect(await listening.next("error")).toMatchObject({ code });
    listening.say({ method: "ping" });
    await listening.next("pong");
  });
});

/** Requests one after the other on one connection, each once the one before has its answer. */
async function speak(port: number, requests: readonly string[]): Promise<readonly string[]> {
  const socket = connect(port, "127.0.0.1");
  const answers: string[] = [];
  for (const request of requests) {
    socket.write(request);
    const [answer] = (await once(socket, "data")) as [Buffer];
    answers.push(answer.toString());
  }
  socket.destroy();
  return answers;
}

describe("GET /events without an upgrade", () => {
  it("says that it is a WebSocket; an offer of another protocol is not taken, and answered as any other request", async () => {
    const plain = await world.call("GET", "/events", undefined, { key: null });
    expect([plain.status, plain.body.error?.code]).toEqual([426, "INVALID_REQUEST"]);
    const body = JSON.stringify({ walletAddress: SENDER });
    const head = [
      "Host: x",
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
    ];
    const own = [
      `Authorization: Bearer ${world.apiKey}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const answers = await speak(world.server.port, [
      ["POST /wallets/challenge HTTP/1.1", ...head, ...own, "", body].join("\r\n"),
      ["GET /healthz HTTP/1.1", ...head, "", ""].join("\r\n"),
    ]);
    expect(answers).toEqual([
      expect.stringMatching(/^HTTP\/1.1 200 .*nonce/s),
      expect.stringMatching(/^HTTP\/1.1 200 .*"ok"/s),
    ]);
  });
});
