import { describe, expect, it } from "vitest";
import { PaywallConfigError } from "../../../src/errors.js";
import { checkPassphrase } from "../../../src/gateway/wallets/passphrase.js";

/** What is refused, as one sentence with its remedy. */
function problemOf(passphrase: string): string | undefined {
  try {
    checkPassphrase(passphrase);
    return undefined;
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
  }
}

describe("a passphrase", () => {
  it.each(["", "tmp", "secret", "eleven char", "🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑"])(
    "is refused where it is short: %j",
    (passphrase) => {
      expect(problemOf(passphrase)).toMatch(
        /^TOLLGATE_WALLET_PASSPHRASE: expected at least 12 characters, got \d+: take five/,
      );
    },
  );

  it.each([
    "password1234",
    "Passphrase-2025!",
    "CHANGEME12345",
    "passwordpassword",
    "correct horse battery staple",
    "tollgate wallet passphrase",
    "123456789012",
    "210987654321",
    "abcdefghijklmnop",
    "aaaaaaaaaaaaaaaa",
    "abcabcabcabc",
    "            ",
  ])("is refused where everybody would try it first: %j", (passphrase) => {
    expect(problemOf(passphrase)).toMatch(
      /^TOLLGATE_WALLET_PASSPHRASE: expected a passphrase that nobody would try first/,
    );
  });

  it.each(["seven sober sailors sew sails", "kY7#vLq0-rT2", "пять смелых слонов", "四つの赤い魚が泳いでいる場所"])(
    "is taken: %j",
    (passphrase) => {
      expect(problemOf(passphrase)).toBeUndefined();
    },
  );

  it("stands in no message", () => {
    expect(problemOf("hunter2")).not.toContain("hunter2");
    expect(problemOf("Passphrase-2025!")).not.toContain("2025");
  });
});
