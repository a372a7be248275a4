// The events of an account as an async iterator. It connects again, after a pause that grows and is never the same, and resumes
// after the last event that was handed out: nothing is missed and nothing comes twice, whichever instance answers.
import * as z from "zod/mini";
import type { CallParts } from "./gateway-client-call.js";
import { GatewayError, type GatewayErrorFacts } from "./gateway-client-error.js";
import type { ClientSettings } from "./gateway-client-options.js";
import type { PaymentEvent } from "./gateway-client-shapes.js";
import { connectEvents, type EventConnection, findWebSocket, type OpenSocket } from "./gateway-client-socket.js";
import { toLine, toSellerWords } from "./seller-words.js";

export interface EventsOptions {
  /** `payments`, `verifications`, `settlements`, or addresses of wallets; at most 100. */
  readonly keys: readonly string[];
  /** The cursor of the last event that you have seen; without it what happens from now on. */
  readonly since?: number | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

const cursor = z.int().check(z.minimum(0));
/** What this client goes by; the rest of a record is the gateway's word. */
const messageSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("authenticated") }),
  z.looseObject({ type: z.literal("subscribed"), cursor }),
  z.looseObject({ type: z.literal("pong") }),
  z.looseObject({ type: z.literal("error"), code: z.string(), message: z.string() }),
  z.looseObject({
    type: z.enum(["payment", "verification", "settlement"]),
    id: z.string(),
    cursor,
    data: z.looseObject({ paymentId: z.string(), status: z.string() }),
  }),
]);

/** Nothing came for so long: is anybody there? And then for so long again: nobody is. */
const SILENCE_MS = 20_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 8_000];
/** What is no better the next time. */
const FINAL: readonly string[] = ["UNAUTHORIZED", "FORBIDDEN", "INVALID_REQUEST", "cursor_expired"];

/** `GatewayClient.events`. */
export async function* streamEvents(
  { base, secret, retries }: Pick<ClientSettings, "base" | "secret" | "retries">,
  { keys, since, signal }: EventsOptions,
  { random, wait }: Pick<CallParts, "random" | "wait">,
): AsyncGenerator<PaymentEvent, void, undefined> {
  const Socket = await findWebSocket();
  if (!Socket) throw failed("UNREACHABLE", "this runtime has no WebSocket: npm install ws");
  const place: Place = { keys, cursor: since, reached: false };
  for (let failures = 0; !signal?.aborted; failures += 1) {
    const { reached } = place;
    place.reached = false;
    yield* readConnection(Socket, { base, secret, signal }, place);
    if (signal?.aborted) return;
    if (place.reached) failures = 0;
    place.reached ||= reached;
    if (!place.reached && failures >= retries) throw failed("UNREACHABLE", "the gateway opens no WebSocket");
    const step = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    // An abort ends the pause, and then the loop.
    await wait(step * (0.5 + random() / 2), signal).catch(() => undefined);
  }
}

/** How far the iteration has come. */
interface Place {
  readonly keys: readonly string[];
  /** Of the last event that was handed out, or from which the gateway tells; undefined before the first subscription. */
  cursor: number | undefined;
  /** Has it been subscribed? */
  reached: boolean;
}

interface Line {
  readonly base: string;
  readonly secret: string;
  readonly signal: AbortSignal | undefined;
}

/** All that one connection brings, until it is over. @throws GatewayError where another one would bring no more. */
async function* readConnection(
  Socket: OpenSocket,
  { base, secret, signal }: Line,
  place: Place,
): AsyncGenerator<PaymentEvent, void, undefined> {
  const url = `${base.replace(/^http/, "ws")}/events`;
  const connection = connectEvents(Socket, url, { method: "authenticate", apiKey: secret });
  const stop = () => connection.close();
  signal?.addEventListener("abort", stop);
  try {
    for (let silences = 0; ; ) {
      const text = await connection.next(SILENCE_MS);
      if (signal?.aborted) return;
      if (text === undefined) {
        if (connection.over || silences > 0) return;
        silences += 1;
        connection.say({ method: "ping" });
        continue;
      }
      silences = 0;
      const event = take(text, connection, place, secret);
      if (event === "over") return;
      if (event) yield event;
      if (signal?.aborted) return;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    connection.close();
  }
}

/** One message: an event that is new, or what it says is done. */
function take(
  text: string,
  connection: EventConnection,
  place: Place,
  secret: string,
): PaymentEvent | "over" | undefined {
  const message = readMessage(text);
  if (!message) return "over";
  switch (message.type) {
    case "pong":
      return undefined;
    case "authenticated": {
      const since = place.cursor;
      connection.say({ method: "subscribe", keys: place.keys, ...(since !== undefined && { since }) });
      return undefined;
    }
    case "subscribed":
      place.cursor ??= message.cursor;
      place.reached = true;
      return undefined;
    case "error": {
      const { code } = message;
      if (!FINAL.includes(code)) return "over";
      const words = toSellerWords(toLine(message.message).replaceAll(secret, "(key)"), 1_000) ?? "";
      throw failed(code as GatewayErrorFacts["code"], words);
    }
    default:
      // Invariant: what is handed out once is never handed out again, whatever an instance repeats.
      if (place.cursor !== undefined && message.cursor <= place.cursor) return undefined;
      place.cursor = message.cursor;
      // Safe because the gateway's own schema says so; what this client goes by was looked at above.
      return message as unknown as PaymentEvent;
  }
}

function readMessage(text: string): z.infer<typeof messageSchema> | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const failed = (code: GatewayErrorFacts["code"], message: string): GatewayError =>
  new GatewayError({ code, endpoint: "GET /events", message, retryable: code === "UNREACHABLE", inDoubt: false });
