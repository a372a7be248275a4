// Bytes to a server and every byte it sends until the connection ends, however it ends.
import { connect } from "node:net";

export interface Exchanged {
  /** Status codes of the answers, in order; none where the server just hung up. */
  readonly statuses: readonly number[];
  readonly text: string;
}

/**
 * Writes the bytes and reads until the server closes. `hangUp`: this side ends first, for requests that never come to
 * their end. A reset counts as an end: what had come before it is given.
 */
export function exchange(port: number, bytes: Buffer, { hangUp = false } = {}): Promise<Exchanged> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    // `close` follows, and what the server sent before is what counts.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString("latin1");
      // An answer begins the text or follows the end of another; no body of ours holds such a line.
      const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
      resolve({ statuses, text });
    });
    socket.write(bytes);
    if (hangUp) socket.end();
  });
}
