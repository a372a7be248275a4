// The options of `hosted()`: everything wrong at once, by name, and never a word of the key.
import { describe, expect, it } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import { hosted } from "../../src/receive/hosted.js";
import { readHostedOptions } from "../../src/receive/hosted-options.js";

const KEY = `tg_test_${"A".repeat(44)}`;
const good = { baseUrl: "https://pay.example/gateway", apiKey: KEY };

function refused(input: unknown): readonly string[] {
  try {
    readHostedOptions(input);
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    expect(error.message).not.toContain("A".repeat(20));
    return error.problems.map(({ path, code }) => `${path} ${code}`);
  }
  return [];
}

describe("the options of hosted()", () => {
  it("are a base URL and a key, and nothing else has to be said", () => {
    expect(readHostedOptions(good)).toEqual(good);
    expect(hosted(good)).toMatchObject({ name: "hosted", methods: ["eip3009", "spl", "transaction"] });
  });

  it.each([
    ["nothing", undefined, "hosted invalid"],
    ["no URL", { apiKey: KEY }, "hosted.baseUrl required"],
    ["no key", { baseUrl: good.baseUrl }, "hosted.apiKey required"],
    ["a URL with credentials", { ...good, baseUrl: `https://${KEY}@pay.example` }, "hosted.baseUrl invalid"],
    ["a URL with a query", { ...good, baseUrl: "https://pay.example?a=1" }, "hosted.baseUrl invalid"],
    ["another scheme", { ...good, baseUrl: "ftp://pay.example" }, "hosted.baseUrl invalid"],
    ["a key of another form", { ...good, apiKey: "sk_live_1" }, "hosted.apiKey invalid"],
    ["a key with a line break", { ...good, apiKey: `${KEY}\n` }, "hosted.apiKey invalid"],
    ["a token without decimals", { ...good, tokens: [{ network: "base", address: "0x0" }] }, "hosted.tokens invalid"],
    ["less time than the gateway needs", { ...good, timeoutMs: 4_999 }, "hosted.timeoutMs invalid"],
    ["an unknown option", { ...good, url: "https://pay.example" }, "hosted.url unknown_option"],
  ])("are refused where they have %s", (_name, input, problem) => {
    expect(refused(input)).toEqual([problem]);
  });

  it("say of an empty key that it is empty, and show no other one", () => {
    expect(() => hosted({ ...good, apiKey: "" })).toThrow(/got an empty text/);
    expect(() => hosted({ ...good, apiKey: "sk_live_1" })).toThrow(/got something else \(not shown\)/);
  });

  it("come with every problem at once", () => {
    expect(refused({ baseUrl: 1, apiKey: 2, timeoutMs: "soon", other: true })).toEqual([
      "hosted.baseUrl invalid",
      "hosted.apiKey invalid",
      "hosted.timeoutMs invalid",
      "hosted.other unknown_option",
    ]);
  });
});
