// A39: strangers are told apart by who is at the other end of the connection, on a server that listens to IPv4 and IPv6 at once;
// a header that a client invents changes nothing.
import { afterEach, describe, expect, it } from "vitest";
import { MAX_FAILURES } from "../../../src/gateway/http/flood.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { dice } from "../../support/dice.js";
import { NOBODY_KEY, REQUESTS, scriptEngine } from "../scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { askRaw } from "./raw.js";

const { engine } = scriptEngine();
const STATUS = REQUESTS[2][1];
const wrong = { Authorization: `Bearer ${NOBODY_KEY}` };

let world: GatewayWorld;
afterEach(() => world?.close());
async function open(options: GatewayOptions = {}): Promise<void> {
  // Its minute stands still, so that a slow machine counts the same.
  const now = Date.now();
  world = await createGatewayWorld({ context: { engine, now: () => now }, options, watch: false });
}

const knock = async (from?: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  (await askRaw(world.server.port, "GET", STATUS, { ...wrong, ...headers }, "", from)).status;

/** One after the other; how often each status came. */
async function knockOften(count: number, next: (n: number) => Promise<number>): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  for (let n = 0; n < count; n++) {
    const status = await next(n);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

describe("A39: two clients of a dual-stack server, whose addresses are mapped into IPv6", () => {
  it("have a limit each: what one uses up, the other still has", async () => {
    await open({ host: "::" });
    const seen = new Set<string | undefined>();
    world.server.server.on("connection", (socket) => seen.add(socket.remoteAddress));
    expect(await knockOften(MAX_FAILURES + 5, () => knock("127.0.0.2"))).toEqual({ 401: MAX_FAILURES, 429: 5 });
    expect(await knock("127.0.0.3")).toBe(401);
    expect([...seen]).toEqual(["::ffff:127.0.0.2", "::ffff:127.0.0.3"]);
  });
});

describe("A39: a client that rotates X-Forwarded-For through 1,000 addresses", () => {
  const draw = dice(39);
  const invented = () => [draw(256), draw(256), draw(256), draw(256)].join(".");

  it("meets the limit all the same where no proxy stands in front", async () => {
    await open();
    const got = await knockOften(1_000, () => knock(undefined, { "X-Forwarded-For": invented() }));
    expect(got).toEqual({ 401: MAX_FAILURES, 429: 1_000 - MAX_FAILURES });
  });

  it("meets it behind a proxy, which adds the address that it saw", async () => {
    await open({ trustProxy: 1 });
    const through = (own: string) => knock(undefined, { "X-Forwarded-For": `${invented()}, ${own}` });
    const got = await knockOften(1_000, () => through("203.0.113.9"));
    expect(got).toEqual({ 401: MAX_FAILURES, 429: 1_000 - MAX_FAILURES });
    expect(await through("203.0.113.10")).toBe(401);
  });

  it("meets it under every spelling of its own address", async () => {
    await open({ trustProxy: 1 });
    const spellings = [
      "203.0.113.9",
      "::ffff:203.0.113.9",
      "[::ffff:203.0.113.9]:443",
      "203.0.113.9:5678",
      "::FFFF:CB00:7109",
    ];
    const got = await knockOften(MAX_FAILURES + 5, (n) =>
      knock(undefined, { "X-Forwarded-For": spellings[n % spellings.length] ?? "" }),
    );
    expect(got).toEqual({ 401: MAX_FAILURES, 429: 5 });
  });
});

it("A39: an account's limit follows its key through all addresses", async () => {
  await open({ trustProxy: 1 });
  const key = await world.newKey({ plan: "enterprise", rateLimit: 20, account: await world.newAccount() });
  const got = await knockOften(25, (n) =>
    knock(undefined, { Authorization: `Bearer ${key}`, "X-Forwarded-For": `198.51.100.${n}` }),
  );
  expect(got).toEqual({ 200: 20, 429: 5 });
});
