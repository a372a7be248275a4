// Streams and large answers on every framework: nothing leaves before the decision, everything after it, and a source
// whose answer is not sent is told so.
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { FRAMEWORKS, type Framework, type Running } from "./frameworks.js";
import { createScript, deliver, latch, replace, type Script, type ScriptOptions } from "./script.js";
import { openStyles, STREAM_STYLES, type StreamStyle, toWeb } from "./stream-styles.js";
import type { Style } from "./styles.js";
import { open, requestBytes, send } from "./wire.js";

beforeAll(openStyles);

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const CHUNK = new Uint8Array(64 * 1024).fill(103);

/** A source without an end that counts what was taken of it and says when it was stopped. */
function endless(breaksAfter = Number.POSITIVE_INFINITY) {
  const stopped = latch();
  let taken = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (; ; taken += CHUNK.length) {
        if (taken >= breaksAfter) throw new Error("disk");
        await new Promise(setImmediate);
        yield CHUNK;
      }
    } finally {
      stopped.open();
    }
  }
  return { source: () => Readable.from(chunks()), stopped: stopped.promise, taken: () => taken };
}

const endlessStyle = (source: () => Readable, status = 200): Style => ({
  name: "endless",
  status,
  body: "",
  express: (_, res) => void pipeline(source(), res.status(status)).catch(() => undefined),
  hono: () => new Response(toWeb(source()), { status }),
});

async function serve(
  framework: Framework,
  style: Style | StreamStyle,
  options: ScriptOptions = {},
): Promise<[Script, number]> {
  const decided = latch();
  const script = createScript({
    ...options,
    outcome: (self, head) => {
      decided.open();
      return options.outcome?.(self, head) ?? deliver(self);
    },
  });
  const steps = { decided: decided.promise };
  const site: Style = {
    ...style,
    status: 200,
    express: (req, res) => style.express(req, res, steps),
    hono: (c) => style.hono(c, steps),
  };
  const server = await framework.start({ guard: script.guard, style: site });
  running.push(server);
  return [script, server.port];
}

/** Asks, and reads nothing yet. */
async function ask(port: number): Promise<IncomingMessage> {
  const [answer] = (await once(get({ port, path: "/paid", agent: false }), "response")) as [IncomingMessage];
  answer.on("error", () => undefined);
  return answer;
}

