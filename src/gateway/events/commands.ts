// What a client says on its socket, one message after the other: each is carried out before the next one is read, and whoever says
// more than its plan permits is not listened to for the rest of the second.
import { type Fault, fault } from "../errors.js";
import { invalidRequest } from "../http/details.js";
import type { Limits } from "../http/limits.js";
import type { GatewayParts } from "../parts.js";
import { reasonOf } from "../reason.js";
import { EVENT_CHANNELS, type EventCommand, eventCommand, MAX_EVENT_KEYS } from "../schemas/index.js";
import { readAddress } from "../terms.js";
import type { LiveSocket } from "./live-socket.js";
import { EXPIRED, type Session } from "./session.js";
import { toKey } from "./told.js";

export interface CommandParts extends Pick<GatewayParts, "database" | "logger"> {
  /** Messages a second of an account. */
  readonly messages: Limits;
}

/** Text to a command; the message may hold a key, so nothing of it is repeated. */
export function readCommand(
  data: Buffer,
  isBinary: boolean,
): { readonly ok: true; readonly command: EventCommand } | Fault {
  if (isBinary) return fault("INVALID_REQUEST", "expected a text message");
  let value: unknown;
  try {
    value = JSON.parse(data.toString());
  } catch {
    return fault("INVALID_REQUEST", "expected JSON");
  }
  const parsed = eventCommand.safeParse(value);
  return parsed.success ? { ok: true, command: parsed.data } : invalidRequest(parsed.error, value);
}

/** Carries out one message. Resolves when the next one may come; false = only in the next second. */
export function createCommands({ database, logger, messages }: CommandParts) {
  return async function carryOut(session: Session, data: Buffer, isBinary: boolean): Promise<boolean> {
    const mayGoOn = await judge(session, data, isBinary);
    // Invariant: whoever does not read its answers is not listened to; what waits for it stays bounded.
    if (session.socket.full) await session.socket.drained();
    return mayGoOn;
  };

  async function judge(session: Session, data: Buffer, isBinary: boolean): Promise<boolean> {
    const { socket, subscriber } = session;
    const { account, plan, limits } = subscriber;
    const taken = await messages.take(account, limits.messagesPerSecond);
    if (!taken.ok) {
      const message = `the plan ${plan} permits ${limits.messagesPerSecond} messages a second for all sockets of the account`;
      refuse(socket, fault("RATE_LIMIT", message));
      return false;
    }
    const read = readCommand(data, isBinary);
    if (!read.ok) {
      refuse(socket, read);
      return true;
    }
    try {
      await obey(session, read.command);
    } catch (error) {
      logger.warn({ account, reason: reasonOf(error) }, "a message on an event socket could not be carried out");
      refuse(socket, fault("UNAVAILABLE", "the service cannot do this now; nothing was done"));
    }
    return true;
  }

  async function obey(session: Session, command: EventCommand): Promise<void> {
    const { socket, reader, feed } = session;
    if (command.method === "ping") return socket.say({ type: "pong" });
    if (command.method === "authenticate") {
      return refuse(socket, fault("INVALID_REQUEST", "the socket is authenticated already"));
    }
    const wrong = command.keys.find((text) => !isKey(text));
    if (wrong !== undefined) return refuse(socket, NO_ADDRESS);
    const keys = command.keys.map(toKey);
    if (command.method === "subscribe") return subscribe(session, command, keys);
    reader.subscriptions.remove(keys);
    feed.place(reader);
    return socket.say({ type: "unsubscribed", keys: command.keys });
  }

  async function subscribe(
    { socket, subscriber, reader, feed }: Session,
    { keys: written, since }: Extract<EventCommand, { method: "subscribe" }>,
    keys: readonly string[],
  ): Promise<void> {
    const { account, mode } = subscriber;
    if (reader.subscriptions.sizeWith(keys) > MAX_EVENT_KEYS) {
      return refuse(socket, fault("INVALID_REQUEST", `at most ${MAX_EVENT_KEYS} keys on one socket`));
    }
    if (since !== undefined && (await database.events.since(account, mode, since, 1)).outcome === "expired") {
      return socket.say(EXPIRED);
    }
    // Read before it is promised: what is written from now on is told.
    const from = since ?? (await database.events.latest(account));
    if (socket.closed) return;
    socket.say({ type: "subscribed", keys: written, cursor: from });
    reader.subscriptions.add(keys, from, since !== undefined);
    feed.place(reader);
  }
}

export const refuse = (socket: Pick<LiveSocket, "say">, { code, message }: Fault): void =>
  socket.say({ type: "error", code, message });

const isKey = (text: string): boolean =>
  Object.hasOwn(EVENT_CHANNELS, text) || readAddress(text.startsWith("0x") ? "evm" : "solana", text) !== undefined;

const NO_ADDRESS = fault(
  "INVALID_REQUEST",
  "keys: expected a valid EVM or Solana address (check the mixed-case checksum)",
);
