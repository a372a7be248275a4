// Who tries to get more out of a pass than was sold: elsewhere, for less, by force, by guessing, or with somebody else's payment.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { memoryStore } from "../src/store/memory.js";
import { sqlStore } from "../src/store/sql.js";
import type { Store } from "../src/store/store.js";
import { dice } from "./support/dice.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  BUYER,
  createWorld,
  makeRequest,
  type RequestParts,
  type Sent,
  scriptedReceiver,
  type World,
  type WorldOptions,
} from "./support/world.js";

const HOUR = 3_600_000;
const DAY_PASS = { pass: { uses: undefined, ms: 24 * HOUR } };

/** Sellers of day passes on one store. */
function town() {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const receiver = scriptedReceiver();
  return (options: WorldOptions = {}) =>
    createWorld({ clock, store, receiver, ...options, terms: { ...DAY_PASS, ...options.terms } });
}
async function bought(world: World, target = "/report"): Promise<Record<string, string>> {
  const sold = await world.send({ target, headers: await world.sign({ target }) });
  const token = sold.header("Payment-Pass");
  if (sold.answer.status !== 200 || token === undefined) throw new Error(`nothing bought: ${sold.answer.status}`);
  return { "Payment-Pass": token };
}
const outcome = ({ answer, json }: Sent) => (answer.status < 400 ? answer.status : json().code);
const show = async (world: World, headers: Record<string, string>, parts: RequestParts = {}) =>
  outcome(await world.send({ ...parts, headers: { ...headers, ...parts.headers } }));

it("a pass opens the path and method that were paid for, whatever the query, and no other spelling of the path", async () => {
  const world = town()();
  const pass = await bought(world);
  expect(await show(world, pass, { target: "/report?page=2" })).toBe(200);
  for (const target of ["/reports", "/Report", "/report/", "/report/x", "//report", "/%72eport", "/x/../report", "/"]) {
    expect([target, await show(world, pass, { target })]).toEqual([target, "pass_elsewhere"]);
  }
  expect(await show(world, pass, { method: "POST" })).toBe("pass_elsewhere");
  expect(world.runs).toHaveLength(2);
});

it("a pass that was bought at a line of a table opens what this line prices, and no other line", async () => {
  const open = town();
  const files = open({ line: "GET /files/*" });
  const pass = await bought(files, "/files/a");
  expect(await show(files, pass, { target: "/files/b" })).toBe(200);
  for (const line of ["GET /files/:name", "POST /files/*", "GET /*"]) {
    expect([line, await show(open({ line }), pass, { target: "/files/b" })]).toEqual([line, "pass_elsewhere"]);
  }
  expect(await show(open(), pass, { target: "/files/b" })).toBe("pass_elsewhere");
});

it("a pass of a cheap answer never opens a dear one, also where one price function names both", async () => {
  const open = town();
  const pass = await bought(open({ price: "$0.01" }));
  expect(await show(open({ price: "$0.02" }), pass)).toBe("pass_elsewhere");
  expect(await show(open({ price: "$0.01" }), pass)).toBe(200);
  const bySize = open({ price: ({ target }) => (target.includes("big") ? "$5" : "$0.01") });
  expect(await show(bySize, pass)).toBe(200);
  expect(await show(bySize, pass, { target: "/report?big" })).toBe("pass_elsewhere");
});

it("a pass of one shop opens no other shop on the same store: by who is paid, by name, by where it is asked for", async () => {
  const open = town();
  const pass = await bought(open({ publicUrl: "https://a.example" }));
  const other = { "eip155:84532": BUYER.address };
  expect(await show(open({ publicUrl: "https://a.example", terms: { payTo: other } }), pass)).toBe("pass_elsewhere");
  expect(await show(open({ publicUrl: "https://b.example" }), pass)).toBe("pass_elsewhere");
  expect(await show(open({ publicUrl: "https://a.example/shop" }), pass)).toBe("pass_elsewhere");
  expect(await show(open({ publicUrl: "https://a.example" }), pass)).toBe(200);
  // Without a public URL it is the origin by which the buyer asks.
  expect(await show(open(), pass)).toBe("pass_elsewhere");
});

it("a stranger who replays the public proof without its retry key gets neither the goods nor a pass", async () => {
  const world = town()();
  const payment = await world.sign();
  await world.send({ headers: payment });
  const stranger = await world.send({ headers: payment });
  expect([outcome(stranger), stranger.header("Payment-Pass")]).toEqual(["payment_already_used", undefined]);
  const keyed = await world.sign({ retryKey: "retry-key-0123456789" });
  const mine = await world.send({ headers: keyed });
  const otherKey = JSON.parse(atob(keyed["PAYMENT-SIGNATURE"] ?? "")) as Record<string, unknown>;
  delete otherKey.extensions;
  const guess = await world.send({ headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(otherKey)) } });
  expect([outcome(guess), guess.header("Payment-Pass")]).toEqual(["payment_already_used", undefined]);
  expect(await show(world, { "Payment-Pass": mine.header("Payment-Pass") ?? "" })).toBe(200);
});

