// What is special to fetch handlers: arguments beside the request, frozen headers, deliveries that only the reader can tell.
import { describe, expect, it } from "vitest";
import { createPaywall as createNext } from "../../adapters/next.js";
import { createPaywall } from "../../adapters/web.js";
import { FetchRequest, withoutWithheld } from "../../adapters/web-request.js";
import { answerPriced } from "../../adapters/web-wrapper.js";
import { silentLogger } from "../../src/logger.js";
import { PAY_TO, scriptedReceiver } from "../support/world.js";
import { createScript, deliver, latch, replace, type Script, TIMED_OUT } from "./script.js";

const OPTIONS = { payTo: PAY_TO, network: "base-sepolia", logger: silentLogger, receive: scriptedReceiver() };
const URL_ = "http://shop.test/paid?q=%20";

function ask(script: Script, handler: () => Response | Promise<Response>, request = new Request(URL_)) {
  const asked = { guard: script.guard, logger: silentLogger };
  return answerPriced(asked, request, new FetchRequest(request), handler);
}

describe("a fetch handler behind the paywall", () => {
  it("is given the payment and what the runtime gives beside the request", async () => {
    const pay = createPaywall(OPTIONS);
    const free = pay("free")((request: Request, payment, env: { name: string }, ctx: number) =>
      Response.json([new URL(request.url).pathname, payment ?? null, env.name, ctx]),
    );
    expect(await (await free(new Request(URL_), { name: "worker" }, 7)).json()).toEqual(["/paid", null, "worker", 7]);
    await pay.close();
  });

  it("gets the target undecoded and the origin of the request's URL", async () => {
    const script = createScript();
    await ask(script, () => new Response("goods"));
    const [request] = script.requests;
    expect([request?.target, request?.origin, request?.ip]).toEqual(["/paid?q=%20", "http://shop.test", undefined]);
  });

  it("is asked in the same tick where the route is open", () => {
    const script = createScript({ verdict: () => ({ kind: "open" }) });
    expect(ask(script, () => new Response("free"))).toBeInstanceOf(Response);
  });

  it("is delivered when the reader has taken its last byte, and lost when it lets go", async () => {
    const script = createScript();
    const read = await ask(script, () => new Response("goods"));
    expect(script.log).toEqual(["answered 200", "ended"]);
    expect(await read.text()).toBe("goods");
    expect(script.log.at(-1)).toBe("delivered");
    await (await ask(script, () => new Response("goods"))).body?.cancel();
    expect(script.log.at(-1)).toBe("lost");
  });

  it("is lost where the request was aborted before its answer could be read", async () => {
    const gone = new AbortController();
    const script = createScript();
    const answer = await ask(script, () => new Response("goods"), new Request(URL_, { signal: gone.signal }));
    gone.abort();
    await expect(answer.text()).rejects.toThrow("The client has gone");
    expect(script.log).toEqual(["answered 200", "ended", "lost"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
    ["answers with what is no Response", () => ({ status: 200 }) as Response],
    [
      "answers with a body that somebody else reads",
      () => {
        const taken = new Response("goods");
        taken.body?.getReader();
        return taken;
      },
    ],
  ])("that %s is given back", async (_, handler) => {
    const script = createScript();
    const answer = await ask(script, handler);
    expect([answer.status, await answer.text()]).toEqual([500, '{"error":"failed"}']);
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("that is late is answered for, and what it makes too late is told to stop", async () => {
    const [entered, finish, stopped] = [latch(), latch(), latch()];
    const script = createScript();
    const answer = ask(script, async () => {
      entered.open();
      await finish.promise;
      return new Response(new ReadableStream({ cancel: () => stopped.open() }));
    });
    await entered.promise;
    script.timeout.open(replace(script, TIMED_OUT));
    expect((await answer).status).toBe(504);
    expect(script.log).not.toContain("ended");
    finish.open();
    await stopped.promise;
    await script.until("ended");
  });

  it("is answered 500 and not with the goods when the capture breaks its word or a receipt is no header", async () => {
    const outcomes = [
      () => Promise.reject(new Error("secret")),
      (script: Script) => ({ ...deliver(script), kind: "deliver" as const, headers: [["X", "a\nb"]] as const }),
    ];
    for (const outcome of outcomes) {
      const answer = await ask(createScript({ outcome }), () => new Response("goods"));
      expect([answer.status, (await answer.text()).includes("goods")]).toEqual([500, false]);
    }
  });

  it.each(["throws", "rejects"])("does not run when the guard %s", async (how) => {
    let runs = 0;
    const fail = () => {
      throw new Error("secret");
    };
    const script = createScript({ verdict: how === "throws" ? fail : async () => fail() });
    const answer = await ask(script, () => {
      runs += 1;
      return new Response("goods");
    });
    expect([answer.status, (await answer.text()).includes("secret"), runs]).toEqual([500, false, 0]);
  });
});

describe("a request without its conditions", () => {
  const conditions = { "If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT", "X-Other": "1" };
  const names = (request: Request) => [...request.headers.keys()];

  it("is the same object where its headers can be changed", () => {
    const request = new Request(URL_, { headers: conditions });
    expect(withoutWithheld(request)).toBe(request);
    expect(names(request)).toEqual(["x-other"]);
  });

  it("is a copy with method and body where they are frozen", async () => {
    const request = new Request(URL_, { method: "POST", body: "a question", headers: conditions });
    const refuse = () => {
      throw new TypeError("immutable");
    };
    Object.defineProperty(request.headers, "delete", { value: refuse });
    const copy = withoutWithheld(request);
    expect([copy.method, await copy.text()]).toEqual(["POST", "a question"]);
    expect(names(copy)).not.toContain("if-none-match");
  });
});

describe("a route handler of Next", () => {
  const pay = createNext(OPTIONS);

  it("keeps its params, and names the server by the host that the buyer asked", async () => {
    const free = pay("free")(async (_request: Request, { params }: { params: Promise<{ id: string }> }) =>
      Response.json(await params),
    );
    expect(await (await free(new Request(URL_), { params: Promise.resolve({ id: "7" }) })).json()).toEqual({ id: "7" });
    const priced = pay("$0.01")(() => new Response("goods"));
    const unpaid = await priced(new Request("http://localhost:3000/a", { headers: { Host: "shop.example" } }), {});
    expect(unpaid.status).toBe(402);
    expect(JSON.stringify(await unpaid.json())).toContain("http://shop.example/a");
  });
});

describe("the audit of a server that lists its routes", () => {
  it("shows each price, and fails for keys that none answers and for what is no route", async () => {
    const pay = createPaywall(OPTIONS);
    pay.routes({ "GET /a/:id": "$0.01", "/files/*": "$0.02" });
    expect(pay.audit(["GET /a/:name", "/files/*", "POST /b"]).lines).toEqual([
      "GET /a/:name  $0.01",
      "ALL /files/*  $0.02",
      "POST /b  UNPRICED",
    ]);
    expect(() => pay.audit(["POST /a/:id", "/files/*"])).toThrow(/no route of the app answers GET/);
    expect(() => pay.audit(["a"])).toThrow(/write "GET \/path"/);
    await pay.close();
  });
});
