// Requests as bytes, so that no client tidies up the path before it is sent.
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** `target` goes out as it is. One connection for each request, from `localAddress` where one is given. */
export function askRaw(
  port: number,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
  localAddress?: string,
): Promise<RawAnswer> {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: gateway.example",
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
    const got: Buffer[] = [];
    socket.on("data", (chunk) => got.push(chunk));
    socket.on("error", (error) => (got.length > 0 ? undefined : reject(error)));
    socket.on("close", () => {
      const text = Buffer.concat(got).toString("utf8");
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
      resolve({ status, body: text.slice(text.indexOf("\r\n\r\n") + 4) });
    });
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
  });
}
