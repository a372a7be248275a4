// Every way of answering, on every framework, with every decision that the capture can make.
import { afterEach, describe, expect, it } from "vitest";
import type { Guard } from "../../src/guard.js";
import { FRAMEWORKS, type Framework, type Running, type Site } from "./frameworks.js";
import {
  createScript,
  latch,
  PAYMENT,
  REFUSAL,
  replace,
  type Script,
  type ScriptOptions,
  TIMED_OUT,
} from "./script.js";
import { STYLES, type Style } from "./styles.js";
import { open, requestBytes, send } from "./wire.js";

const [JSON_STYLE] = STYLES as readonly [Style, ...Style[]];
const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(framework: Framework, site: Partial<Site> & { guard: Guard }): Promise<number> {
  const server = await framework.start({ style: JSON_STYLE, ...site });
  running.push(server);
  return server.port;
}

async function serve(
  framework: Framework,
  site: Partial<Site>,
  options: ScriptOptions = {},
): Promise<[Script, number]> {
  const script = createScript(options);
  return [script, await start(framework, { ...site, guard: script.guard })];
}

const listed = (value: string | undefined) => (value ?? "").split(/,\s*/).sort();

describe.each(FRAMEWORKS)("$name", (framework) => {
  describe.each(STYLES)("answering with $name", (style) => {
    it("delivers the whole answer with the receipt and the app's own headers", async () => {
      const [script, port] = await serve(framework, { style });
      const answer = await send(port, "/paid");
      expect(answer).toMatchObject({ status: style.status, text: style.body });
      expect(answer.headers).toMatchObject({ "x-goods": "yes", "payment-response": "receipt", ...style.headers });
      expect(answer.headers["access-control-allow-origin"]).toBe("https://page.test");
      expect(listed(answer.headers["access-control-expose-headers"])).toEqual(["PAYMENT-RESPONSE", "X-Foo"]);
      expect(listed(answer.headers.vary)).toEqual(["Origin", "X-PAYMENT"]);
      const bodyless = style.status === 204;
      expect(answer.headers["content-length"]).toBe(bodyless ? undefined : String(Buffer.byteLength(style.body)));
      expect(answer.headers["transfer-encoding"]).toBeUndefined();
      await script.until("delivered");
      expect(script.log).toEqual([`answered ${style.status}`, "ended", "delivered"]);
      expect(Buffer.from(script.held?.body ?? "").toString()).toBe(style.body);
      expect(script.heldBytes).toBe(Buffer.byteLength(style.body));
    });

    it("drops the answer and its headers when another takes its place", async () => {
      const [script, port] = await serve(framework, { style }, { outcome: (self) => replace(self) });
      const answer = await send(port, "/paid");
      expect(answer).toMatchObject({ status: 402, text: REFUSAL.body });
      for (const name of ["x-goods", "location", "set-cookie", "x-more", "etag", "transfer-encoding"])
        expect(answer.headers[name]).toBeUndefined();
      expect(answer.headers["content-length"]).toBe(String(REFUSAL.body.length));
      expect(answer.headers["access-control-allow-origin"]).toBe("https://page.test");
      expect(listed(answer.headers["access-control-expose-headers"])).toEqual([
        "PAYMENT-REQUIRED",
        "PAYMENT-RESPONSE",
        "X-Foo",
      ]);
      await script.until("delivered");
    });

    it("judges the answer and loses the delivery when the client has gone meanwhile", async () => {
      const [entered, gone] = [latch(), latch()];
      const wait = () => {
        entered.open();
        return gone.promise;
      };
      const [script, port] = await serve(framework, { style, wait });
      const { socket } = open(port);
      socket.write(requestBytes("/paid"));
      await entered.promise;
      const aborted = onAbort(script.requests[0]?.signal);
      socket.destroy();
      await aborted;
      gone.open();
      await script.until("lost");
      const unfinished = framework.name === "Hono" ? undefined : style.gone;
      expect(script.log).toEqual([unfinished ?? `answered ${style.status}`, "ended", "lost"]);
    });

    it("sends the timeout's answer and drops what the handler writes too late", async () => {
      const [entered, late] = [latch(), latch()];
      const wait = () => {
        entered.open();
        return late.promise;
      };
      const [script, port] = await serve(framework, { style, wait });
      const answer = send(port, "/paid");
      await entered.promise;
      script.timeout.open(replace(script, TIMED_OUT));
      expect(await answer).toMatchObject({ status: 504, text: "timeout" });
      expect((await answer).headers).toMatchObject({ "x-late": "yes" });
      expect(script.log).not.toContain("ended");
      late.open();
      await script.until("ended");
      expect(script.log.filter((entry) => /^(answered|streaming|failed)/.test(entry))).toEqual([]);
    });
  });

  it("delivers a 404 of the handler as it is", async () => {
    const missing: Style = {
      name: "missing",
      status: 404,
      body: "none",
      express: (_, res) => void res.status(404).send("none"),
      hono: (c) => c.text("none", 404),
    };
    const [script, port] = await serve(framework, { style: missing });
    expect(await send(port, "/paid")).toMatchObject({ status: 404, text: "none" });
    expect(script.log[0]).toBe("answered 404");
  });

  it("answers a thrown error with what the app says, as a failed answer", async () => {
    const [script, port] = await serve(framework, { throws: new Error("secret") });
    const answer = await send(port, "/paid");
    expect(answer.status).toBe(500);
    expect(script.log.slice(0, 2)).toEqual(["answered 500", "ended"]);
  });

  it("runs the handler, and loses the delivery, when the client went before the verdict", async () => {
    const [asked, judged] = [latch(), latch()];
    const [script, port] = await serve(
      framework,
      {},
      {
        verdict: async (self) => {
          asked.open();
          await judged.promise;
          return { kind: "admit", payment: PAYMENT, capture: self.capture };
        },
      },
    );
    const { socket } = open(port);
    socket.write(requestBytes("/paid"));
    await asked.promise;
    const aborted = onAbort(script.requests[0]?.signal);
    socket.destroy();
    await aborted;
    judged.open();
    await script.until("lost");
    expect(script.log).toEqual(["answered 200", "ended", "lost"]);
  });

  it("counts an answer as lost when the client goes between the answer and the decision", async () => {
    const [answered, decided] = [latch(), latch()];
    const [script, port] = await serve(
      framework,
      {},
      {
        outcome: async (self) => {
          answered.open();
          await decided.promise;
          return replace(self);
        },
      },
    );
    const { socket } = open(port);
    socket.write(requestBytes("/paid"));
    await answered.promise;
    const aborted = onAbort(script.requests[0]?.signal);
    socket.destroy();
    await aborted;
    decided.open();
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it("refuses with the app's headers kept and its lists joined", async () => {
    const [script, port] = await serve(framework, {}, { verdict: () => ({ kind: "refuse", answer: REFUSAL }) });
    const answer = await send(port, "/paid");
    expect(answer).toMatchObject({ status: 402, text: REFUSAL.body });
    expect(answer.headers["access-control-allow-origin"]).toBe("https://page.test");
    expect(answer.headers["access-control-expose-headers"]).toBe("X-Foo, PAYMENT-REQUIRED, PAYMENT-RESPONSE");
    expect(answer.headers.vary).toBe("Origin, X-PAYMENT");
    expect(script.log).toEqual([]);
  });

  it("refuses HEAD without a body", async () => {
    const answer = { ...REFUSAL, body: "" };
    const [script, port] = await serve(framework, {}, { verdict: () => ({ kind: "refuse", answer }) });
    expect(await send(port, "/paid", { method: "HEAD" })).toMatchObject({ status: 402, text: "" });
    expect(script.requests[0]?.method).toBe("HEAD");
  });

  it("replays a kept answer and reports its delivery", async () => {
    const kept = { status: 200, headers: [["Payment-Replayed", "true"]] as const, body: "kept" };
    const [script, port] = await serve(
      framework,
      {},
      { verdict: (self) => ({ kind: "replay", answer: kept, delivery: self.delivery }) },
    );
    const answer = await send(port, "/paid");
    expect(answer).toMatchObject({ status: 200, text: "kept" });
    expect(answer.headers["payment-replayed"]).toBe("true");
    await script.until("delivered");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
  ] as const)("answers 500 and runs no handler when the guard %s", async (_, verdict) => {
    const ran = latch();
    let runs = 0;
    const wait = async () => {
      runs += 1;
      ran.open();
    };
    const [, port] = await serve(framework, { wait }, { verdict });
    const answer = await send(port, "/paid");
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.text)).toMatchObject({
      code: "internal_error",
      payment: "unknown",
      retry: "same-payment",
    });
    expect(answer.text).not.toContain("secret");
    expect(runs).toBe(0);
  });

  it("answers 500 and not with the goods when the capture breaks its word", async () => {
    const [, port] = await serve(framework, {}, { outcome: () => Promise.reject(new Error("secret")) });
    const answer = await send(port, "/paid");
    expect(answer.status).toBe(500);
    expect(answer.headers["x-goods"]).toBeUndefined();
    expect(answer.text).not.toContain("goods");
  });

  it("answers 500 when a receipt header cannot be sent", async () => {
    const [script, port] = await serve(
      framework,
      {},
      { outcome: (self) => ({ kind: "deliver", headers: [["PAYMENT-RESPONSE", "a\nb"]], delivery: self.delivery }) },
    );
    const answer = await send(port, "/paid");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("goods");
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it("lets an open request through and holds nothing", async () => {
    const [script, port] = await serve(framework, {}, { verdict: () => ({ kind: "open" }) });
    expect(await send(port, "/paid")).toMatchObject({ status: 200, text: JSON_STYLE.body });
    expect(script.log).toEqual([]);
  });

  it("hides the conditions of the request from the handler", async () => {
    const echo: Style = {
      name: "echo",
      status: 200,
      body: "",
      express: (req, res) => void res.json([req.headers, req.rawHeaders.join()]),
      hono: (c) => c.json([c.req.header(), [...c.req.raw.headers.keys()].join()]),
    };
    const [, port] = await serve(framework, { style: echo });
    const headers = { "If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT", "X-Other": "1" };
    const { status, text } = await send(port, "/paid", { headers });
    expect(status).toBe(200);
    expect(text.toLowerCase()).not.toMatch(/if-(none-match|modified-since)/);
    expect(text.toLowerCase()).toContain("x-other");
  });
});

function onAbort(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!signal || signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
