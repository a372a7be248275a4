// Attacks on the event sockets, and readers that do not read. Source: faults A44.
import { once } from "node:events";
import { connect } from "node:net";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPayment, recordOf, SENDER } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { type Listening, listen, listenAs, listenLater, refusalOf } from "./listening.js";

const ORIGIN = "https://shop.example";
const PUBLIC = "https://pay.example/gateway";
let world: GatewayWorld;
const opened: Listening[] = [];
beforeAll(async () => {
  world = await createGatewayWorld({
    watch: false,
    options: { publicUrl: PUBLIC, eventOrigins: [ORIGIN], plans: { one: { perMinute: 1_000, events: ONE } } },
    // No ping finds out whoever reads slowly before that does.
    context: { eventTimes: { slowMs: 3_000, closeMs: 300, beatMs: 100, authenticateMs: 60_000, pingMs: 600_000 } },
  });
});
afterAll(async () => {
  for (const one of opened) one.end();
  await world.close();
});
const ONE = { connections: 2, messagesPerSecond: 5 };

const open = async (listening: Promise<Listening>): Promise<Listening> => {
  const one = await listening;
  opened.push(one);
  return one;
};
const insert = async (account: string, more: Parameters<typeof newPayment>[1] = {}) =>
  recordOf(await world.gateway.parts.database.payments.insert(newPayment(account, more)));
/** In the database, by whose clock keys end. */
function endKey(id: string): void {
  const { database } = world.gateway.settings;
  if (!("file" in database)) throw new Error("expected a file");
  const raw = new Database(database.file, { timeout: 1_000 });
  raw.prepare("update gateway_keys set expires_at = 1 where id = ?").run(id);
  raw.close();
}
const bearer = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

describe("a socket of an account", () => {
  it("A44: is told nothing of another account or mode, whatever it subscribes to", async () => {
    const [mine, theirs] = [await world.newAccount(), await world.newAccount()];
    const listening = await open(listenAs(world.url, await world.newKey({ account: mine })));
    await listening.subscribe(["payments", "verifications", "settlements", SENDER], 0);
    const other = await open(listenAs(world.url, await world.newKey({ account: theirs })));
    await other.subscribe(["payments"]);
    await insert(theirs, { recipient: SENDER });
    await insert(mine, { mode: "live" });
    await other.reached(1);
    const own = await insert(mine);
    await listening.reached(1);
    expect(listening.events().map(({ data }) => data.paymentId)).toEqual([own.id]);
    expect(JSON.stringify(listening.messages)).not.toContain(theirs);
  });

  it("A44: ends when its key is revoked or over, and is told nothing afterwards; other keys' sockets stay", async () => {
    const account = await world.newAccount();
    const { keys } = world.gateway.database;
    const usual = { account, name: "k", mode: "test", plan: "premium", scopes: ["events"] } as const;
    const revoked = await keys.create(usual);
    const over = await keys.create({ ...usual, expiresAt: Date.now() + 600_000 });
    const sockets = [
      await open(listenAs(world.url, revoked.secret)),
      await open(listenLater(world.url, over.secret)),
      await open(listenAs(world.url, (await keys.create(usual)).secret)),
    ];
    for (const one of sockets) await one.subscribe(["payments"]);
    await insert(account);
    for (const one of sockets) await one.reached(1);
    await keys.revoke(account, revoked.key.id);
    // Its time ends once all have been told, however long that took.
    endKey(over.key.id);
    const [first, second, third] = sockets;
    expect(await first?.closed).toMatchObject({ code: 4401 });
    expect(await second?.closed).toMatchObject({ code: 4401 });
    expect(first?.messages.at(-1)).toMatchObject({ type: "error", code: "UNAUTHORIZED" });
    await insert(account);
    await third?.reached(2);
    expect([first?.events().length, second?.events().length]).toEqual([1, 1]);
    expect((await refusalOf(world.url, bearer(revoked.secret))).status).toBe(401);
  });
});

