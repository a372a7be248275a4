// Keeps a connection open while an answer on it is held. Express's last error handler destroys the socket when it
// believes the head is out; with a gate the head is only held, so that would lose an answer that may be paid for.
import type { Socket } from "node:net";

const held = new WeakMap<Socket, Set<() => void>>();

/**
 * Until the returned function is called, a `destroy()` from this process calls `abandoned` and is left to the gate,
 * which closes the connection after its answer. Errors of the connection and a client that hung up pass unhindered.
 */
export function keepOpen(socket: Socket, abandoned: () => void): () => void {
  const gates = held.get(socket) ?? watchDestroy(socket);
  gates.add(abandoned);
  return () => gates.delete(abandoned);
}

function watchDestroy(socket: Socket): Set<() => void> {
  const gates = new Set<() => void>();
  const destroy = socket.destroy;
  socket.destroy = (error?: Error) => {
    // Node destroys with an error when the connection broke, and after `end` when the client closed it.
    if (gates.size === 0 || error || socket.readableEnded) return destroy.call(socket, error);
    for (const abandoned of gates) abandoned();
    return socket;
  };
  held.set(socket, gates);
  return gates;
}
