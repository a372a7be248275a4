// What is sold to be used in parts is used no more often than was sold: forty requests at two servers with one store, at once.
import { describe, expect, it, onTestFinished } from "vitest";
import { everyStore } from "../support/stores.js";
import { openMarket } from "./market.js";

/** The paid answer is the first of the uses. */
const SOLD = 11;
const OPENED = SOLD - 1;

describe.each(everyStore())("a pass in %s", (_name, skipped, open) => {
  it.skipIf(skipped)("A16: forty requests at once at two servers use the ten that are left", async () => {
    const [one, two] = await open();
    // As behind one name: a pass is for the shop that sold it.
    const terms = { publicUrl: "https://shop.example", access: { uses: SOLD, for: "1h" } } as const;
    const here = await openMarket("Express 5", { ...terms, store: one });
    onTestFinished(() => here.close());
    const there = await openMarket("Hono", { ...terms, store: two, remote: here.remote });
    onTestFinished(() => there.close());
    const sold = await here.buy(await here.sign());
    expect(sold.status).toBe(200);
    const headers = { "Payment-Pass": String(sold.headers["payment-pass"]) };
    const asked = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? here : there).buy({ headers }));
    const got = await Promise.all(asked);
    const used = got.filter(({ status }) => status === 200);
    const refused = got.filter(({ status }) => status !== 200);
    expect(used).toHaveLength(OPENED);
    expect(new Set(refused.map(({ json }) => json.code))).toEqual(new Set(["pass_used_up"]));
    expect(here.seller.runs.length + there.seller.runs.length).toBe(SOLD);
    expect(here.asked("settle")).toBe(1);
  });
});
