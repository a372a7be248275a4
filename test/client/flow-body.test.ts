// Bodies of every kind: what a paid try sends is, byte for byte and with its Content-Type, what fetch itself would have sent.
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { dice } from "../support/dice.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const roll = dice(7);
const bytes = (size: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: size }, () => roll(256));
const RANDOM = bytes(70_000);
// No empty one: a fetch of Node waits for ever after it.
const PARTS = [RANDOM.slice(0, 1), RANDOM.slice(1, 40_000), RANDOM.slice(40_000)];

async function* parts(): AsyncGenerator<Uint8Array> {
  for (const part of PARTS) yield part;
}

const form = (): FormData => {
  const made = new FormData();
  made.append("name", "käse\r\nand a second line");
  made.append("name", "again");
  made.append("file", new Blob([RANDOM], { type: "image/png" }), 'a "file".png');
  return made;
};

type Init = RequestInit & { duplex?: "half" };
const half = { duplex: "half" } as const;
/** Each makes the init of one call anew, because some bodies can be read once only. */
const KINDS: Record<string, () => Init> = {
  "a string": () => ({ body: "text with ümlaut" }),
  "an empty string": () => ({ body: "" }),
  URLSearchParams: () => ({ body: new URLSearchParams({ a: "b c", ü: "&" }) }),
  "a Blob": () => ({ body: new Blob([RANDOM], { type: "application/pdf" }) }),
  "a Blob without a type": () => ({ body: new Blob([RANDOM]) }),
  "an ArrayBuffer": () => ({ body: RANDOM.buffer }),
  "a typed array": () => ({ body: RANDOM }),
  "a view of a part": () => ({ body: new DataView(RANDOM.buffer, 100, 1000) }),
  "a Buffer": () => ({ body: Buffer.from(RANDOM) }),
  "a stream": () => ({ body: new Blob([RANDOM]).stream(), ...half }),
  "a stream of bytes with a type": () => ({
    body: Readable.toWeb(Readable.from(parts())) as ReadableStream<Uint8Array>,
    headers: { "content-type": "application/x-own" },
    ...half,
  }),
  "an async iterable": () => ({ body: parts() as never, ...half }),
  "a stream of Node": () => ({ body: Readable.from(parts()) as never, ...half }),
  "a string under the caller's own type": () => ({ body: "{}", headers: [["Content-Type", "application/json"]] }),
};

describe.each(Object.entries(KINDS))("%s", (_name, make) => {
  it("arrives on the paid try as on the plain fetch, also where the same proof goes out again", async () => {
    const plain = await seller(() => goods());
    await fetch(plain.url, { method: "POST", ...make() });
    const shop = await seller(sells("drop", { status: 503 }, goods()));
    expect((await flowBuyer().pay(shop.url, { method: "POST", ...make() })).status).toBe(200);
    const [sent] = plain.requests;
    expect(shop.paid).toHaveLength(3);
    for (const { method, body, headers } of shop.requests) {
      expect(method).toBe("POST");
      expect(body.equals(sent!.body)).toBe(true);
      expect(headers["content-type"]).toBe(sent!.headers["content-type"]);
    }
  });

  it("arrives from within a Request as well", async () => {
    const plain = await seller(() => goods());
    await fetch(new Request(plain.url, { method: "PUT", ...make() }));
    const shop = await seller(sells("drop", goods()));
    expect((await flowBuyer().pay(new Request(shop.url, { method: "PUT", ...make() }))).status).toBe(200);
    for (const { method, body, headers } of shop.requests) {
      expect(method).toBe("PUT");
      expect(body.equals(plain.requests[0]!.body)).toBe(true);
      expect(headers["content-type"]).toBe(plain.requests[0]!.headers["content-type"]);
    }
  });

  it("is the same request when it is made anew: the pending proof is found", async () => {
    const shop = await seller(sells("drop", goods()));
    const { pay, wallet } = flowBuyer({ resend: { times: 0 } });
    await expect(pay(shop.url, { method: "POST", ...make() })).rejects.toMatchObject({ code: "outcome_unknown" });
    expect((await pay(shop.url, { method: "POST", ...make() })).status).toBe(200);
    expect(wallet.signed).toHaveLength(1);
    expect(shop.paid[1]?.body.equals(shop.paid[0]!.body)).toBe(true);
  });
});

describe("a form", () => {
  const read = ({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) =>
    new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData();

  it("arrives whole, and is the same bytes each time it is made, so that its proof can go out again", async () => {
    const shop = await seller(sells("drop", "drop", goods()));
    const { pay, wallet } = flowBuyer({ resend: { times: 1 } });
    await expect(pay(shop.url, { method: "POST", body: form() })).rejects.toMatchObject({ code: "outcome_unknown" });
    expect((await pay(shop.url, { method: "POST", body: form() })).status).toBe(200);
    expect(wallet.signed).toHaveLength(1);
    const [first, ...others] = shop.paid;
    for (const other of others) {
      expect(other.body.equals(first!.body)).toBe(true);
      expect(other.headers["content-type"]).toBe(first!.headers["content-type"]);
    }
    for (const request of shop.requests) {
      const got = await read(request);
      expect(got.getAll("name")).toEqual(form().getAll("name"));
      const file = got.get("file") as File;
      expect([file.name, file.type]).toEqual(['a "file".png', "image/png"]);
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(RANDOM))).toBe(true);
    }
  });

  it("with other content is another request", async () => {
    const shop = await seller(sells("drop", goods()));
    const { pay, wallet } = flowBuyer({ resend: { times: 0 } });
    await expect(pay(shop.url, { method: "POST", body: form() })).rejects.toThrow();
    const other = form();
    other.append("name", "one more");
    await pay(shop.url, { method: "POST", body: other });
    expect(wallet.signed).toHaveLength(2);
  });
});

