// What every database promises of the dashboard's sessions and links: that they end in time, and with their account.
import { describe, expect, it } from "vitest";
import { createLink, useLink } from "../../../src/gateway/dashboard/link.js";
import { askForSignature, refusalOfSignature } from "../../../src/gateway/dashboard/statement.js";
import { IDLE_MS, LONGEST_MS } from "../../../src/gateway/database/sessions.js";
import { evmWallet } from "../signing-wallets.js";
import type { MakeGround } from "./ground.js";
import { newAccount } from "./payments-made.js";

const URL = "https://pay.example";
const MINUTE = 60_000;
const PROVEN = "0xF39fd6e51aad88F6F4ce6aB8827279cffFb92266";

export function describeDashboard(name: string, make: MakeGround): void {
  describe(`sessions and links in ${name}`, () => {
    it("end after a while without use, and after twelve hours in any case", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      await database.sessions.begin(account, "idle");
      await database.sessions.begin(account, "used");
      expect((await database.sessions.use("used"))?.isNew).toBe(true);
      await advance(IDLE_MS - MINUTE);
      expect((await database.sessions.use("used"))?.account.id).toBe(account);
      // Looked at, as a page does by itself: that keeps it alive no longer.
      expect(await database.sessions.look("idle")).toMatchObject({ account: { id: account }, isNew: false });
      await advance(2 * MINUTE);
      expect(await database.sessions.look("idle")).toBeUndefined();
      expect(await database.sessions.use("idle")).toBeUndefined();
      for (let at = 0; at < LONGEST_MS / (IDLE_MS - MINUTE) - 2; at += 1) {
        expect((await database.sessions.use("used"))?.account.id).toBe(account);
        await advance(IDLE_MS - MINUTE);
      }
      await advance(IDLE_MS - MINUTE);
      expect(await database.sessions.use("used")).toBeUndefined();
    });

    it("know the wallets that sign for an account, which are its own and no other's", async () => {
      const { database } = await make();
      const [account, other] = [await newAccount(database), await newAccount(database)];
      const { signers, accounts } = database;
      await accounts.prove(account, PROVEN);
      expect(await signers.accountOf(PROVEN)).toBeUndefined();
      expect([await signers.add(other, PROVEN), await signers.add(account, PROVEN)]).toEqual([false, true]);
      expect(await signers.accountOf(PROVEN.toLowerCase())).toBe(account);
      await signers.remove(other, PROVEN);
      expect(await signers.list(account)).toMatchObject([{ address: PROVEN.toLowerCase(), signsIn: true }]);
      await signers.remove(account, PROVEN);
      expect([await signers.accountOf(PROVEN), await accounts.ownerOf(PROVEN)]).toEqual([undefined, account]);
      expect(await signers.list(other)).toEqual([]);
    });

    it("begin by no wallet that signs for the account no more, and what it began ends with it", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const { signers, sessions } = database;
      await database.accounts.prove(account, PROVEN);
      expect(await sessions.begin(account, "never", PROVEN)).toBe(false);
      await signers.add(account, PROVEN);
      for (let round = 0; round < 20; round += 1) {
        const unsign = async () => {
          await signers.remove(account, PROVEN);
          await sessions.endAll(account);
        };
        await Promise.all([sessions.begin(account, `at once ${round}`, PROVEN), unsign()]);
        expect(await sessions.look(`at once ${round}`)).toBeUndefined();
        await signers.add(account, PROVEN);
      }
    });

    it("begin for no account that nobody has made", async () => {
      const { database } = await make();
      await expect(database.sessions.begin("acc_nobody", "hash")).rejects.toThrow("there is no account");
    });

    it("take a wallet's signature for five minutes only", async () => {
      const { database, advance } = await make();
      const wallet = evmWallet();
      const parts = { database, networks: { defaultFor: () => undefined } };
      const signing = {
        url: URL,
        wallet: { family: "evm", address: wallet.address },
        statement: "s",
        binding: "b",
      } as const;
      const signed = async () => {
        const { text, nonce } = await askForSignature(parts, signing);
        return { nonce, signature: await wallet.sign(text) };
      };
      const [good, late] = [await signed(), await signed()];
      await advance(4 * MINUTE);
      expect(await refusalOfSignature(parts, { ...signing, binding: "other" }, good)).toMatchObject({ ok: false });
      expect(await refusalOfSignature(parts, signing, good)).toBeUndefined();
      await advance(MINUTE + 1_000);
      expect(await refusalOfSignature(parts, signing, late)).toMatchObject({ code: "FORBIDDEN" });
    });

    it("sign in within ten minutes only", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const token = async () => (await createLink(database, account, URL)).split("#")[1] ?? "";
      const [late, good] = [await token(), await token()];
      await advance(9 * MINUTE);
      expect(await useLink(database, good, URL)).toBe(account);
      expect(await useLink(database, good, URL)).toBeUndefined();
      await advance(MINUTE + 1_000);
      expect(await useLink(database, late, URL)).toBeUndefined();
    });
  });
}
