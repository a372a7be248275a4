import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostedWallet } from "../../../src/gateway/database/database.js";
import type { Custody } from "../../../src/gateway/parts.js";
import { openCustody } from "../../../src/gateway/wallets/custody.js";
import { rotatePassphrase } from "../../../src/gateway/wallets/rotate.js";
import { type OwnDatabase, openOwnDatabase, PASSPHRASE, wanted } from "./databases.js";

const NEXT = "nine nimble nurses knit nets";
const digest = randomBytes(32);
let own: OwnDatabase;
let custody: Custody;
let account: string;
let wallets: HostedWallet[];

beforeEach(async () => {
  own = await openOwnDatabase();
  custody = await mustOpen(PASSPHRASE);
  account = (await own.database.accounts.create("shop")).id;
  wallets = [];
  for (const family of ["evm", "solana", "evm"] as const)
    wallets.push((await custody.create(wanted(account, family)))!);
});

afterEach(() => own.close());

async function mustOpen(passphrase: string): Promise<Custody> {
  const opened = await openCustody(passphrase, own.database);
  if (!opened) throw new Error("a passphrase opens the hosted wallets");
  return opened;
}

/** How many of the wallets, as the database now has them, sign. */
async function signing(opened: Custody): Promise<number> {
  const now = await Promise.all(wallets.map(({ id }) => own.database.wallets.get(id)));
  const signed = await Promise.allSettled(now.map((wallet) => opened.signer(wallet!).sign(digest)));
  return signed.filter(({ status }) => status === "fulfilled").length;
}

describe("rotating the passphrase", () => {
  it("seals every wallet under the new one, and the old one opens nothing any more", async () => {
    expect(await rotatePassphrase(own.database, PASSPHRASE, NEXT)).toBe(3);
    await expect(openCustody(PASSPHRASE, own.database)).rejects.toThrow(/got another one/);
    expect(await signing(await mustOpen(NEXT))).toBe(3);
    expect(await signing(custody)).toBe(0);
  });

  it("leaves all as it was where it breaks off half-way", async () => {
    const { resealAll } = own.database.wallets;
    let sealed = 0;
    const breaking: typeof resealAll = (vault, reseal) =>
      resealAll(vault, (wallet) => {
        if (++sealed === 2) throw new Error("the power is gone");
        return reseal(wallet);
      });
    const database = { wallets: { ...own.database.wallets, resealAll: breaking } };
    await expect(rotatePassphrase(database, PASSPHRASE, NEXT)).rejects.toThrow("the power is gone");
    await expect(openCustody(NEXT, own.database)).rejects.toThrow(/got another one/);
    expect(await signing(await mustOpen(PASSPHRASE))).toBe(3);
  });

  it("changes nothing where the old passphrase is wrong or the new one weak or the same", async () => {
    await expect(rotatePassphrase(own.database, NEXT, "yet another passphrase")).rejects.toThrow(/got another one/);
    await expect(rotatePassphrase(own.database, PASSPHRASE, "short")).rejects.toThrow(/at least 12 characters/);
    await expect(rotatePassphrase(own.database, PASSPHRASE, PASSPHRASE)).rejects.toThrow(/got the same/);
    expect(await signing(await mustOpen(PASSPHRASE))).toBe(3);
  });

  it("leaves out removed wallets, whose key is gone", async () => {
    await own.database.wallets.remove(account, wallets[0]!.id);
    expect(await rotatePassphrase(own.database, PASSPHRASE, NEXT)).toBe(2);
  });

  it("says so where there is nothing to rotate", async () => {
    const fresh = await openOwnDatabase();
    await expect(rotatePassphrase(fresh.database, PASSPHRASE, NEXT)).rejects.toThrow(/got one without/);
    await fresh.close();
  });

  it("lets a process that still has the old passphrase lodge nothing that could not be opened later", async () => {
    await rotatePassphrase(own.database, PASSPHRASE, NEXT);
    await expect(custody.create(wanted(account))).rejects.toThrow(/one that was replaced while this process ran/);
    expect(await own.database.wallets.list(account)).toHaveLength(3);
  });
});