describe.each(FRAMEWORKS)("$name", (framework) => {
  describe.each(STREAM_STYLES)("streaming $name", (style) => {
    it("delivers all of it with the receipt, once the money is there", async () => {
      const [script, port] = await serve(framework, style);
      const answer = await send(port, "/paid");
      expect(answer.status).toBe(200);
      expect(answer.text === style.body).toBe(true);
      expect(answer.headers).toMatchObject({ "x-goods": "yes", "payment-response": "receipt", ...style.headers });
      await Promise.all([script.until("delivered"), script.until("ended")]);
      expect(script.log[0]).toBe("streaming 200");
      expect(script.streamed?.headers).toContainEqual([expect.stringMatching(/^x-goods$/i), "yes"]);
      expect(script.log).not.toContain("lost");
    });

    it("sends nothing of it when the settlement fails, and tells the handler", async () => {
      const [script, port] = await serve(framework, style, { outcome: (self) => replace(self) });
      const { socket, answer, bytes } = open(port);
      socket.write(requestBytes("/paid"));
      expect(await answer).toMatchObject({ status: 402, text: '{"error":"refused"}' });
      expect((await answer).headers["x-goods"]).toBeUndefined();
      expect(bytes().toString()).not.toMatch(/goods|\0/);
      await script.until("ended");
    });
  });

  it("lets no byte out and holds no more than the cap while the decision is open", async () => {
    const [asked, decision] = [latch(), latch()];
    const { source, taken, stopped } = endless();
    const [script, port] = await serve(framework, endlessStyle(source), {
      outcome: async (self) => {
        asked.open();
        await decision.promise;
        return deliver(self);
      },
    });
    const { socket, bytes } = open(port);
    socket.write(requestBytes("/paid"));
    await asked.promise;
    // As many turns as the source would need for 64 MB.
    for (let turn = 0; turn < 1000; turn += 1) await new Promise(setImmediate);
    expect(taken()).toBeLessThan(2 * 1024 * 1024);
    expect(bytes().length).toBe(0);
    decision.open();
    await once(socket, "data");
    socket.destroy();
    await Promise.all([stopped, script.until("lost"), script.until("flushed")]);
  });

  it("takes no more from the source than a slow reader reads", async () => {
    const { source, taken, stopped } = endless();
    const [script, port] = await serve(framework, endlessStyle(source));
    const answer = await ask(port);
    let before = -1;
    // The buffers of both sides fill, then the source stands still.
    while (before < taken()) {
      before = taken();
      for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
    }
    expect(before).toBeLessThan(24 * 1024 * 1024);
    answer.resume();
    while (taken() < before + 8 * 1024 * 1024) await once(answer, "data");
    answer.destroy();
    await Promise.all([stopped, script.until("lost")]);
  });

  it("stops the source of a stream whose client leaves, and loses the delivery", async () => {
    const { source, stopped } = endless();
    const [script, port] = await serve(framework, endlessStyle(source));
    const answer = await ask(port);
    await once(answer, "data");
    answer.destroy();
    await Promise.all([stopped, script.until("lost"), script.until("ended")]);
    expect(script.log).not.toContain("delivered");
  });

  it("cuts the connection of a stream that breaks, so that the client sees it is not whole", async () => {
    const { source } = endless(4 * 1024 * 1024);
    const [script, port] = await serve(framework, endlessStyle(source));
    const answer = await ask(port);
    await new Promise<void>((closed) => answer.resume().once("close", () => closed()));
    expect(answer.complete).toBe(false);
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it("is not charged for a stream that breaks before it is one", async () => {
    const { source } = endless(256 * 1024);
    const [script, port] = await serve(framework, endlessStyle(source));
    expect(await send(port, "/paid")).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("stops the source of an endless stream that is not sold", async () => {
    const { source, stopped } = endless();
    const [script, port] = await serve(framework, endlessStyle(source), { outcome: (self) => replace(self) });
    expect((await send(port, "/paid")).status).toBe(402);
    await Promise.all([stopped, script.until("ended"), script.until("delivered")]);
  });

  it("passes a failed answer on as a stream, and ends its run only with it", async () => {
    const { source, stopped } = endless();
    const [script, port] = await serve(framework, endlessStyle(source, 503));
    const answer = await ask(port);
    expect(answer.statusCode).toBe(503);
    await once(answer, "data");
    expect(script.log).toContain("streaming 503");
    expect(script.log).not.toContain("ended");
    answer.destroy();
    await Promise.all([stopped, script.until("ended")]);
  });

  it("sends an event at once, before the handler has the next one", async () => {
    const next = [latch(), latch()];
    const style: Style = {
      name: "events",
      status: 200,
      body: "",
      express: async (_, res) => {
        res.type("text/event-stream");
        for (const { promise } of next) {
          res.write("data: x\nevent: payment-receipt\n\n");
          await promise;
        }
        res.end("data: end\n\n");
      },
      hono: () => {
        async function* events() {
          for (const { promise } of next) {
            yield new TextEncoder().encode("data: x\nevent: payment-receipt\n\n");
            await promise;
          }
          yield new TextEncoder().encode("data: end\n\n");
        }
        return new Response(toWeb(Readable.from(events())), { headers: { "Content-Type": "text/event-stream" } });
      },
    };
    const [script, port] = await serve(framework, style);
    const answer = (await ask(port)).setEncoding("utf8");
    const seen: string[] = [];
    for (const step of next) {
      seen.push(((await once(answer, "data")) as [string])[0]);
      step.open();
    }
    for await (const text of answer) seen.push(text as string);
    // The paywall adds nothing to a stream: what the handler sent is all there is.
    expect(seen).toEqual([..."xx"].map(() => "data: x\nevent: payment-receipt\n\n").concat("data: end\n\n"));
    await script.until("delivered");
  });

  it("has the first byte at the client within 50 ms of the settlement", async () => {
    const times: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      let settled = 0;
      const { source } = endless();
      const [, port] = await serve(framework, endlessStyle(source), {
        outcome: (self) => {
          settled = performance.now();
          return deliver(self);
        },
      });
      const answer = await ask(port);
      await once(answer, "data");
      times.push(performance.now() - settled);
      answer.destroy();
    }
    expect(times.sort((a, b) => a - b)[3]).toBeLessThan(50);
  });
});
