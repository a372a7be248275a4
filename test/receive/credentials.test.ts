import { beforeEach, describe, expect, it } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import type { FacilitatorOptions } from "../../src/receive/facilitator.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld } from "../support/facilitator-world.js";

let world: FacilitatorWorld;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  return () => world.close();
});

type Headers = FacilitatorOptions["headers"];
/** As a JavaScript caller could write it. */
const wrong = (value: unknown) => (() => value) as unknown as Headers;

describe("the credentials for a facilitator", () => {
  it("go out with every call where they are a map", async () => {
    const by = world.open({ headers: { "X-Api-Key": "k1" } });
    const proof = await makeProof();
    await by.ready([REQUIREMENT], world.signal);
    await world.verify(proof, by);
    await world.settle(proof, {}, by);
    expect(world.service.requests.map(({ endpoint, headers }) => [endpoint, headers["x-api-key"]])).toEqual([
      ["supported", "k1"],
      ["verify", "k1"],
      ["settle", "k1"],
    ]);
  });

  it.each(["sync", "async"])("are made anew for each call, one map for each path, by a %s function", async (kind) => {
    let made = 0;
    const maps = () => ({ verify: { "x-token": `verify ${++made}` }, settle: { "x-token": `settle ${++made}` } });
    const by = world.open({ headers: kind === "sync" ? maps : async () => maps() });
    const proof = await makeProof();
    await by.ready([REQUIREMENT], world.signal);
    await world.verify(proof, by);
    await world.settle(proof, {}, by);
    expect(world.service.requests.map(({ headers }) => headers["x-token"])).toEqual([
      undefined,
      "verify 3",
      "settle 6",
    ]);
  });

  const shapes: [name: string, headers: Headers][] = [
    ["a flat map", wrong({ authorization: "Bearer sesame-open" })],
    ["nothing", wrong(undefined)],
    ["null", wrong(null)],
    ["an empty object", wrong({})],
    ["a map without settle", wrong({ verify: {} })],
    ["text instead of maps", wrong({ verify: "Bearer sesame-open", settle: "Bearer sesame-open" })],
    ["a value that is no text", wrong({ verify: { authorization: 7 }, settle: {} })],
    ["a value with a line break", wrong({ verify: { authorization: "sesame-open\r\nx: y" }, settle: {} })],
    ["a name that is no header name", wrong({ verify: { "a b": "sesame-open" }, settle: {} })],
    ["a header of the connection itself", wrong({ verify: { "Content-Length": "1" }, settle: {} })],
  ];
  it.each(shapes)("stop every call and name the option where a function returns %s", async (_name, headers) => {
    const by = world.open({ headers });
    const proof = await makeProof();
    const outcomes = [
      await by.ready([REQUIREMENT], world.signal),
      await world.verify(proof, by),
      await world.settle(proof, {}, by),
    ];
    expect(outcomes).toMatchObject([
      { state: "misconfigured", problems: [{ check: "credentials" }] },
      { outcome: "unavailable", code: "receiver_auth" },
      { outcome: "unavailable" },
    ]);
    for (const outcome of outcomes) expect(JSON.stringify(outcome)).toMatch(/\\?"headers\\?" of facilitator/);
    expect(JSON.stringify([outcomes, world.log])).not.toContain("sesame-open");
    expect(world.service.requests).toHaveLength(0);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("no token: sesame-open"))],
    [
      "throws",
      () => {
        throw new Error("no token: sesame-open");
      },
    ],
  ])("stop the call where the function %s, without its words, and the next call asks again", async (_name, fail) => {
    let failing = true;
    const by = world.open({ headers: () => (failing ? fail() : { verify: {}, settle: {} }) });
    const proof = await makeProof();
    const outcomes = [
      await world.verify(proof, by),
      await world.settle(proof, {}, by),
      await by.ready([REQUIREMENT], world.signal),
    ];
    expect(outcomes).toMatchObject([
      { outcome: "unavailable", code: "receiver_auth", message: expect.stringContaining('"headers"') },
      { outcome: "unavailable", message: expect.stringContaining('"headers"') },
      { state: "unreachable", message: expect.stringContaining('"headers"') },
    ]);
    expect(JSON.stringify([outcomes, world.log])).not.toContain("sesame-open");
    expect(world.service.requests).toHaveLength(0);
    failing = false;
    expect(await world.verify(proof, by)).toMatchObject({ outcome: "valid" });
  });

  it("are waited for no longer than the call may take", async () => {
    const by = world.open({ headers: () => new Promise<never>(() => {}) });
    const verifying = world.verify(await makeProof(), by);
    await Promise.resolve();
    world.clock.advance(9_000);
    expect(await verifying).toMatchObject({ outcome: "unavailable", code: "receiver_auth" });
    expect(world.service.requests).toHaveLength(0);
  });

  it("are refused at construction where a map cannot be sent", () => {
    for (const headers of [{ a: "x\ny" }, { "": "x" }, { host: "elsewhere.example" }, { a: 1 }, "Bearer x", ["a"]]) {
      expect(() => world.open({ headers: headers as unknown as Headers })).toThrow(PaywallConfigError);
    }
  });
});
