// A runtime without Node: a context that has the language and the globals of the web, and nothing else; no code is made from
// text there, as on Workers. It runs a bundled shop, and this file, which stays outside, listens for it. Prints the port.
// node bare-host.mjs BUNDLE ENV_AS_JSON
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createContext, runInContext } from "node:vm";

const [, , script, env] = process.argv;
const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "DOMException", "Event", "EventTarget", "FormData", "Headers"],
  ...["ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder", "TransformStream", "URL"],
  ...["URLSearchParams", "WritableStream", "atob", "btoa", "clearInterval", "clearTimeout", "console", "crypto"],
  ...["fetch", "performance", "queueMicrotask", "setInterval", "setTimeout", "structuredClone"],
  // Bytes pass between the context and these globals: both sides must mean the same class.
  ...["ArrayBuffer", "Uint8Array"],
];
const context = createContext(Object.fromEntries(WEB.map((name) => [name, globalThis[name]])), {
  codeGeneration: { strings: false, wasm: false },
});
runInContext("globalThis.self = globalThis", context);
runInContext(readFileSync(script, "utf8"), context, { filename: script });
const shop = runInContext("bundled.default", context);

async function answer(incoming, outgoing) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method, headers, url } = incoming;
  const body = method === "GET" || method === "HEAD" ? null : Buffer.concat(chunks);
  const response = await shop.fetch(
    new Request(`http://${headers.host}${url}`, { method, headers, body }),
    JSON.parse(env),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch((error) => outgoing.writeHead(500).end(`${error?.stack}`));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
