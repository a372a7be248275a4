// What every database of the gateway promises of idempotent requests.
import { describe, expect, it } from "vitest";
import type { MakeGround } from "./ground.js";
import { newAccount, newPayment, recordOf } from "./payments-made.js";

const DAY = 24 * 3_600_000;
const LEASE = 10_000;

export function describeRequests(name: string, make: MakeGround): void {
  describe(`idempotent requests in ${name}`, () => {
    it("are begun by one of 50 that race, on two connections; the others see it run", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const begun = await Promise.all(
        Array.from({ length: 50 }, (_, at) => both[at % 2]!.requests.begin("r", "h", LEASE)),
      );
      expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["new", ...Array(49).fill("running")]);
    });

    it("answer what they have answered, and refuse other content, while running and when done", async () => {
      const { database } = await make();
      const { requests } = database;
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "new" });
      expect(await requests.begin("r", "other", LEASE)).toEqual({ outcome: "other_content" });
      await requests.finish("r", { status: 200, sealed: "answer" });
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "done", status: 200, sealed: "answer" });
      expect(await requests.begin("r", "other", LEASE)).toEqual({ outcome: "other_content" });
      expect(await requests.begin("s", "other", LEASE)).toEqual({ outcome: "new" });
    });

    it("run on while their lease is renewed, and again once it is over", async () => {
      const { database, advance } = await make();
      const { requests } = database;
      await requests.begin("r", "h", LEASE);
      await advance(LEASE / 2);
      await requests.renew("r", LEASE);
      await advance(LEASE / 2);
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "running" });
      await advance(LEASE / 2);
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "new" });
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "running" });
    });

    it("evaluate anew where nothing final came of them, and never another content", async () => {
      const { database } = await make();
      const { requests } = database;
      await requests.begin("r", "h", LEASE);
      await requests.release("r");
      expect(await requests.begin("r", "other", LEASE)).toEqual({ outcome: "other_content" });
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "new" });
      await requests.finish("r", { status: 400, sealed: "first" });
      // A run that was thought dead comes back: what was answered stands.
      await requests.release("r");
      await requests.renew("r", LEASE);
      await requests.finish("r", { status: 200, sealed: "second" });
      expect(await requests.begin("r", "h", LEASE)).toEqual({ outcome: "done", status: 400, sealed: "first" });
    });

    it("are forgotten after 24 hours, and with them that their payment was theirs", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const { requests, payments } = database;
      await requests.begin("r", "h", LEASE);
      const made = newPayment(account, { idempotency: "r" });
      const old = recordOf(await payments.insert(made));
      await requests.finish("r", { status: 200, sealed: "answer" });
      await advance(DAY - 10_000);
      expect(await requests.begin("r", "h", LEASE)).toMatchObject({ outcome: "done" });
      expect(await payments.insert(made)).toMatchObject({ outcome: "repeated", payment: { id: old.id } });
      await advance(10_000);
      expect(await requests.begin("r", "other", LEASE)).toEqual({ outcome: "new" });
      const next = recordOf(await payments.insert(made));
      expect(next.id).not.toBe(old.id);
      expect(await payments.byIdempotency("r")).toEqual(next);
      expect(await payments.get(old.id)).toMatchObject({ idempotency: "r", version: old.version });
    });

    it("are pruned as others come, but never one that runs", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const { requests, payments } = database;
      await requests.begin("old", "h", LEASE);
      await payments.insert(newPayment(account, { idempotency: "old" }));
      await requests.begin("runs", "h", 3 * DAY);
      await advance(DAY + 1);
      await requests.begin("another", "h", LEASE);
      expect(await requests.begin("runs", "h", LEASE)).toEqual({ outcome: "running" });
      expect(await requests.begin("old", "other", LEASE)).toEqual({ outcome: "new" });
      expect(await payments.byIdempotency("old")).toBeUndefined();
    });
  });
}
