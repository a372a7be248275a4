// A WebSocket of a test: opened with headers or bare, with everything that it is told kept in order.
import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import type { EventMessage, PaymentEvent } from "../../../src/gateway/schemas/index.js";

export interface Listening {
  readonly socket: WebSocket;
  /** All that came, in order. */
  readonly messages: readonly EventMessage[];
  /** The events among them. */
  events(): readonly PaymentEvent[];
  say(message: object | string): void;
  /** The first message that fits and has not been asked for yet. */
  next<Type extends EventMessage["type"]>(type: Type): Promise<Extract<EventMessage, { type: Type }>>;
  /** Subscribes, and resolves with the cursor from which it is told. */
  subscribe(keys: readonly string[], since?: number): Promise<number>;
  /** Resolves once there are so many events. */
  reached(count: number): Promise<readonly PaymentEvent[]>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  end(): void;
}

const isEvent = (message: EventMessage): message is PaymentEvent =>
  message.type === "payment" || message.type === "verification" || message.type === "settlement";

/** Opens and does not wait: `url` is that of the gateway. */
export function listen(url: string, options: ClientOptions = {}, query = ""): Listening {
  const socket = new WebSocket(`${url.replace("http", "ws")}/events${query}`, options);
  const messages: EventMessage[] = [];
  const events: PaymentEvent[] = [];
  const waiting = new Set<() => void>();
  let read = 0;
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as EventMessage;
    messages.push(message);
    if (isEvent(message)) events.push(message);
    for (const wake of waiting) wake();
  });
  // Not `once`: it rejects where the upgrade is refused.
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    socket.on("close", (code, reason) => {
      for (const wake of waiting) wake();
      resolve({ code, reason: reason.toString() });
    });
  });
  /** Until `found` gives something; rejects where the socket is over before. */
  const until = <Found>(found: () => Found | undefined): Promise<Found> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const one = found();
        if (one === undefined && socket.readyState !== socket.CLOSED) return;
        waiting.delete(look);
        if (one !== undefined) resolve(one);
        else reject(new Error(`the socket has ended; it said ${JSON.stringify(messages.slice(-1)).slice(0, 300)}`));
      };
      waiting.add(look);
      look();
    });

  const self: Listening = {
    socket,
    messages,
    events: () => events,
    say: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    async next(type) {
      const message = await until(() => {
        const at = messages.findIndex((one, index) => index >= read && one.type === type);
        if (at === -1) return undefined;
        read = at + 1;
        return messages[at];
      });
      return message as Extract<EventMessage, { type: typeof type }>;
    },
    async subscribe(keys, since) {
      self.say({ method: "subscribe", keys, ...(since !== undefined && { since }) });
      return (await self.next("subscribed")).cursor;
    },
    reached: (count) => until(() => (events.length >= count ? events : undefined)),
    closed,
    end: () => socket.terminate(),
  };
  return self;
}

/** Opened with the key in the header. */
export async function listenAs(url: string, apiKey: string, headers: Record<string, string> = {}): Promise<Listening> {
  const listening = listen(url, { headers: { Authorization: `Bearer ${apiKey}`, ...headers } });
  await listening.next("authenticated");
  return listening;
}

/** Opened bare; the key comes by the first message. */
export async function listenLater(url: string, apiKey: string): Promise<Listening> {
  const listening = listen(url);
  await once(listening.socket, "open");
  listening.say({ method: "authenticate", apiKey });
  await listening.next("authenticated");
  return listening;
}

/** The HTTP answer to an upgrade that is refused. */
export async function refusalOf(url: string, options: ClientOptions = {}): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/events`, options);
  socket.on("error", () => undefined);
  const [, response] = (await Promise.race([
    once(socket, "unexpected-response"),
    once(socket, "open").then(() => {
      socket.terminate();
      throw new Error("the upgrade was granted");
    }),
  ])) as [unknown, import("node:http").IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}
