// Prices that a seller's function names, request by request.

import { describe, expect, it } from "vitest";
import type { PaywallRequest } from "../src/request.js";
import { codeOf, createWorld, makeRequest } from "./support/world.js";

describe("a price function", () => {
  it("gets the request, runs once, and its price is what must be paid", async () => {
    let calls = 0;
    const price = (request: PaywallRequest) => {
      calls += 1;
      return request.target.includes("long") ? "$0.02" : "$0.01";
    };
    const world = createWorld({ price });
    const unpaid = await world.send({ target: "/long" });
    expect(unpaid.json().accepts).toMatchObject([{ maxAmountRequired: "20000" }]);
    expect(calls).toBe(1);
    expect(codeOf(await world.send({ target: "/long", headers: await world.sign() }))).toEqual([402, "offer_mismatch"]);
  });

  it.each([0, "$0", "", undefined, Number.NaN, null, [], "Free", "FREE", " free", {}, -1, "$0.0000001"])(
    "that answers %j is a 500 and no goods",
    async (price) => {
      const world = createWorld({ price: (() => price) as never });
      expect(codeOf(await world.send({}))).toEqual([500, "price_invalid"]);
    },
  );

  it("that throws is a 500, or the 4xx that it carries", async () => {
    const throwing = (error: unknown) =>
      createWorld({
        price: () => {
          throw error;
        },
      });
    expect(codeOf(await throwing(new Error("secret")).send({}))).toEqual([500, "price_invalid"]);
    const teapot = await throwing(Object.assign(new Error("pages is required"), { status: 422 })).send({});
    expect([teapot.answer.status, teapot.json().message]).toEqual([422, "pages is required"]);
  });

  it("opens the route with the exact text free", async () => {
    const world = createWorld({ price: () => "free" });
    expect(await world.guard(makeRequest({}))).toEqual({ kind: "open" });
  });
});
