// Answers that are remembered are those of their own route and URL, however many were asked for in between.
import { describe, expect, it } from "vitest";
import { prepareChallenge } from "../src/challenge.js";
import { decodeHeader } from "../src/wire/header.js";

const challengeOf = (description: string) => prepareChallenge([], { description, mimeType: "text/plain" });

function named(answer: { readonly headers: readonly (readonly [string, string])[] }): unknown {
  const text = answer.headers.find(([name]) => name === "PAYMENT-REQUIRED")?.[1] ?? "";
  const decoded = decodeHeader(text);
  return decoded.ok ? (decoded.value as { resource: unknown }).resource : decoded;
}

describe("a challenge that is asked for again", () => {
  it("is the same answer for the same URL", () => {
    const challenge = challengeOf("a report");
    expect(challenge.required("https://shop.test/a")).toBe(challenge.required("https://shop.test/a"));
  });

  it("is its own route's, also where another paywall has answered for this URL", () => {
    const [first, second] = [challengeOf("a report"), challengeOf("a picture")];
    const url = "https://shop.test/b";
    for (const [challenge, description] of [
      [first, "a report"],
      [second, "a picture"],
      [first, "a report"],
    ] as const)
      expect(named(challenge.required(url))).toEqual({ url, description, mimeType: "text/plain" });
  });

  it("names the URL that was asked for after any number of others", () => {
    const challenge = challengeOf("a report");
    for (let turn = 0; turn < 2; turn += 1) {
      for (let page = 0; page < 600; page += 1) {
        const url = `https://shop.test/pages?page=${page}`;
        expect(named(challenge.required(url))).toMatchObject({ url });
      }
    }
  });
});
