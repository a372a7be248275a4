// What this process writes is announced in it, after it was committed, whatever its listeners do.
import { describe, expect, it } from "vitest";
import { announceChanges } from "../../src/gateway/watch/announce.js";
import { newPayment, recordOf } from "./database/payments-made.js";
import { openWatching } from "./watching.js";

describe("an announced database", () => {
  it("tells of a new payment and of each change, with the status before it", async () => {
    const world = await openWatching({});
    const { payments } = world.parts.database;
    const created = recordOf(await payments.insert(newPayment(world.account)));
    const submitted = await payments.change(created, "submitted", {});
    await payments.change(created, "failed", {});
    expect(world.written.map(({ payment, before }) => [payment.id, payment.status, before])).toEqual([
      [created.id, "created", undefined],
      [created.id, "submitted", "created"],
    ]);
    expect(world.written[1]?.payment).toEqual(submitted);
  });

  it("tells nothing of what was refused: a change of an older version, a request that is repeated", async () => {
    const world = await openWatching({});
    const { payments } = world.parts.database;
    const payment = newPayment(world.account, { idempotency: "once" });
    await payments.insert(payment);
    expect((await payments.insert(payment)).outcome).toBe("repeated");
    expect(world.written).toHaveLength(1);
  });

  it("is written whether or not a listener fails, and whoever ends listening hears no more", async () => {
    const world = await openWatching({});
    const said: string[] = [];
    const logger = { error: (_: object, message: string) => void said.push(message) };
    const { database, onChange } = announceChanges(world.parts.database, logger);
    const heard: string[] = [];
    onChange(() => {
      throw new Error("broken");
    });
    const end = onChange(({ payment }) => heard.push(payment.id));
    const { id } = recordOf(await database.payments.insert(newPayment(world.account)));
    end();
    await database.payments.insert(newPayment(world.account));
    expect(heard).toEqual([id]);
    expect(said).toEqual(["a listener of payments failed", "a listener of payments failed"]);
    expect((await database.payments.get(id))?.id).toBe(id);
  });
});
