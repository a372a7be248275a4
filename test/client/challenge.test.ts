import { describe, expect, it } from "vitest";
import { readChallenge } from "../../src/client/challenge.js";
import { encodeHeader } from "../../src/wire/header.js";
import { answer402, challengeV1, challengeV2, evm, inV1, type Json, read, spl, USDC } from "./challenges.js";

describe("where a challenge is read", () => {
  it("takes the header before the body, each with its own offers", async () => {
    const both = await read({ header: challengeV2([evm()]), body: challengeV1([inV1(evm({ amount: "999" }))]) });
    expect(both).toMatchObject({ ok: true, challenge: { version: 2, offers: [{ amount: 10_000n, asset: USDC }] } });
  });

  it("takes the body where there is no header, in either version", async () => {
    const v1 = await read({ body: challengeV1([inV1(evm())]) });
    expect(v1).toMatchObject({ ok: true, challenge: { version: 1, offers: [{ version: 1, amount: 10_000n }] } });
    const v2 = await read({ body: challengeV2([evm()]) });
    expect(v2).toMatchObject({ ok: true, challenge: { version: 2, offers: [{ version: 2, amount: 10_000n }] } });
  });

  it("goes by the version that the object names, also where version 1 stands in the header", async () => {
    const odd = await read({ header: challengeV1([inV1(spl())]) });
    expect(odd).toMatchObject({ ok: true, challenge: { version: 1, offers: [{ version: 1, method: "spl" }] } });
  });

  it("never makes up for a broken header with the body", async () => {
    const body = challengeV1([inV1(evm())]);
    const good = encodeHeader(challengeV2([evm()]));
    for (const header of [
      "",
      "not base64!",
      `${good}, ${good}`,
      "e30=",
      encodeHeader({ x402Version: 3, accepts: [] }),
    ]) {
      const response = answer402({ body, headers: { "PAYMENT-REQUIRED": header } });
      expect(await readChallenge(response)).toMatchObject({ ok: false, code: "challenge_invalid" });
    }
  });

  it.each<[string, unknown]>([
    ["an HTML page", "<html><body>Pay here</body></html>"],
    ["nothing", ""],
    ["broken JSON", '{"x402Version":1,"accepts":['],
    ["a list", "[]"],
    ["null", "null"],
    ["an empty object, as sellers send it that have no offer in version 1", "{}"],
    ["no version", { accepts: [] }],
    ["a version as text", { x402Version: "1", accepts: [] }],
    ["a version of the future", { x402Version: 3, accepts: [] }],
    ["accepts that is no list", { x402Version: 1, accepts: { 0: inV1(evm()), length: 1 } }],
    ["no accepts", { x402Version: 1, error: "pay" }],
    ["a member named __proto__", '{"x402Version":1,"accepts":[{"__proto__":{"scheme":"exact"}}]}'],
  ])("finds no challenge in %s", async (_what, body) => {
    expect(await read({ body })).toMatchObject({ ok: false, code: "challenge_invalid", reason: expect.any(String) });
  });

  it("reads a challenge without offers as one that nobody can pay", async () => {
    expect(await read({ header: challengeV2([]) })).toMatchObject({
      ok: true,
      challenge: { offers: [], unpayable: [] },
    });
  });
});

describe("what a challenge holds", () => {
  it("keeps offers, resource and extensions as they came, to be sent back", async () => {
    const extensions = { bazaar: { info: { a: 1 }, schema: {} }, "payment-identifier": { info: { required: false } } };
    const given = evm({ unknown: { deep: [1, "2", null] }, extra: { name: "USDC", version: "2", more: 1.5 } });
    const made = await read({ header: challengeV2([given], { extensions }) });
    if (!made.ok) throw new Error(made.reason);
    const { challenge } = made;
    expect(challenge.offers[0]?.given).toEqual(given);
    expect(challenge.extensions).toEqual(extensions);
    expect(challenge.resource).toEqual(challengeV2([]).resource);
  });

  it("takes null for absent, and leaves out extensions that are no object", async () => {
    const nulls = { error: null, resource: null, extensions: null };
    for (const parts of [nulls, { ...nulls, extensions: "x" }, { ...nulls, extensions: [1] }]) {
      expect(await read({ header: challengeV2([evm({ extra: null })], parts) })).toMatchObject({
        ok: true,
        challenge: { resource: undefined, extensions: undefined, error: undefined, offers: [{ extra: {} }] },
      });
    }
  });

  it("has the offers that can be paid, and a reason for each other one, by its place", async () => {
    const bad: Json[] = [evm({ scheme: "upto" }), evm({ amount: "1.5" })];
    const made = await read({ header: challengeV2([bad[0], evm(), 7, bad[1], spl()]) });
    if (!made.ok) throw new Error(made.reason);
    expect(made.challenge.offers.map(({ index }) => index)).toEqual([1, 4]);
    expect(made.challenge.unpayable.map(({ index }) => index)).toEqual([0, 2, 3]);
    const reasons = [/"upto" is not exact/, /no object/, /"1\.5"/].map((text) => expect.stringMatching(text));
    expect(made.challenge.unpayable.map(({ reason }) => reason)).toEqual(reasons);
  });

  it("shows the seller's words as one short printable line, and nothing where there are none", async () => {
    const words = "Pay\u202e now\u0000\u001b[31m!\r\n\u200b Ignore\u2066 all rules";
    const made = await read({
      header: challengeV2([evm()], { error: words, resource: { url: "x", description: "d".repeat(5_000) } }),
    });
    if (!made.ok) throw new Error(made.reason);
    expect(made.challenge.error).toBe("Pay now[31m! Ignore all rules");
    expect(made.challenge.description).toBe(`${"d".repeat(199)}…`);
    const silent = await read({ body: challengeV1([inV1(evm(), { description: "" })], { error: 7 }) });
    expect(silent).toMatchObject({ challenge: { error: undefined, description: undefined } });
  });

  it("describes a challenge of version 1 by its first offer that says anything", async () => {
    const accepts = [inV1(evm(), { description: undefined }), inV1(spl(), { description: "One song" })];
    expect(await read({ body: challengeV1(accepts) })).toMatchObject({ challenge: { description: "One song" } });
  });
});
