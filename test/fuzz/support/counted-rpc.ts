// A proxy in front of a chain that counts what it is asked, so that a test can say: this input cost no call.
import { createServer } from "node:http";
import { listen } from "../../adapters/frameworks.js";

export interface CountedRpc {
  readonly url: string;
  /** HTTP requests that have come in. */
  requests(): number;
  close(): Promise<void>;
}

/** Starts the proxy; it passes everything on as it came. */
export async function startCountedRpc(target: string): Promise<CountedRpc> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body: Buffer.concat(chunks) })
        .then(async (answer) => response.end(Buffer.from(await answer.arrayBuffer())))
        .catch((error: unknown) => response.writeHead(500).end(`The proxy itself failed: ${String(error)}`));
    });
  });
  const { port, close } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, requests: () => requests, close };
}
