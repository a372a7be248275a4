import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readChallenge } from "../../src/client/challenge.js";
import { encodeHeader } from "../../src/wire/header.js";
import { answer402, challengeV1, challengeV2, evm, inV1, read } from "./challenges.js";

const KIB = 1024;
/** A body that never ends, in chunks of this size; counts what was taken, and whether it was told to stop. */
function endless(chunk: Uint8Array) {
  const seen = { bytes: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.bytes += chunk.length;
      controller.enqueue(chunk);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { seen, body };
}
/** A body that says nothing for ever. */
function silent() {
  const seen = { cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      seen.cancelled = true;
    },
  });
  return { seen, body };
}

describe("how much of a 402 is read", () => {
  it("stops after 256 KiB of a body that never ends, and lets it go", async () => {
    const { seen, body } = endless(new Uint8Array(16 * KIB).fill(0x20));
    expect(await read({ body })).toMatchObject({ ok: false, code: "challenge_too_large" });
    expect(seen.cancelled).toBe(true);
    expect(seen.bytes).toBeLessThanOrEqual(320 * KIB);
  });

  it("reads nothing of a body that announces more", async () => {
    const { seen, body } = endless(new Uint8Array(KIB));
    const response = answer402({ body, headers: { "Content-Length": String(100 * KIB * KIB) } });
    expect(await readChallenge(response)).toMatchObject({ ok: false, code: "challenge_too_large" });
    expect(seen.cancelled).toBe(true);
    expect(seen.bytes).toBeLessThanOrEqual(KIB);
  });

  it("reads a body of 256 KiB, in chunks that cut letters, and not one byte more", async () => {
    const json = JSON.stringify(challengeV1([inV1(evm(), { description: "Žluťoučký kůň 🧾" })]));
    const bytes = new TextEncoder().encode(json);
    const filled = (size: number) => {
      const whole = new Uint8Array(size).fill(0x20);
      whole.set(bytes);
      let at = 0;
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = at < 300 ? at + 1 : Math.min(at + 10 * KIB, size);
          controller.enqueue(whole.subarray(at, next));
          at = next;
          if (at === size) controller.close();
        },
      });
    };
    expect(await read({ body: filled(256 * KIB) })).toMatchObject({
      ok: true,
      challenge: { description: "Žluťoučký kůň 🧾" },
    });
    expect(await read({ body: filled(256 * KIB + 1) })).toMatchObject({ ok: false, code: "challenge_too_large" });
  });

  it("gives up a body that drips, after its time", async () => {
    const { seen, body } = silent();
    expect(await readChallenge(answer402({ body }), { timeoutMs: 20 })).toEqual({
      ok: false,
      code: "challenge_invalid",
      reason: "the body did not come within 20 ms",
    });
    expect(seen.cancelled).toBe(true);
  });

  it("stops with the caller's own reason when he aborts, before and while it reads", async () => {
    const caller = new AbortController();
    const { seen, body } = silent();
    const reading = readChallenge(answer402({ body }), { signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(seen.cancelled).toBe(true);
    const early = readChallenge(answer402({ body: "{}" }), { signal: caller.signal });
    await expect(early).rejects.toThrow("enough");
  });

  it("has words for a body that breaks off, and for one that somebody has read", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new TypeError("terminated")),
    });
    expect(await read({ body: broken })).toMatchObject({ code: "challenge_invalid", reason: "the body broke off" });
    const used = answer402({ body: challengeV1([inV1(evm())]) });
    await used.text();
    expect(await readChallenge(used)).toMatchObject({ code: "challenge_invalid" });
  });

  it("takes a header of 64 KiB and refuses a longer one undecoded", async () => {
    const sized = (length: number) => {
      const value = challengeV2([evm()], { pad: "" });
      const over = encodeHeader(value).length;
      return encodeHeader({ ...value, pad: "x".repeat(Math.floor(((length - over) * 3) / 4)) });
    };
    expect(sized(64 * KIB).length).toBe(64 * KIB);
    expect(await read({ header: sized(64 * KIB) })).toMatchObject({ ok: true });
    expect(await read({ header: sized(64 * KIB + 8) })).toMatchObject({ ok: false, code: "challenge_too_large" });
  });

  it("looks at a hundred offers and refuses more", async () => {
    const offers = (count: number) => Array.from({ length: count }, () => inV1(evm()));
    expect(await read({ body: challengeV1(offers(100)) })).toMatchObject({ ok: true });
    expect(await read({ body: challengeV1(offers(101)) })).toMatchObject({ ok: false, code: "challenge_too_large" });
  });

  it("refuses JSON that is nested deep", async () => {
    for (const levels of [40, 60_000]) {
      const body = `{"x402Version":1,"accepts":[],"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
      expect(await read({ body })).toMatchObject({ ok: false, code: "challenge_invalid" });
    }
  });

  it("never rejects and answers with a value, whatever comes", async () => {
    const junk = fc.oneof(
      fc.string({ maxLength: 100 }),
      fc.json({ maxDepth: 4 }),
      fc.json({ maxDepth: 3 }).map((json) => `{"x402Version":1,"accepts":[${json}]}`),
      fc.json({ maxDepth: 3 }).map((json) => `{"x402Version":2,"accepts":${json}}`),
    );
    await fc.assert(
      fc.asyncProperty(junk, fc.boolean(), async (text, inHeader) => {
        const header = Buffer.from(text).toString("base64");
        const made = await read(inHeader && header !== "" ? { header } : { body: text });
        if (made.ok) for (const { reason } of made.challenge.unpayable) expect(reason.length).toBeLessThan(500);
        else expect(made.code).toMatch(/^challenge_/);
      }),
      { seed: 402, numRuns: 1_000 },
    );
  });
});

describe("over a real socket", () => {
  it("leaves a small body's connection open for the paid try, and cuts one that never ends", async () => {
    const closed: string[] = [];
    const sockets = new Set<unknown>();
    const server = createServer((request, response) => {
      sockets.add(request.socket);
      response.on("close", () => closed.push(request.url ?? ""));
      response.writeHead(402, { "PAYMENT-REQUIRED": encodeHeader(challengeV2([evm()])) });
      if (request.url === "/small") response.end("{}");
      else response.write("x".repeat(KIB));
      if (request.url === "/endless") {
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(KIB)));
        };
        response.on("drain", more);
        more();
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      for (let i = 0; i < 10; i++) {
        expect(await readChallenge(await fetch(`http://127.0.0.1:${port}/small`))).toMatchObject({ ok: true });
      }
      // Nobody waits for the rest, so now and then the next call is faster than it.
      expect(sockets.size).toBeLessThan(5);
      expect(await readChallenge(await fetch(`http://127.0.0.1:${port}/endless`))).toMatchObject({ ok: true });
      await expect.poll(() => closed).toContain("/endless");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
