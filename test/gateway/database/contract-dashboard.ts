// What every database promises of the dashboard's sessions and links: that they end in time, and with their account.
import { describe, expect, it } from "vitest";
import { createLink, useLink } from "../../../src/gateway/dashboard/link.js";
import { IDLE_MS, LONGEST_MS } from "../../../src/gateway/database/sessions.js";
import type { MakeGround } from "./ground.js";
import { newAccount } from "./payments-made.js";

const URL = "https://pay.example";
const MINUTE = 60_000;

export function describeDashboard(name: string, make: MakeGround): void {
  describe(`sessions and links in ${name}`, () => {
    it("end after a while without use, and after twelve hours in any case", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      await database.sessions.begin(account, "idle");
      await database.sessions.begin(account, "used");
      await advance(IDLE_MS - MINUTE);
      expect((await database.sessions.use("used"))?.id).toBe(account);
      await advance(2 * MINUTE);
      expect(await database.sessions.use("idle")).toBeUndefined();
      for (let at = 0; at < LONGEST_MS / (IDLE_MS - MINUTE) - 2; at += 1) {
        expect((await database.sessions.use("used"))?.id).toBe(account);
        await advance(IDLE_MS - MINUTE);
      }
      await advance(IDLE_MS - MINUTE);
      expect(await database.sessions.use("used")).toBeUndefined();
    });

    it("begin for no account that nobody has made", async () => {
      const { database } = await make();
      await expect(database.sessions.begin("acc_nobody", "hash")).rejects.toThrow("there is no account");
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
