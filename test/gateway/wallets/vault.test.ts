import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { createVault, newSalt, opensWord, sealWord, type Vault } from "../../../src/gateway/wallets/vault.js";
import { PASSPHRASE } from "./databases.js";

const place = { account: "acc_one", wallet: "wal_one" };
const secret = randomBytes(32);
const salt = newSalt();
let vault: Vault;

beforeAll(async () => {
  vault = await createVault(PASSPHRASE, salt);
});

describe("the vault", () => {
  it("opens what it has sealed, in its place", () => {
    expect(vault.open(vault.seal(secret, place), place)).toEqual(secret);
  });

  it("seals the same secret differently each time, and shows nothing of it", () => {
    const sealed = Array.from({ length: 50 }, () => vault.seal(secret, place));
    expect(new Set(sealed).size).toBe(50);
    for (const text of sealed) expect(Buffer.from(text, "base64").includes(secret.subarray(0, 8))).toBe(false);
  });

  it("says in the sealed form with which version and cost it was sealed", () => {
    expect([...Buffer.from(vault.seal(secret, place), "base64").subarray(0, 4)]).toEqual([1, 17, 8, 1]);
  });

  it.each([
    ["another account", { ...place, account: "acc_two" }],
    ["another wallet", { ...place, wallet: "wal_two" }],
    ["a place whose words run together", { account: "acc_onewal_", wallet: "one" }],
    ["the place of the check word", { account: "", wallet: "check" }],
  ])("does not open a sealed key for %s", (_, other) => {
    expect(vault.open(vault.seal(secret, place), other)).toBeUndefined();
  });

  it("does not open what was changed, at any byte", () => {
    const sealed = Buffer.from(vault.seal(secret, place), "base64");
    for (const [at, byte] of sealed.entries()) {
      const changed = Buffer.from(sealed);
      changed[at] = byte ^ 1;
      expect(vault.open(changed.toString("base64"), place)).toBeUndefined();
    }
  });

  it("does not open what was cut short or is nothing at all", () => {
    const sealed = Buffer.from(vault.seal(secret, place), "base64");
    for (let length = 0; length < sealed.length; length++) {
      expect(vault.open(sealed.subarray(0, length).toString("base64"), place)).toBeUndefined();
    }
    expect(vault.open("not base64 at all", place)).toBeUndefined();
  });

  it("opens nothing under another passphrase or another salt", async () => {
    const sealed = vault.seal(secret, place);
    const [passphrase, salted] = await Promise.all([
      createVault(`${PASSPHRASE}.`, salt),
      createVault(PASSPHRASE, newSalt()),
    ]);
    expect([passphrase, salted].map((other) => other.open(sealed, place))).toEqual([undefined, undefined]);
    expect([vault, passphrase, salted].map((other) => opensWord(other, sealWord(vault)))).toEqual([true, false, false]);
  });

  it("takes a passphrase as it looks, however it was typed", async () => {
    const [composed, apart] = ["siebzehn süße Äpfel", "siebzehn süße Äpfel".normalize("NFD")];
    expect(apart).not.toBe(composed);
    const sealed = (await createVault(composed, salt)).seal(secret, place);
    expect((await createVault(apart, salt)).open(sealed, place)).toEqual(secret);
  });

  it("refuses a salt that is none", async () => {
    await expect(createVault(PASSPHRASE, "c2hvcnQ=")).rejects.toThrow("must have 16 bytes, got 5");
  });
});