describe("a body that can be read once only", () => {
  const cap = { maxBodyBytes: 1_000 };
  const stream = (size: number) => new Blob([bytes(size)]).stream();

  it("above the cap goes through where it is free, and is not paid for", async () => {
    const free = await seller(() => ({ status: 200, body: "free" }));
    const { pay, wallet } = flowBuyer(cap);
    expect((await pay(free.url, { method: "POST", body: stream(500_000), ...half })).status).toBe(200);
    expect(free.requests[0]?.body).toHaveLength(500_000);
    const shop = await seller();
    const paid = pay(shop.url, { method: "POST", body: stream(1_001), ...half });
    await expect(paid).rejects.toMatchObject({ code: "body_not_repeatable", money: "none" });
    expect(shop.requests[0]?.body).toHaveLength(1_001);
    expect(wallet.signed).toHaveLength(0);
    expect((await pay(shop.url, { method: "POST", body: stream(1_000), ...half })).status).toBe(200);
  });

  it("is copied no further than the cap, however much flows", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(1_000));
        },
      },
      { highWaterMark: 0 },
    );
    const never = (() => new Promise(() => {})) as typeof globalThis.fetch;
    void flowBuyer({ maxBodyBytes: 10_000, fetch: never }).pay("https://api.example/", {
      method: "POST",
      body: endless,
      ...half,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pulled).toBeLessThanOrEqual(12);
  });

  it("is told that nobody reads it any more, as by the plain fetch", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        cancelled = true;
      },
    });
    const stop = new AbortController();
    const refuse = (async (_url: unknown, init: RequestInit) => {
      await (init.body as ReadableStream).cancel();
      return new Response("enough");
    }) as typeof globalThis.fetch;
    await flowBuyer({ fetch: refuse, maxBodyBytes: 1_000 }).pay("https://api.example/", {
      method: "POST",
      body,
      ...half,
      signal: stop.signal,
    });
    expect(cancelled).toBe(true);
  });

  it("that ends in an error is not paid for", async () => {
    const answers = (async () =>
      new Response("{}", { status: 402, headers: asks().headers! })) as typeof globalThis.fetch;
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("the disk is gone")) });
    const { pay, wallet } = flowBuyer({ fetch: answers });
    const paid = pay("https://api.example/", { method: "POST", body, ...half });
    await expect(paid).rejects.toMatchObject({ code: "body_not_repeatable" });
    expect(wallet.signed).toHaveLength(0);
  });

  it("is paid for also where the 402 came before it was sent whole", async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    async function* slow() {
      yield RANDOM.slice(0, 10);
      await gate;
      yield RANDOM.slice(10);
    }
    const early = (async (_url: string, init: RequestInit) => {
      if (new Headers(init.headers).has("payment-signature")) return new Response(init.body as Uint8Array<ArrayBuffer>);
      setTimeout(go, 20);
      return new Response("{}", { status: 402, headers: asks().headers! });
    }) as typeof globalThis.fetch;
    const { pay } = flowBuyer({ fetch: early });
    const response = await pay("https://api.example/", { method: "POST", body: slow() as never, ...half });
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(RANDOM))).toBe(true);
  });
});

it("a body of a foreign class is not paid for, because nobody knows what was sent", async () => {
  class Foreign {
    get [Symbol.toStringTag]() {
      return "FormData";
    }
  }
  const shop = await seller();
  const { pay, wallet } = flowBuyer();
  for (const body of [new Foreign(), { plain: "object" }])
    await expect(pay(shop.url, { method: "POST", body: body as never })).rejects.toMatchObject({
      code: "body_not_repeatable",
    });
  expect(wallet.signed).toHaveLength(0);
});

describe("what its owner changes while the call is on its way", () => {
  const text = new TextEncoder();
  it.each<[string, () => { readonly body: NonNullable<RequestInit["body"]>; change(): void }]>([
    [
      "a typed array",
      () => {
        const body = text.encode("it was");
        return { body, change: () => body.fill(0) };
      },
    ],
    [
      "URLSearchParams",
      () => {
        const body = new URLSearchParams({ as: "was" });
        return { body, change: () => body.set("as", "is now") };
      },
    ],
    [
      "FormData",
      () => {
        const body = new FormData();
        body.set("as", "was");
        return { body, change: () => body.set("as", "is now") };
      },
    ],
  ])("%s is paid for as it was", async (_name, make) => {
    const { body, change } = make();
    const shop = await seller((request, count) => {
      if (count === 0) change();
      return sells(goods())(request, count);
    });
    await flowBuyer().pay(shop.url, { method: "POST", body });
    const [first, paid] = shop.requests;
    expect(paid?.body.includes("was")).toBe(true);
    expect(paid?.body.includes("is now")).toBe(false);
    expect(first?.body.includes("was")).toBe(true);
  });
});