it("a flood of random tokens costs one read each and writes nothing; what is no token costs no read at all", async () => {
  const clock = createFakeClock();
  const memory = memoryStore({}, clock);
  const calls = { read: 0, commit: 0 };
  const store: Store = {
    ...memory,
    read: (...args) => {
      calls.read += 1;
      return memory.read(...args);
    },
    commit: (...args) => {
      calls.commit += 1;
      return memory.commit(...args);
    },
  };
  const world = createWorld({ clock, store, terms: DAY_PASS });
  const roll = dice(7);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const text = (length: number) => Array.from({ length }, () => letters[roll(64)]).join("");
  for (let at = 0; at < 500; at += 1) {
    expect(await show(world, { "Payment-Pass": `${text(42)}A` })).toBe("pass_unknown");
  }
  expect(calls).toEqual({ read: 500, commit: 0 });
  const bombs = [
    "",
    " ",
    "A",
    text(42),
    text(44),
    "A".repeat(1_000_000),
    `${"A".repeat(43)}, `.repeat(10_000),
    "__proto__",
  ];
  // The unused bits of the last digit are zero, or one token would have several spellings.
  for (const bomb of [...bombs, `${"A".repeat(42)}B`, "é".repeat(43)]) {
    expect(await show(world, { "Payment-Pass": bomb })).toBe("pass_malformed");
  }
  for (const cookie of [`${"payment_pass_x=1; ".repeat(10_000)}`, "payment_pass_", "payment_pass_=;;;,,,=="]) {
    expect(await show(world, { Cookie: cookie })).toBe("payment_required");
  }
  expect(calls).toEqual({ read: 500, commit: 0 });
  expect(world.runs).toHaveLength(0);
});

it("a pass reaches no handler by HEAD or OPTIONS, takes no use there, and is a header that pages may send and read", async () => {
  const world = createWorld({ terms: { pass: { uses: 2, ms: HOUR } } });
  const pass = await bought(world);
  for (const method of ["HEAD", "OPTIONS"]) {
    const verdict = await world.guard(makeRequest({ method, headers: pass }));
    expect([method, verdict.kind]).toEqual([method, "refuse"]);
    if (verdict.kind !== "refuse" || method === "HEAD") continue;
    const headers = Object.fromEntries(verdict.answer.headers);
    expect(headers["Access-Control-Allow-Headers"]).toContain("Payment-Pass");
    expect(headers["Access-Control-Expose-Headers"]).toContain("Payment-Pass");
  }
  expect(await show(world, pass)).toBe(200);
});

it("a pass beside a proof admits and the proof stays whole; a bad pass beside a proof does not stand in its way", async () => {
  const world = createWorld({ terms: { pass: { uses: 2, ms: HOUR } } });
  const pass = await bought(world);
  const proof = await world.sign();
  expect(await show(world, { ...proof, ...pass })).toBe(200);
  expect(world.receiver.calls.settle).toBe(1);
  const paid = await world.send({ headers: { ...proof, ...pass } });
  expect([outcome(paid), world.receiver.calls.settle]).toEqual([200, 2]);
  expect(paid.header("Payment-Pass")).not.toBe(pass["Payment-Pass"]);
  expect(await show(world, { ...(await world.sign()), "Payment-Pass": "forged" })).toBe(200);
});

it("a cookie names no attribute that the path of a request brings along", async () => {
  const world = town()();
  const page = { "Sec-Fetch-Site": "same-origin" };
  const cookieFor = async (target: string) => {
    const sold = await world.send({ target, headers: { ...(await world.sign({ target })), ...page } });
    return /Path=(.*?); Max-Age/.exec(sold.header("Set-Cookie") ?? "")?.[1];
  };
  expect(await cookieFor("/a/b")).toBe("/a/b");
  expect(await cookieFor("/a/b;Domain=evil.example/c")).toBe("/a");
  expect(await cookieFor("/a,b")).toBe("/");
  expect(await cookieFor("/?x=;Path=/")).toBe("/");
});

it("a page of another origin gets no cookie, and no script can ask for one", async () => {
  const world = town()();
  for (const [site, expected] of [
    ["cross-site", false],
    ["same-site", false],
    ["same-origin", true],
  ] as const) {
    const sold = await world.send({ headers: { ...(await world.sign()), "Sec-Fetch-Site": site } });
    expect([site, sold.header("Set-Cookie") !== undefined]).toEqual([site, expected]);
    expect(sold.header("Payment-Pass")).toMatch(/^[\w-]{43}$/);
  }
});

it("two servers on one store sell no more uses than one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-passes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const receiver = scriptedReceiver();
  const servers = [1, 2].map(() => {
    const store = sqlStore({ file: join(folder, "shop.db") });
    onTestFinished(() => store.close());
    const clock = createFakeClock(Date.now());
    return createWorld({ store, clock, receiver, terms: { pass: { uses: 11, ms: HOUR } } });
  });
  const [one] = servers;
  if (!one) throw new Error("no server");
  const pass = await bought(one);
  const outcomes = await Promise.all(Array.from({ length: 40 }, (_, at) => show(servers[at % 2] as World, pass)));
  expect(outcomes.filter((each) => each === 200)).toHaveLength(10);
  expect(outcomes.filter((each) => each === "pass_used_up")).toHaveLength(30);
});
