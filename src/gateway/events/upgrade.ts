// The upgrade of GET /events to a WebSocket, up to the moment at which somebody is let in or refused. A refusal is an HTTP answer in
// the shape of all others; with no key in the header the socket opens, and its first message has to bring one.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type Fault, fault } from "../errors.js";
import { statusOf } from "../http/answer.js";
import { addressBehind } from "../http/client-address.js";
import { answerRaw } from "../http/raw-answer.js";
import type { GatewaySettings } from "../settings.js";
import type { Entered, Entrance, Guest } from "./entrance.js";
import type { EventMetrics } from "./metrics.js";
import { isAllowedOrigin } from "./origin.js";
import type { AuthenticateRequest } from "./subscriber.js";
import { MAX_HEADERS, MAX_MESSAGE_BYTES, MAX_WAITING, MAX_WAITING_OF_ONE } from "./times.js";

export interface UpgradeParts {
  readonly settings: Pick<GatewaySettings, "publicUrl" | "eventOrigins" | "trustProxy">;
  readonly entrance: Entrance;
  readonly authenticators: readonly AuthenticateRequest[];
  readonly metrics: EventMetrics;
  readonly isClosed: () => boolean;
  /** Sockets of this address, and in all, that have not authenticated yet. */
  readonly waiting: (address: string) => { readonly own: number; readonly all: number };
  readonly opened: (socket: WebSocket, guest: Guest) => void;
  /** It has still to say who it is. */
  readonly unknown: (socket: WebSocket, address: string) => void;
}

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function createUpgrade(parts: UpgradeParts): Upgrade {
  const { settings, entrance, authenticators, metrics, isClosed, waiting, opened, unknown } = parts;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // One message of a client is a list of keys at most; compression would cost memory for each socket.
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // Done by the live socket, which knows what waits already.
    autoPong: false,
  });
  const turnAway = (socket: Duplex, refusal: Fault) => {
    metrics.refused(statusOf(refusal));
    answerRaw(socket, refusal);
  };
  server.on("wsClientError", (error, socket) => turnAway(socket, fault("INVALID_REQUEST", error.message)));

  /** Before it is asked who comes. */
  function refusalOf(request: IncomingMessage, address: string): Fault | undefined {
    if (isClosed()) return CLOSED;
    if (request.rawHeaders.length / 2 > MAX_HEADERS) return TOO_MANY_HEADERS;
    if (pathOf(request) !== "/events") return fault("NOT_FOUND", "the only WebSocket is GET /events");
    const { own, all } = waiting(address);
    const isFull = all >= MAX_WAITING || own >= MAX_WAITING_OF_ONE;
    return isFull && request.headers.authorization === undefined ? FULL : undefined;
  }

  /** Undefined = nothing in the request says who it is. */
  async function enter(request: IncomingMessage, address: string): Promise<Entered | undefined> {
    for (const authenticate of authenticators) {
      const found = await authenticate(request);
      if (found) return "ok" in found ? found : entrance.bySubscriber(found);
    }
    if (!isAllowedOrigin(request.headers.origin, settings)) return FOREIGN;
    const { authorization } = request.headers;
    return authorization === undefined ? undefined : entrance.byKey(authorization, address);
  }

  async function admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = addressBehind(request.socket.remoteAddress, forwardedOf(request), settings.trustProxy);
    const refused = refusalOf(request, address);
    if (refused) return turnAway(socket, refused);
    const entered = await enter(request, address);
    if (entered && !entered.ok) return turnAway(socket, entered);
    const seat = entered?.guest.seat;
    // Its connection may be over before it is a WebSocket, or the handshake wrong: nobody else would free the seat then.
    let isOpen = false;
    socket.once("close", () => {
      if (!isOpen) seat?.free();
    });
    if (socket.destroyed || isClosed()) {
      seat?.free();
      return turnAway(socket, CLOSED);
    }
    server.handleUpgrade(request, socket, head, (upgraded) => {
      isOpen = true;
      if (entered) opened(upgraded, entered.guest);
      else unknown(upgraded, address);
    });
  }

  return (request, socket, head) => {
    const fail = () => socket.destroy();
    socket.on("error", fail);
    admit(request, socket, head)
      .catch(() => turnAway(socket, fault("INTERNAL_ERROR", "an unexpected error")))
      .finally(() => socket.off("error", fail));
  };
}

const CLOSED = fault("UNAVAILABLE", "the service is shutting down");
const TOO_MANY_HEADERS = fault("INVALID_REQUEST", `the request has more than ${MAX_HEADERS} header fields`, {
  status: 431,
});
const FULL = fault("UNAVAILABLE", "too many sockets have not authenticated yet", { retryAfter: 5 });
const FOREIGN = fault(
  "FORBIDDEN",
  "pages of this origin may not open an event socket: the operator names those that may",
);

/** Undefined = its target is none. */
function pathOf({ url = "" }: IncomingMessage): string | undefined {
  const base = "http://gateway.invalid";
  return URL.canParse(url, base) ? new URL(url, base).pathname : undefined;
}

function forwardedOf({ headers }: IncomingMessage): string | undefined {
  const forwarded = headers["x-forwarded-for"];
  return Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
}
