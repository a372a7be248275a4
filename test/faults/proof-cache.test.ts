// The identity of a proof: every spelling of one payment is the same payment, and a forgery neither passes for it nor
// spoils it.
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS, type Got } from "../e2e/seller.js";
import { ask, signFor } from "./buyer.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

type Json = { payload: { signature: string; authorization: Record<string, unknown> } } & Record<string, unknown>;
const read = (value: string): Json => JSON.parse(Buffer.from(value, "base64").toString("utf8"));
const written = (name: string, text: string) => ({ headers: { [name]: Buffer.from(text).toString("base64") } });

const grants = (all: readonly Got[]) => all.filter(({ status }) => status < 300).length;

describe.each(FRAMEWORKS)("one proof on %s", (framework) => {
  it("A20: with 50 variants of its signature bytes is one grant", async () => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const { name, value, signature } = await signFor(url);
    const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
    const flipped = v === "1b" ? "1c" : "1b";
    const high = (ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, "0");
    const variants = [
      ...[signature, signature.toUpperCase().replace("0X", "0x"), `0x${r}${s}${v === "1b" ? "00" : "01"}`],
      ...[`0x${r}${high}${flipped}`, `0x${r}${high}${v}`, `0x${r}${s}${flipped}`, `0x${r}${s}`, `0x${s}${r}${v}`],
      ...Array.from({ length: 42 }, (_, at) => `${signature}${at.toString(16).padStart(2, "0")}`),
    ];
    expect(new Set(variants).size).toBe(50);
    const all = await Promise.all(
      variants.map((variant) => {
        const json = read(value);
        json.payload.signature = variant;
        return ask(url, written(name, JSON.stringify(json)));
      }),
    );
    expect([grants(all), shop.runs.length, shop.remote.settled.size]).toEqual([1, 1, 1]);
    expect(all.filter(({ status }) => status >= 500)).toEqual([]);
  });

  it("A21: with its nonce, numbers, spaces and keys written otherwise is one grant, and no other form is read", async () => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const payment = await signFor(url, { overrides: { nonce: `0x${"ab01".repeat(16)}` } });
    const { authorization } = read(payment.value).payload;
    const same = [{}, { nonce: `0x${"AB01".repeat(16)}` }, { from: String(authorization.from).toLowerCase() }];
    const malformed = [
      ...["01", 1, " 1", "1", `0X${"ab01".repeat(16)}`, `0x0${"ab01".repeat(16)}`].map((nonce) => ({ nonce })),
      ...["010000", 10000, "1e4", " 10000", "10000.0", "+10000"].map((value) => ({ value })),
    ];
    const texts = [...same, ...malformed].map((change) => {
      const json = read(payment.value);
      json.payload.authorization = { ...authorization, ...change };
      return JSON.stringify(json);
    });
    const reordered = Object.fromEntries(Object.entries(read(payment.value)).reverse());
    texts.push(JSON.stringify(reordered), JSON.stringify(read(payment.value), null, 2));
    const all = await Promise.all(texts.map((text) => ask(url, written(payment.name, text))));
    expect([grants(all), shop.runs.length, shop.remote.settled.size]).toEqual([1, 1, 1]);
    const refusals = all.slice(same.length, -2).map(({ status, json }) => [status, json.code]);
    expect(refusals).toEqual(malformed.map(() => [400, "payment_malformed"]));
  });

  it("A22: that a stranger sent first with a bad signature is accepted when it comes with its own", async () => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const payment = await signFor(url);
    const forged = read(payment.value);
    forged.payload.signature = (await signFor(url)).signature;
    for (let round = 0; round < 3; round += 1) {
      const got = await ask(url, written(payment.name, JSON.stringify(forged)));
      expect([got.status, got.json.code]).toEqual([402, "signature_invalid"]);
    }
    expect((await ask(url, payment)).status).toBe(200);
    const after = await ask(url, written(payment.name, JSON.stringify(forged)));
    expect([after.status, after.json.code, shop.runs.length]).toEqual([402, "signature_invalid", 1]);
  });
});
