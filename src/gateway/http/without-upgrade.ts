// Requests that offer to go on in another protocol than WebSocket (`Upgrade: h2c`, as some HTTP clients do on each connection): the
// offer is not taken, and they are answered as any other.
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

export const isWebSocket = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

/** What goes with the offer. */
const OFFER = /^(?:connection|upgrade|http2-settings)$/i;

/** Once somebody listens for upgrades, Node takes such a request for one. Its bytes are read again, without the offer. */
export function withoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!OFFER.test(name)) lines.push(`${name}: ${value}`);
  }
  // Safe because the server has let go of the connection, and takes it for a new one.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
