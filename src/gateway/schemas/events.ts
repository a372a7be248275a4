// GET /events: what a client says on the WebSocket, and what it is told. Source: design §7.
import { GATEWAY_ERRORS } from "../errors.js";
import { instant, walletAddress } from "./fields.js";
import { paymentRecord } from "./records.js";
import { z } from "./zod.js";

/** At most so many keys on one socket. */
export const MAX_EVENT_KEYS = 100;

/** Which events a channel has. */
export const EVENT_CHANNELS = Object.freeze({
  payments: "payment",
  verifications: "verification",
  settlements: "settlement",
} as const);
export type EventChannel = keyof typeof EVENT_CHANNELS;

const channel = z.enum(["payments", "verifications", "settlements"]);
export const eventKey = z
  .union([channel, walletAddress], "expected payments, verifications, settlements or a wallet address")
  .describe("payments, verifications, settlements, or a wallet address: what it sends or receives");
const keys = z
  .array(eventKey, "expected a list of keys")
  .min(1, "expected at least one key")
  .max(MAX_EVENT_KEYS, `expected at most ${MAX_EVENT_KEYS} keys`);
export const eventCursor = z.int("expected a cursor: a whole number from 0").min(0, "expected a cursor from 0");

export const eventCommand = z.discriminatedUnion(
  "method",
  [
    z.strictObject({ method: z.literal("authenticate"), apiKey: z.string("expected an API key").max(128) }),
    z.strictObject({ method: z.literal("subscribe"), keys, since: eventCursor.optional() }),
    z.strictObject({ method: z.literal("unsubscribe"), keys }),
    z.strictObject({ method: z.literal("ping") }),
  ],
  "expected the method authenticate, subscribe, unsubscribe or ping",
);
export type EventCommand = z.infer<typeof eventCommand>;

export const paymentEvent = z.object({
  type: z.enum(["payment", "verification", "settlement"]),
  id: z.string().describe("evt_ and 22 characters of base58"),
  cursor: z.int().describe("Counts the account's events; since resumes after it"),
  at: instant.describe("When it was written"),
  data: paymentRecord,
});
export type PaymentEvent = z.infer<typeof paymentEvent>;

const errorCodes = Object.keys(GATEWAY_ERRORS) as [keyof typeof GATEWAY_ERRORS, ...(keyof typeof GATEWAY_ERRORS)[]];

/** Everything that a socket is told. */
export const eventMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("authenticated"), account: z.string(), plan: z.string() }),
  z.object({
    type: z.literal("subscribed"),
    keys: z.array(z.string()),
    cursor: eventCursor.describe("What comes after it is told"),
  }),
  z.object({ type: z.literal("unsubscribed"), keys: z.array(z.string()) }),
  z.object({ type: z.literal("pong") }),
  z.object({
    type: z.literal("error"),
    code: z.enum([...errorCodes, "cursor_expired"]),
    message: z.string(),
  }),
  ...(["payment", "verification", "settlement"] as const).map((type) => paymentEvent.extend({ type: z.literal(type) })),
]);
export type EventMessage = z.infer<typeof eventMessage>;
