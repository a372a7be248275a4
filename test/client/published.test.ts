// The buyer at the published sellers of both protocol versions, on both chains: each kind of request is paid for once, by exactly
// the price, and arrives as it was sent.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reasonToSkip, type Server } from "../support/published.js";
import { type Family, type Goods, newBuyer, openShop, openStreet, type Street, sha256 } from "./published-shop.js";

const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);
/** "$0.01" in atomic USDC. */
const PRICE = 10_000n;

const SELLERS: readonly (readonly [Server, readonly Family[]])[] = [
  ["x402-express", ["evm", "solana"]],
  ["x402-hono", ["evm", "solana"]],
  ["@x402/express", ["evm", "solana"]],
  ["@x402/hono", ["evm", "solana"]],
  ["@faremeter/middleware", ["evm", "solana"]],
  ["mppx", ["evm"]],
];

interface Errand {
  readonly init: () => RequestInit & { duplex?: "half" };
  /** What the seller must have got; a form's boundary is the buyer's own. */
  readonly got: { readonly contentType: unknown; readonly sha256?: string };
}

const TEXT = "zwölf Boxkämpfer jagen Viktor";
const BYTES = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) % 251);
const form = () => {
  const made = new FormData();
  made.set("name", "Ada");
  made.set("file", new Blob([BYTES]), "a.bin");
  return made;
};
const stream = () => new Blob([BYTES]).stream();

const ERRANDS: Readonly<Record<string, Errand>> = {
  GET: { init: () => ({}), got: { contentType: null, sha256: sha256("") } },
  "POST without a body": { init: () => ({ method: "POST" }), got: { contentType: null, sha256: sha256("") } },
  "POST of a string": {
    init: () => ({ method: "POST", body: TEXT }),
    got: { contentType: "text/plain;charset=UTF-8", sha256: sha256(TEXT) },
  },
  "POST of JSON": {
    init: () => ({ method: "POST", body: '{"a":[1]}', headers: { "Content-Type": "application/json" } }),
    got: { contentType: "application/json", sha256: sha256('{"a":[1]}') },
  },
  "POST of URLSearchParams": {
    init: () => ({ method: "POST", body: new URLSearchParams({ q: "ä b" }) }),
    got: { contentType: expect.stringContaining("application/x-www-form-urlencoded"), sha256: sha256("q=%C3%A4+b") },
  },
  "POST of a Blob": {
    init: () => ({ method: "POST", body: new Blob([BYTES], { type: "image/png" }) }),
    got: { contentType: "image/png", sha256: sha256(BYTES) },
  },
  "POST of bytes": {
    init: () => ({ method: "POST", body: BYTES.slice(), headers: { "Content-Type": "application/x-own" } }),
    got: { contentType: "application/x-own", sha256: sha256(BYTES) },
  },
  "POST of a form": {
    init: () => ({ method: "POST", body: form() }),
    got: { contentType: expect.stringMatching(/^multipart\/form-data; boundary=/) },
  },
  "POST of a stream": {
    init: () => ({
      method: "POST",
      body: stream(),
      duplex: "half",
      headers: { "Content-Type": "application/octet-stream" },
    }),
    got: { contentType: "application/octet-stream", sha256: sha256(BYTES) },
  },
};

let street: Street;
beforeAll(async () => {
  if (!skipped) street = await openStreet();
});
afterAll(() => street?.close());

describe.skipIf(skipped)("payingFetch at the published sellers", () => {
  for (const [server, families] of SELLERS) {
    it(`pays ${server} for GET and for POST with each kind of body`, { timeout: 120_000 }, async () => {
      const shop = await openShop(street, server);
      for (const family of families) {
        const pay = await newBuyer(street);
        for (const [name, { init, got }] of Object.entries(ERRANDS)) {
          const response = await pay(shop.url(family), init());
          expect([name, response.status]).toEqual([name, 200]);
          const goods = (await response.json()) as Goods;
          expect({ name, ...goods }).toMatchObject({ name, ...got, method: init().method ?? "GET" });
        }
        const count = Object.keys(ERRANDS).length;
        expect(await shop.debits(family)).toEqual(Array(count).fill(PRICE));
        const bought = await pay.receipts();
        expect(bought).toHaveLength(count);
        for (const one of bought) {
          expect(one).toMatchObject({ status: "settled", served: true, amount: PRICE });
          expect(one.transaction).toMatch(family === "evm" ? /^0x[0-9a-f]{64}$/ : /^[1-9A-HJ-NP-Za-km-z]{86,88}$/);
        }
      }
      expect(await shop.runs()).toBe(families.length * Object.keys(ERRANDS).length);
    });
  }
});
