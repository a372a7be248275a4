import { describe, expect, it } from "vitest";
import { takesRetryKey, toPaymentHeaders } from "../../src/client/envelope.js";
import type { Challenge } from "../../src/client/offer.js";
import { decodeProof } from "../../src/proof.js";
import { decodeHeader } from "../../src/wire/header.js";
import { inner } from "../wire/fixtures.js";
import { challengeV1, challengeV2, evm, inV1, type Json, read, spl } from "./challenges.js";

const KEY = "0123456789abcdef0123456789abcdef";
const IDENTIFIER = { info: { required: false }, schema: { type: "object" } };

async function challengeOf(answer: Parameters<typeof read>[0]): Promise<Challenge> {
  const made = await read(answer);
  if (!made.ok) throw new Error(made.reason);
  return made.challenge;
}

/** What is sent for the first offer: the header's name, its text, and what it says. */
function send(challenge: Challenge, retryKey = KEY) {
  const [offer] = challenge.offers;
  if (!offer) throw new Error("no offer");
  const entries = Object.entries(toPaymentHeaders({ challenge, offer, payload: inner, retryKey }));
  const [name = "", text = ""] = entries[0] ?? [];
  const decoded = decodeHeader(text);
  if (entries.length !== 1 || !decoded.ok) throw new Error("not one header that can be read");
  return { name, text, value: decoded.value as Json };
}

describe("a payment of version 2", () => {
  const given = evm({ unknown: [1, { a: null }], extra: { name: "USDC", version: "2", more: { b: 1.5 } } });
  const resource = {
    url: "https://shop.example/report?id=7",
    description: "Café 報告",
    mimeType: "text/plain",
    tags: ["a"],
  };

  it("sends the offer and the resource back as they came, unknown members included", async () => {
    const { name, value } = send(await challengeOf({ header: challengeV2([given], { resource }) }));
    expect(name).toBe("PAYMENT-SIGNATURE");
    expect(value).toEqual({ x402Version: 2, resource, accepted: given, payload: inner });
  });

  it("is plain ASCII in standard padded base64, whatever the seller wrote", async () => {
    const { text } = send(await challengeOf({ header: challengeV2([given], { resource }) }));
    expect(text).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is that nothing outside ASCII is left
    expect(Buffer.from(text, "base64").toString("latin1")).toMatch(/^[\u0000-\u007f]*$/);
  });

  it("names no resource and no extensions where the seller named none", async () => {
    const { value } = send(await challengeOf({ header: challengeV2([given], { resource: null }) }));
    expect(Object.keys(value).sort()).toEqual(["accepted", "payload", "x402Version"]);
  });

  it("carries the retry key where the seller takes it, and all extensions with it", async () => {
    const extensions = { bazaar: { info: { a: 1 }, schema: {} }, "payment-identifier": IDENTIFIER };
    const challenge = await challengeOf({ header: challengeV2([given], { extensions }) });
    expect(takesRetryKey(challenge)).toBe(true);
    expect(send(challenge).value.extensions).toEqual({
      bazaar: { info: { a: 1 }, schema: {} },
      "payment-identifier": { info: { required: false, id: KEY }, schema: { type: "object" } },
    });
  });

  it("carries no retry key where the seller takes none, or where it is none", async () => {
    const bazaar = { bazaar: { info: {}, schema: {} } };
    for (const extensions of [bazaar, { ...bazaar, "payment-identifier": "yes" }]) {
      const challenge = await challengeOf({ header: challengeV2([given], { extensions }) });
      expect(takesRetryKey(challenge)).toBe(false);
      expect(send(challenge).value.extensions).toEqual(extensions);
    }
    const challenge = await challengeOf({
      header: challengeV2([given], { extensions: { "payment-identifier": IDENTIFIER } }),
    });
    for (const bad of ["short", "x".repeat(129), "a key with spaces in it"]) {
      expect(send(challenge, bad).value.extensions).toEqual({ "payment-identifier": IDENTIFIER });
    }
  });

  it("leaves out other extensions where they make the header longer than servers take", async () => {
    const extensions = { bazaar: { info: { text: "x".repeat(8_000) }, schema: {} }, "payment-identifier": IDENTIFIER };
    const { text, value } = send(await challengeOf({ header: challengeV2([given], { extensions }) }));
    expect(text.length).toBeLessThan(8 * 1024);
    expect(value.extensions).toMatchObject({ "payment-identifier": { info: { id: KEY } } });
    expect(value.extensions).not.toHaveProperty("bazaar");
  });
});

describe("a payment of version 1", () => {
  it("names scheme and network in the seller's own words, and echoes nothing", async () => {
    for (const network of ["base-sepolia", "eip155:84532"]) {
      const { name, value } = send(await challengeOf({ body: challengeV1([inV1(evm(), { network })]) }));
      expect(name).toBe("X-PAYMENT");
      expect(value).toEqual({ x402Version: 1, scheme: "exact", network, payload: inner });
    }
    const alias = spl({ network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" });
    const { value } = send(await challengeOf({ body: challengeV1([inV1(alias, { network: "solana-mainnet-beta" })]) }));
    expect(value.network).toBe("solana-mainnet-beta");
  });
});

it("is read by our own paywall, with the key, in both versions", async () => {
  const extensions = { "payment-identifier": IDENTIFIER };
  const v2 = send(await challengeOf({ header: challengeV2([evm()], { extensions }) })).text;
  expect(decodeProof({ v1: undefined, v2, idempotencyKey: undefined })).toMatchObject({
    ok: true,
    proof: { version: 2, retryKey: KEY, inner: { kind: "authorization", authorization: { value: 10_000n } } },
  });
  const v1 = send(await challengeOf({ body: challengeV1([inV1(evm())]) })).text;
  expect(decodeProof({ v1, v2: undefined, idempotencyKey: KEY })).toMatchObject({
    ok: true,
    proof: { version: 1, retryKey: KEY },
  });
});
