// The store in a file: the contract, who may read it, and what happens where it cannot be read.
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileBuyerStore } from "../../src/client/file.js";
import type { BuyerStore } from "../../src/client/store.js";
import { PaywallConfigError } from "../../src/errors.js";
import { describeBuyerStore, limitOf, NOW, proofOf, purchaseOf, spendOf } from "./store-contract.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-buyer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a folder that is not there yet. */
const newPath = () => join(folder, randomUUID(), "spending.json");
const paths = new WeakMap<BuyerStore, string>();
function openStore(path = newPath()): BuyerStore {
  const store = fileBuyerStore(path);
  paths.set(store, path);
  return store;
}

describeBuyerStore(
  "file",
  () => openStore(),
  (store) => openStore(paths.get(store)),
);

const modeOf = (path: string) => statSync(path).mode & 0o777;
const pay = (store: BuyerStore, id = "a", amount = 1n) => store.reserve(spendOf(id, amount), [limitOf(10n)]);

describe("the file of a buyer", () => {
  it("holds the budget, proofs and purchases across a restart", async () => {
    const path = newPath();
    const store = openStore(path);
    await pay(store, "a", 7n);
    await store.keep(proofOf("r", "a"));
    await store.record(purchaseOf("a"));
    const next = openStore(path);
    expect(await pay(next, "b", 4n)).toMatchObject({ ok: false, spent: 7n });
    expect(await next.pending("r", NOW)).toEqual(proofOf("r", "a"));
    expect(await next.purchases()).toEqual([purchaseOf("a")]);
  });

  it("is for its owner alone, as is the folder that was made for it, and nothing is left beside it", async () => {
    const path = newPath();
    await pay(openStore(path));
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(join(path, ".."))).toBe(0o700);
    expect(readdirSync(join(path, ".."))).toEqual(["spending.json"]);
    chmodSync(path, 0o644);
    await pay(openStore(path), "b");
    expect(modeOf(path)).toBe(0o600);
  });

  it("is not made by asking", async () => {
    const path = newPath();
    const store = openStore(path);
    expect(await store.purchases()).toEqual([]);
    expect(await store.pending("r", NOW)).toBeUndefined();
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  it("stays what a symbolic link points to", async () => {
    const path = newPath();
    await pay(openStore(path), "a", 7n);
    const alias = join(path, "..", "link.json");
    symlinkSync(path, alias);
    await pay(openStore(alias), "b", 2n);
    expect(await pay(openStore(path), "c", 2n)).toMatchObject({ ok: false, spent: 9n });
  });

  const whole = async () => {
    const path = newPath();
    const store = openStore(path);
    await pay(store);
    await store.keep(proofOf("r", "a"));
    await store.record(purchaseOf("a"));
    return { path, text: readFileSync(path, "utf8") };
  };
  it.each<[string, (text: string) => string]>([
    ["empty", () => ""],
    ["cut off", (text) => text.slice(0, -20)],
    ["of something else", () => '{"name":"shop"}'],
    ["a list", () => "[]"],
    ["null", () => "null"],
    ["without its payments", (text) => text.replace('"spends"', '"spent"')],
    ["of an amount that is a number", (text) => text.replace('"amount":"1"', '"amount":1')],
    ["of an amount below 0", (text) => text.replace('"amount":"1"', '"amount":"-1"')],
    ["of a payment without a time", (text) => text.replace('"at":', '"on":')],
    ["of a payment that says more", (text) => text.replace('"unit":', '"note":"x","unit":')],
  ])("is never begun anew where it is %s: nothing is paid, and it stays as it is", async (_, break_) => {
    const { path, text } = await whole();
    const broken = break_(text);
    writeFileSync(path, broken);
    const store = openStore(path);
    const calls = [
      () => pay(store),
      () => store.purchases(),
      () => store.pending("r", NOW),
      () => store.record(purchaseOf("b")),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow(/spending\.json cannot be read .*: restore it, or move it away/);
    }
    expect(readFileSync(path, "utf8")).toBe(broken);
    writeFileSync(path, text);
    expect(await pay(store, "b", 10n)).toMatchObject({ ok: false, spent: 1n });
  });

  it("is refused where a newer version wrote it", async () => {
    const { path, text } = await whole();
    writeFileSync(path, text.replace('"version":1', '"version":2'));
    await expect(pay(openStore(path))).rejects.toThrow("was written by a newer tollgate (format 2): update this one");
  });

  it("is missed where it goes away under a running program", async () => {
    const path = newPath();
    const store = openStore(path);
    await pay(store, "a", 10n);
    rmSync(path);
    await expect(pay(store, "b")).rejects.toThrow("is gone, and with it what was spent");
    await expect(store.purchases()).rejects.toThrow("is gone");
  });

  it("takes changes that come together in one write, and lets one that is refused spoil none of the others", async () => {
    const store = openStore();
    const results = await Promise.allSettled([pay(store, "a", 4n), pay(store, "b", -1n), pay(store, "c", 6n)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await pay(store, "d")).toMatchObject({ ok: false, spent: 10n });
  });

  it("is not made unreadable by what could not be read back", async () => {
    const store = openStore();
    await pay(store, "a", 4n);
    const more = { ...purchaseOf("b"), note: "x" };
    await expect(store.record(more)).rejects.toThrow("what is to be remembered cannot be read at purchases[0]");
    await expect(store.keep(proofOf("r", "b", { purchase: more }))).rejects.toThrow(RangeError);
    await expect(store.reserve({ ...spendOf("b", 1n), at: Number.NaN }, [])).rejects.toThrow(RangeError);
    expect(await pay(store, "c", 7n)).toMatchObject({ ok: false, spent: 4n });
  });

  it("rejects where it cannot be written, and goes on when it can", async () => {
    const path = newPath();
    const store = openStore(path);
    await pay(store, "a", 4n);
    const before = readFileSync(path, "utf8");
    // A folder in the place of the file that is written first.
    mkdirSync(`${path}.next`);
    await expect(pay(store, "b", 4n)).rejects.toThrow();
    expect(readFileSync(path, "utf8")).toBe(before);
    rmSync(`${path}.next`, { recursive: true });
    expect(await pay(store, "c", 6n)).toEqual({ ok: true });
  });

  it.each(["", "  ", undefined as unknown as string])("has a path: %j is none", (path) => {
    expect(() => fileBuyerStore(path)).toThrow(PaywallConfigError);
  });
});
