// A hostile subscriber that asks and does not read, sends pings without an end, opens sockets and says nothing, or breaks off its
// handshakes: what it costs is bounded, and others are served. Source: faults A44.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_WAITING_OF_ONE } from "../../../src/gateway/events/times.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { type Listening, listen, listenAs, refusalOf } from "./listening.js";

let world: GatewayWorld;
const opened: { end(): unknown }[] = [];
beforeAll(async () => {
  const events = { connections: 2, messagesPerSecond: 100_000 };
  world = await createGatewayWorld({
    watch: false,
    options: { plans: { fast: { perMinute: 10_000, events } } },
    context: { eventTimes: { slowMs: 2_000, closeMs: 300, authenticateMs: 120_000 } },
  });
});
afterAll(async () => {
  for (const one of opened) one.end();
  await world.close();
});

const keep = <One extends { end(): unknown }>(one: One): One => {
  opened.push(one);
  return one;
};
const newKey = async () => world.newKey({ account: await world.newAccount(), plan: "fast" });
const cutAsSlow = () => world.log.of("an event socket was ended").filter(({ end }) => end === "slow").length;

/** Writes until the other end takes no more; resolves when the connection is over. Never reads. */
async function pour(listening: Listening, bytes: Buffer): Promise<void> {
  // The connection under the WebSocket, so that frames go as they are.
  const socket = Reflect.get(listening.socket, "_socket") as Socket;
  listening.socket.pause();
  socket.on("error", () => undefined);
  // Not `once`: it rejects where the connection is reset.
  const isOver = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
  await isOver;
}

/** A frame of a client with a mask of zeros. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...size, 0, 0, 0, 0]), payload]);
}

describe("A44: whoever does not read", () => {
  it("and sends pings without an end is cut: answers to them are not kept for it", async () => {
    const before = cutAsSlow();
    const one = keep(await listenAs(world.url, await newKey()));
    await pour(one, Buffer.concat(Array(500).fill(frameOf(9, Buffer.alloc(125)))));
    expect(cutAsSlow()).toBe(before + 1);
  }, 60_000);

  it("and asks without an end is cut: answers to it are not kept for it", async () => {
    const before = cutAsSlow();
    const one = keep(await listenAs(world.url, await newKey()));
    const keys = Array.from({ length: 100 }, (_, n) => `0x${n.toString(16).padStart(40, "0")}`);
    await pour(one, frameOf(1, Buffer.from(JSON.stringify({ method: "unsubscribe", keys }))));
    expect(cutAsSlow()).toBe(before + 1);
  }, 60_000);
});

describe("A44: sockets that are of no use", () => {
  it("of one address are bounded while they say nothing; whoever brings a key is let in", async () => {
    const silent: Listening[] = [];
    for (let n = 0; n < MAX_WAITING_OF_ONE; n += 50) {
      const some = Array.from({ length: 50 }, () => keep(listen(world.url)));
      await Promise.all(some.map(({ socket }) => once(socket, "open")));
      silent.push(...some);
    }
    expect(await refusalOf(world.url)).toMatchObject({ status: 503, body: /not authenticated yet/ });
    keep(await listenAs(world.url, await newKey()));
    for (const one of silent) one.end();
    const again = async () => {
      const one = listen(world.url);
      return once(keep(one).socket, "open").then(
        () => "open",
        () => "refused",
      );
    };
    await expect.poll(again, { timeout: 20_000 }).toBe("open");
  }, 60_000);

  it("of handshakes that are wrong, or broken off, leave no seat taken", async () => {
    const apiKey = await newKey();
    const head = `GET /events HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${apiKey}\r\n`;
    const wrong = ["", "Sec-WebSocket-Version: 1\r\n", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n"];
    for (const more of [...wrong, ...wrong]) {
      const socket = connect(world.server.port, "127.0.0.1", () => void socket.write(`${head}${more}\r\n`));
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 4\d\d /);
      socket.destroy();
    }
    const good = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (let n = 0; n < 20; n += 1) {
      const socket = connect(world.server.port, "127.0.0.1", () => {
        socket.write(`${head}${good}\r\n`, () => socket.destroy());
      });
      socket.on("error", () => undefined);
      await once(socket, "close");
    }
    const open = () =>
      listenAs(world.url, apiKey).then(
        (one) => keep(one) && "open",
        () => "refused",
      );
    for (const _ of [1, 2]) await expect.poll(open, { timeout: 20_000 }).toBe("open");
    expect(await open()).toBe("refused");
  }, 60_000);

  it("with frames that break the protocol end alone", async () => {
    const apiKey = await newKey();
    const healthy = keep(await listenAs(world.url, await newKey()));
    const broken = [
      Buffer.from([0x81, 0x01, 0x20]), // without a mask
      frameOf(3, Buffer.from("x")), // an opcode that does not exist
      frameOf(9, Buffer.alloc(126)), // a control frame that is too long
      frameOf(1, Buffer.from([0xc3, 0x28])), // no UTF-8
      Buffer.concat([Buffer.from([0x01, 0x80, 0, 0, 0, 0]), frameOf(1, Buffer.from("x"))]), // a message within a message
      Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), // of 2^63 bytes
    ];
    for (const bytes of broken) {
      const one = keep(await listenAs(world.url, apiKey));
      (Reflect.get(one.socket, "_socket") as Socket).write(bytes);
      expect((await one.closed).code).toBeGreaterThan(1000);
    }
    healthy.say({ method: "ping" });
    await healthy.next("pong");
  });
});
