// Guards a connection while an answer on it is held. Express's last error handler destroys the socket when it believes the
// head is out, and a handler can write to the socket past its response: with a gate the first would lose an answer that
// may be paid for, the second would give away goods that are not.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { later, readArguments } from "./node-arguments.js";
import { destroyed } from "./node-queue.js";

interface Gate {
  readonly res: ServerResponse;
  readonly abandoned: () => void;
  silent: boolean;
}

export interface KeptOpen {
  /** The answer begins: what is written from now on is Node's own. */
  write(): void;
  /** The connection may be closed again. */
  release(): void;
}

const held = new WeakMap<Socket, Set<Gate>>();

/**
 * Until it is released, `destroy()` from this process calls `abandoned` and is left to the gate, which closes the
 * connection after its answer; so do `write` and `end` past the response until the answer begins: nothing of them leaves.
 * Errors of the connection and a client that hung up pass unhindered.
 */
export function keepOpen(res: ServerResponse, abandoned: () => void): KeptOpen {
  const { socket } = res.req;
  const gates = held.get(socket) ?? watch(socket);
  const gate = { res, abandoned, silent: true };
  gates.add(gate);
  return {
    write() {
      gate.silent = false;
    },
    release: () => void gates.delete(gate),
  };
}

function watch(socket: Socket): Set<Gate> {
  const gates = new Set<Gate>();
  const { destroy, write, end } = socket;
  socket.destroy = (error?: Error) => {
    // Node destroys with an error when the connection broke, and after `end` when the client closed it.
    // A gate that waits behind another response on the connection has no say in what becomes of that one.
    const own = [...gates].filter(({ res }) => res.socket === socket);
    if (own.length === 0 || error || socket.readableEnded) return destroy.call(socket, error);
    for (const { abandoned } of own) abandoned();
    return socket;
  };
  // Safe because Node itself writes to the socket only for the response that has it, and a held one writes nothing: while
  // a gate waits behind another response on the connection, what is written is that other response.
  const ours = (): Gate | undefined => {
    for (const gate of gates) if (gate.silent && gate.res.socket === socket) return gate;
    return undefined;
  };
  socket.write = (...args: readonly unknown[]): boolean => {
    const gate = ours();
    if (!gate) return Reflect.apply(write, socket, args) as boolean;
    gate.abandoned();
    later(readArguments(args).callback, destroyed());
    return false;
  };
  socket.end = (...args: readonly unknown[]) => {
    const gate = ours();
    // Node ends its side when the client has ended its own.
    if (!gate || socket.readableEnded) return Reflect.apply(end, socket, args) as Socket;
    gate.abandoned();
    later(readArguments(args).callback, destroyed());
    return socket;
  };
  held.set(socket, gates);
  return gates;
}
