// Passes JSON-RPC calls on to a node, byte for byte, and keeps the names of the methods: what a published buyer asks of a
// node is read from here.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";

export interface RecordingRpc {
  readonly url: string;
  /** The methods called since the last `take`, in order. */
  take(): string[];
  close(): void;
}

const call = z.object({ method: z.string() });

/** Starts it in front of a node's URL; a call that is no JSON-RPC ends the test that made it. */
export async function startRecordingRpc(target: string): Promise<RecordingRpc> {
  let methods: string[] = [];
  const server = createServer(async (req, res) => {
    const body = await text(req);
    methods.push(call.parse(JSON.parse(body)).method);
    const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    res.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = methods;
      methods = [];
      return taken;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
