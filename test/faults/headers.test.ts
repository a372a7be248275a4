// Headers, CORS and caches: what a page on another origin must be able to read, what no proxy may invent, and headers of
// every size, shape and alphabet.
import { afterEach, describe, expect, it } from "vitest";
import { send as sendRaw } from "../adapters/wire.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { answer } from "../support/scripted-facilitator.js";
import { createWorld, makeRequest } from "../support/world.js";
import { ask, required, signFor } from "./buyer.js";
import { openShop, type Shop, type ShopOptions } from "./shop.js";

let shop: Shop | undefined;
const open = async (...args: Parameters<typeof openShop>) => {
  shop = await openShop(...args);
  return shop;
};
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
const listed = (value: string | undefined) => String(value).split(/,\s*/);
const PAGE = "https://page.test";

describe.each(FRAMEWORKS)("headers on %s", (framework) => {
  it("F41: a page on an allowed origin can read the challenge of a 402 and the receipt of a 200, in both versions", async () => {
    const { url } = await open(framework, { cors: { origins: [PAGE] } });
    const origin = { Origin: PAGE };
    const unpaid = await ask(`${url}/report`, { headers: origin });
    const paid = [];
    for (const version of [1, 2] as const) {
      const { headers } = await signFor(`${url}/report`, { version });
      paid.push(await ask(`${url}/report`, { headers: { ...headers, ...origin } }));
    }
    expect([unpaid, ...paid].map(({ status }) => status)).toEqual([402, 200, 200]);
    for (const { headers } of [unpaid, ...paid]) {
      expect(headers["access-control-allow-origin"]).toBe(PAGE);
      expect(listed(headers["access-control-expose-headers"])).toEqual(
        expect.arrayContaining(["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"]),
      );
    }
    expect(paid.map(({ headers }) => headers["payment-response"] ?? headers["x-payment-response"])).not.toContain(
      undefined,
    );
    const stranger = await ask(`${url}/report`, { headers: { Origin: "https://evil.test" } });
    expect(stranger.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("F43: beside the app's own CORS headers there is one origin line, and both expose lists are one", async () => {
    const appHeaders = { "Access-Control-Allow-Origin": PAGE, "Access-Control-Expose-Headers": "X-Foo" };
    for (const cors of [undefined, { origins: [PAGE] }]) {
      const { url, port } = await open(framework, { appHeaders, ...(cors && { cors }) });
      const { headers } = await signFor(`${url}/report`);
      for (const payment of [{}, headers]) {
        const got = await sendRaw(port, "/report", { headers: { Origin: PAGE, ...payment } });
        expect(got.status).toBe(payment === headers ? 200 : 402);
        expect(got.headers["access-control-allow-origin"]).toBe(PAGE);
        const names = listed(got.headers["access-control-expose-headers"]);
        expect(names).toEqual(expect.arrayContaining(["X-Foo", "PAYMENT-RESPONSE", "PAYMENT-REQUIRED"]));
        expect(new Set(names).size).toBe(names.length);
      }
      await shop?.close();
    }
    shop = undefined;
  });

  it("F45: payment headers of 8,191 to 1,000,000 bytes are refused as a mistake of the sender, and nothing runs", async () => {
    const { port, runs, remote } = await open(framework, { maxHeaderSize: 4 * 1024 * 1024 });
    for (const [size, code] of [
      [8191, "payment_malformed"],
      [8193, "payment_malformed"],
      [64_000, "payment_header_too_large"],
      [1_000_000, "payment_header_too_large"],
    ] as const) {
      for (const name of ["X-PAYMENT", "PAYMENT-SIGNATURE"]) {
        const got = await sendRaw(port, "/report", { headers: { [name]: "QUFB".repeat(size / 4 + 1).slice(0, size) } });
        expect([size, got.status, JSON.parse(got.text).code]).toEqual([size, 400, code]);
      }
    }
    expect([runs.length, remote.requests.filter(({ endpoint }) => endpoint !== "supported").length]).toEqual([0, 0]);
  });

  it("F46: a header of every wrong shape is a 400 or 402 with its reason, never a 5xx", async () => {
    const { port, runs, remote } = await open(framework, { verify: "remote" });
    // A signature of any length may be a smart wallet's: what "0x00" is worth only the chain behind the facilitator knows.
    remote.always("verify", answer.invalid("invalid_exact_evm_payload_signature"));
    const deep = `${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`;
    const shapes = ["garbage", "[]", "null", "1", '"x"', "{}", '{"x402Version":2,"note":"hello"}', deep];
    const short = {
      x402Version: 1,
      scheme: "exact",
      network: "base-sepolia",
      payload: { signature: "0x00", authorization: {} },
    };
    const { payload, headers } = await signFor(`${shop?.url}/report`);
    const signed = payload as { payload: object };
    const cut = { ...signed, payload: { ...signed.payload, signature: "0x00" } };
    for (const shape of [...shapes, JSON.stringify(short), JSON.stringify(cut)]) {
      for (const value of [shape, Buffer.from(shape).toString("base64")]) {
        if (value.length > 15_000 || value === "") continue;
        for (const name of ["X-PAYMENT", "PAYMENT-SIGNATURE"]) {
          const got = await sendRaw(port, "/report", { headers: { [name]: value } });
          expect([400, 402], `${name}: ${value.slice(0, 60)}`).toContain(got.status);
          expect(JSON.parse(got.text).code).toMatch(/^[a-z_]+$/);
        }
      }
    }
    expect(runs).toHaveLength(0);
    remote.always("verify", answer.honest());
    expect((await ask(`${shop?.url}/report`, { headers })).status).toBe(200);
  });

  it.each(["One report — now", "Ein Bericht 📊 über 報告書", "USD₮0 für 1 €"])(
    "F49: a description and a token beyond Latin-1 (%s) arrive letter by letter, and the paid retry works",
    async (description) => {
      const price = {
        amount: "10000",
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        domain: { name: "USD₮0", version: "1" },
      };
      const { url, port } = await open(framework, { routes: [{ path: "/report", price, options: { description } }] });
      const raw = await sendRaw(port, "/report");
      expect(Object.values(raw.headers).join("")).toMatch(/^[\x20-\x7e\n]*$/);
      expect(required(await ask(`${url}/report`))).toMatchObject({
        resource: { description },
        accepts: [{ extra: { name: "USD₮0" } }],
      });
      expect(JSON.parse(raw.text).accepts).toMatchObject([{ description, extra: { name: "USD₮0" } }]);
      for (const version of [1, 2] as const) {
        const got = await ask(`${url}/report`, await signFor(`${url}/report`, { version }));
        expect([got.status, got.body]).toEqual([200, "the goods"]);
      }
    },
  );

  it("F50: one payment in four encodings is accepted once in total", async () => {
    const { url, runs, remote } = await open(framework);
    const { name, value } = await signFor(`${url}/report`);
    const base64url = value.replaceAll("+", "-").replaceAll("/", "_");
    const encodings = [value, value.replace(/=+$/, ""), base64url, base64url.replace(/=+$/, "")];
    const all = await Promise.all(encodings.map((text) => ask(`${url}/report`, { headers: { [name]: ` ${text} ` } })));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect([runs.length, remote.settled.size]).toEqual([1, 1]);
  });

  it("F52: a forwarded host is named only where the proxy is trusted, and publicUrl outranks everything", async () => {
    const forwarded = { "X-Forwarded-Host": "evil.test", "X-Forwarded-Proto": "https" };
    const ways: [ShopOptions, RegExp][] = [
      [{}, /^http:\/\/127\.0\.0\.1:\d+\/report\?id=7$/],
      [{ trustProxy: true }, /^https:\/\/evil\.test\/report\?id=7$/],
      [{ publicUrl: "https://shop.example" }, /^https:\/\/shop\.example\/report\?id=7$/],
      [{ publicUrl: "https://shop.example", trustProxy: true }, /^https:\/\/shop\.example\/report\?id=7$/],
    ];
    for (const [options, expected] of ways) {
      const { url } = await open(framework, options);
      const got = await ask(`${url}/report?id=7`, { headers: forwarded });
      expect((required(got).resource as { url: string }).url).toMatch(expected);
      expect((got.json.accepts as { resource: string }[])[0]?.resource).toMatch(expected);
      await shop?.close();
    }
    shop = undefined;
  });
});

it("F45: a header of a megabyte costs less than one of 8 KiB that has to be decoded, and nothing is kept of it", async () => {
  const world = createWorld();
  const time = async (size: number) => {
    const headers = { "X-PAYMENT": "QUFB".repeat(size / 4) };
    const times: number[] = [];
    for (let round = 0; round < 51; round += 1) {
      const started = performance.now();
      await world.guard(makeRequest({ headers }));
      times.push(performance.now() - started);
    }
    return times.sort((a, b) => a - b)[25] ?? Number.POSITIVE_INFINITY;
  };
  for (const size of [8_192, 64_000, 1_000_000]) expect(await time(size)).toBeLessThan(5);
});
