// The load generator: kept-alive sockets that write prepared bytes and read no more of an answer than its end. In a process of
// its own, so that neither its CPU nor its garbage is on a server's account.
import { connect } from "node:net";
import { signPayments } from "./payments.mjs";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Prepared requests that are used once each, by the name of their set. */
const pools = new Map();

const requestText = ({ port, path }, line = "") =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\n${line === "" ? "" : `${line}\r\n`}\r\n`;

/** Where the answer at the start of `bytes` ends; undefined while it is not complete. */
function endOfAnswer(bytes) {
  const head = bytes.indexOf(HEAD_END);
  if (head < 0) return undefined;
  const text = bytes.latin1Slice(0, head);
  const length = /\ncontent-length: *(\d+)/i.exec(text);
  if (length) {
    const end = head + 4 + Number(length[1]);
    return bytes.length >= end ? end : undefined;
  }
  const last = bytes.indexOf(LAST_CHUNK, head + 2);
  return last < 0 ? undefined : last + LAST_CHUNK.length;
}

/**
 * Runs one burst; ends after `ms`, or when the prepared requests are used up. A burst of fewer than `least` requests goes on
 * for up to eight times as long: on a busy machine a slow server would else be judged by its first, uncompiled requests.
 */
async function burst({ port, path, text, connections, ms, least = 0, limit = Number.MAX_SAFE_INTEGER, pool }) {
  const prepared = pool === undefined ? undefined : pools.get(pool);
  const plain = Buffer.from(text ?? requestText({ port, path }), "latin1");
  const statuses = {};
  const times = [];
  let begun = 0;
  let bytes = 0;
  let dry = false;
  // Most answers of a burst are as long as the one before, and then need not be read to find their end.
  let usualLength = -1;
  const start = performance.now();
  const next = () => {
    if (begun >= limit || performance.now() - start >= (begun < least ? 8 * ms : ms)) return undefined;
    const request = prepared ? prepared.pop() : plain;
    dry ||= request === undefined;
    if (request !== undefined) begun++;
    return request;
  };

  await Promise.all(
    Array.from({ length: connections }, () => {
      return new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true });
        let buffered = Buffer.alloc(0);
        let sentAt = 0;
        const send = () => {
          const request = next();
          if (request === undefined) {
            socket.end();
            resolve();
            return;
          }
          sentAt = performance.now();
          socket.write(request);
        };
        socket.on("connect", send);
        socket.on("error", reject);
        socket.on("close", resolve);
        socket.on("data", (chunk) => {
          const whole = buffered.length === 0 && chunk.length === usualLength;
          if (!whole) buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
          const end = whole ? chunk.length : endOfAnswer(buffered);
          if (end === undefined) return;
          const status = (whole ? chunk : buffered).latin1Slice(9, 12);
          if (end === chunk.length && !whole) usualLength = end;
          statuses[status] = (statuses[status] ?? 0) + 1;
          times.push(performance.now() - sentAt);
          bytes += end;
          buffered = buffered.subarray(end);
          send();
        });
      });
    }),
  );
  const elapsedMs = performance.now() - start;
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, elapsedMs, statuses, bytes, dry, p50: at(0.5), p99: at(0.99) };
}

/** One request over a socket of its own: when each of its pieces came, in milliseconds since it was sent. */
async function single({ port, path, pool }) {
  const request = pool === undefined ? Buffer.from(requestText({ port, path })) : pools.get(pool).pop();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject));
  const sentAt = performance.now();
  socket.write(request);
  let firstByteMs;
  let head = Buffer.alloc(0);
  let bytes = 0;
  let bodyMs;
  for await (const chunk of socket) {
    firstByteMs ??= performance.now() - sentAt;
    bytes += chunk.length;
    // Memory must not be this side's: only the beginning is kept, and the tail for the last chunk.
    head = head.length < 4096 ? Buffer.concat([head, chunk]) : head;
    const headEnd = head.indexOf(HEAD_END);
    if (headEnd < 0) continue;
    if (bytes > headEnd + 4) bodyMs ??= performance.now() - sentAt;
    const length = /\ncontent-length: *(\d+)/i.exec(head.latin1Slice(0, headEnd));
    if (length ? bytes >= headEnd + 4 + Number(length[1]) : chunk.subarray(-5).equals(LAST_CHUNK)) break;
  }
  return { status: head.latin1Slice(9, 12), firstByteMs, bodyMs, totalMs: performance.now() - sentAt, bytes };
}

const ACTIONS = {
  burst,
  single,
  /** Whole requests, each to be sent once. */
  async fill({ pool, requests }) {
    pools.set(pool, [...(pools.get(pool) ?? []), ...requests.map((text) => Buffer.from(text, "latin1"))]);
    return { left: pools.get(pool).length };
  },
  async sign({ port, path, version, count, pool }) {
    const lines = await signPayments(`http://127.0.0.1:${port}${path}`, version, count);
    const requests = lines.map((line) => Buffer.from(requestText({ port, path }, line), "latin1"));
    pools.set(pool, [...(pools.get(pool) ?? []), ...requests]);
    return { left: pools.get(pool).length };
  },
};

process.on("message", async ({ id, kind, ...facts }) => {
  if (kind === "quit") process.exit(0);
  try {
    process.send({ id, ...(await ACTIONS[kind](facts)) });
  } catch (error) {
    process.send({ id, failed: String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
