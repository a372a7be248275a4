// An event as sockets are told it: written once, however many listen.
import { spellAddress } from "../database/address.js";
import type { EventKind, GatewayEvent } from "../database/database.js";
import type { GatewayNetworks } from "../parts.js";
import { toRecord } from "../records.js";
import { EVENT_CHANNELS, type EventChannel, type PaymentEvent } from "../schemas/index.js";

export interface Told {
  readonly cursor: number;
  /** Whoever is subscribed to one of these is told. */
  readonly keys: readonly string[];
  /** The message, UTF-8. */
  readonly frame: Buffer;
}

/** One page of the outbox, ready to be sent; `next` continues. */
export interface Page {
  readonly events: readonly Told[];
  readonly next: number;
}

const CHANNEL_OF = new Map<EventKind, EventChannel>(
  Object.entries(EVENT_CHANNELS).map(([channel, kind]) => [kind, channel as EventChannel]),
);

/** The key of a channel is its name, that of a wallet its address in one spelling. */
export const toKey = (text: string): string => spellAddress(text);

export function toTold({ id, cursor, at, kind, payment }: GatewayEvent, networks: Pick<GatewayNetworks, "find">): Told {
  const { sender, recipient, network, history } = payment;
  const data = toRecord(payment, history, networks.find(network));
  const message: PaymentEvent = { type: kind, id, cursor, at: Math.floor(at / 1000), data };
  const wallets = [sender, recipient].filter((address) => address !== null);
  return {
    cursor,
    keys: [CHANNEL_OF.get(kind) ?? "", ...wallets.map(toKey)],
    frame: Buffer.from(JSON.stringify(message)),
  };
}