describe("an upgrade", () => {
  it("A44: of a foreign origin is refused, with a good key too; of the gateway's own or a named one it is granted", async () => {
    const { headers } = bearer(world.apiKey);
    for (const origin of [
      "https://evil.example",
      "null",
      "https://pay.example.evil",
      "http://pay.example",
      `${ORIGIN}:8443`,
    ]) {
      expect((await refusalOf(world.url, { headers: { ...headers, Origin: origin } })).status, origin).toBe(403);
      expect((await refusalOf(world.url, { headers: { Origin: origin } })).status, origin).toBe(403);
    }
    for (const origin of [new URL(PUBLIC).origin, ORIGIN]) {
      (await open(listenAs(world.url, world.apiKey, { Origin: origin }))).end();
    }
  });

  it("A44: with 2,000 headers is refused, and the gateway goes on", async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => `${n.toString(36)}:`).join("\r\n");
    const head = `GET /events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${many}\r\n\r\n`;
    const socket = connect(world.server.port, "127.0.0.1", () => void socket.write(head));
    socket.on("error", () => undefined);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 431 .*INVALID_REQUEST/s);
    socket.destroy();
    (await open(listenAs(world.url, world.apiKey))).end();
  });

  it.each(["//", "//[", "http://["])("to %s, which is no target, is no more than not found", async (target) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const socket = connect(world.server.port, "127.0.0.1", () => void socket.write(head));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 404 .*NOT_FOUND/s);
  });

  it("that is no WebSocket after all is refused in the shape of every refusal", async () => {
    const head = "GET /events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    const socket = connect(world.server.port, "127.0.0.1", () => void socket.write(head));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 .*"success":false/s);
    expect((await refusalOf(`${world.url}/other`)).status).toBe(404);
  });
});

describe("what is too much", () => {
  it("A44: a message of 10 MB ends its socket with 1009, before and after authentication", async () => {
    const large = "x".repeat(10_000_000);
    const bare = listen(world.url);
    await once(bare.socket, "open");
    bare.say(large);
    expect((await bare.closed).code).toBe(1009);
    const known = await open(listenAs(world.url, world.apiKey));
    known.say(large);
    expect((await known.closed).code).toBe(1009);
  });

  it("A44: more sockets than the plan permits are refused, and one that ends frees its place", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account, plan: "one" });
    const [first] = [await open(listenAs(world.url, apiKey)), await open(listenLater(world.url, apiKey))];
    expect(await refusalOf(world.url, bearer(apiKey))).toMatchObject({ status: 429, body: /2 event sockets/ });
    const late = listen(world.url);
    await once(late.socket, "open");
    late.say({ method: "authenticate", apiKey });
    expect(await late.next("error")).toMatchObject({ code: "RATE_LIMIT" });
    expect((await late.closed).code).toBe(4429);
    first?.end();
    await first?.closed;
    await expect
      .poll(async () =>
        listenAs(world.url, apiKey).then(
          () => "open",
          () => "refused",
        ),
      )
      .toBe("open");
  });

  it("A44: more messages than the plan permits are refused and not carried out, until the second is over", async () => {
    const account = await world.newAccount();
    const listening = await open(listenAs(world.url, await world.newKey({ account, plan: "one" })));
    for (let n = 0; n < 8; n += 1) listening.say({ method: "ping" });
    expect(await listening.next("error")).toMatchObject({ code: "RATE_LIMIT" });
    await expect.poll(() => listening.messages.filter(({ type }) => type === "pong").length).toBe(7);
  });

  it("A44: a reader that stops reading is cut with a reason, and what waits for it is bounded", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account });
    const listening = await open(listenAs(world.url, apiKey));
    const healthy = await open(listenAs(world.url, apiKey));
    await healthy.subscribe(["payments"]);
    await listening.subscribe(["payments"]);
    listening.socket.pause();
    const resource = `https://shop.example/${"x".repeat(2_000)}`;
    const metadata = { note: "y".repeat(4_000) };
    // More than the buffers of both ends hold.
    for (let n = 0; n < 800; n += 1) {
      await insert(account, { resource, metadata });
      // SQLite works on this very thread, and the sockets of both ends do too.
      await new Promise(setImmediate);
    }
    await healthy.reached(800);
    await expect
      .poll(() => world.log.of("an event socket was ended").some(({ end }) => end === "slow"), { timeout: 60_000 })
      .toBe(true);
    listening.socket.resume();
    const { code } = await listening.closed;
    // Its connection may be gone before it has read as far as the reason.
    expect([4008, 1006]).toContain(code);
    expect(listening.events().length).toBeLessThan(800);
    const cursors = listening.events().map(({ cursor }) => cursor);
    expect(cursors).toEqual(cursors.map((_, at) => at + 1));
    // Nothing is lost: it comes back and goes on where it was.
    const again = await open(listenAs(world.url, apiKey));
    await again.subscribe(["payments"], cursors.length);
    await again.reached(800 - cursors.length);
    expect(again.events()[0]?.cursor).toBe(cursors.length + 1);
  }, 120_000);

  it("A44: a peer that is not there any more is found out by a ping, and its socket ended", async () => {
    const other = await createGatewayWorld({ watch: false, context: { eventTimes: { pingMs: 200, beatMs: 50 } } });
    const listening = await listenAs(other.url, other.apiKey);
    listening.socket.pong = () => undefined;
    expect((await listening.closed).code).toBe(1006);
    await other.close();
  });
});
