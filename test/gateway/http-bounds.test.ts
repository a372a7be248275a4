// The specification's tables of fields and of limits, row by row, over sockets: what is taken, with which default, and what is not.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { detailsOf } from "./call.js";
import { REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const { engine, reached } = scriptEngine();
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ context: { engine } });
});
afterAll(() => world.close());

const [[, SEND, ORDER], [, RECEIVE, CLAIM], , [, HISTORY], [, BUILD_SEND], [, BUILD_RECEIVE]] = REQUESTS;
type Fields = Record<string, unknown>;

/** Sent with these fields in place of the usual ones; `undefined` leaves one out. */
async function post(path: string, usual: object, fields: Fields) {
  const got = await world.call("POST", path, { ...usual, ...fields });
  return { status: got.status, paths: detailsOf(got).map((one) => one.path) };
}
const last = () => reached.at(-1)?.request as Record<string, unknown>;

/** Rows of a table: a field, what is taken, what is refused. */
function fieldRows(
  path: string,
  usual: object,
  rows: readonly (readonly [field: string, taken: readonly unknown[], refused: readonly unknown[]])[],
) {
  for (const [field, taken, refused] of rows) {
    it(`POST ${path}: ${field}`, async () => {
      for (const value of taken)
        expect([value, await post(path, usual, { [field]: value })]).toMatchObject([value, { status: 200 }]);
      for (const value of refused) {
        const got = await post(path, usual, { [field]: value });
        expect([value, got.status]).toEqual([value, 400]);
        expect(
          got.paths.every((one) => one === field || one.startsWith(`${field}.`)),
          String(got.paths),
        ).toBe(true);
        expect(got.paths.length).toBeGreaterThan(0);
      }
    });
  }
}

const SOLANA = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const NO_TEXT = [1, null, true, {}, []];
const levels = (count: number): unknown => (count === 0 ? 1 : { in: levels(count - 1) });
const shared = [
  [
    "walletAddress",
    [ORDER.walletAddress, SOLANA],
    [undefined, "", "0x12", `${ORDER.walletAddress}0`, "O0Il".repeat(10), ...NO_TEXT],
  ],
  ["resource", [undefined, "https://a.example/x?y=1", "x".repeat(2048)], ["", "x".repeat(2049), ...NO_TEXT]],
  ["network", [undefined, "base-sepolia", "eip155:84532"], ["", "x".repeat(65), ...NO_TEXT]],
  ["asset", [undefined, "USDC"], ["", "x".repeat(65), ...NO_TEXT]],
] as const;
const sending = [
  ...shared,
  ["recipientAddress", [ORDER.recipientAddress, SOLANA], [undefined, "", "x".repeat(65), ...NO_TEXT]],
  [
    "metadata",
    [undefined, {}, { a: [1, { b: null }] }, levels(8)],
    [[], "x", 1, null, levels(9), { a: "x".repeat(4096) }],
  ],
] as const;
const NO_AMOUNT = [undefined, 0, -1, "0.", ".5", "1e3", "01", "-1", "1,5", " 1", "", "NaN", null, true, {}, [1]];

describe("send-payment request, on POST /payment/send", () => {
  fieldRows(SEND, ORDER, [
    ...sending,
    [
      "amount",
      [0.001, 100, 1e-3, 1e2, "0.001", "100", "100.000", "0.0010000000000000000000001"],
      [
        0.0009999,
        100.00001,
        "0.00099999999999999999999999999",
        "100.00000000000000000000000000001",
        1e-7,
        1e21,
        "0",
        ...NO_AMOUNT,
      ],
    ],
    [
      "priorityFee",
      [undefined, 0.00001, 0.01, 1e-5, "0.00001", "0.0100"],
      [0, 0.000009, 0.0100001, "0.01000000000000000000001", 1, "1", null, true],
    ],
    [
      "requirements",
      [
        undefined,
        { scheme: "exact", network: "base", asset: "0x", payTo: "0x", maxTimeoutSeconds: 60, amount: "1", more: 1 },
      ],
      [1, "x", {}, { scheme: "exact" }],
    ],
  ]);
});

describe("send-payment request, on POST /transaction/send", () => {
  fieldRows(BUILD_SEND, ORDER, [
    ...sending,
    // No bounds are stated here.
    ["amount", [1e-9, 0.0001, 1000, "1000000.5", 1e21], [...NO_AMOUNT]],
    ["priorityFee", [undefined, 0.0000001, 0.01], [0.010001, "0.0100000000001", null, -1]],
    ["requirements", [undefined], [{}]],
  ]);
});

const receiving = [
  ...shared,
  ["paymentProof", ["x", "x".repeat(16 * 1024)], [undefined, "", "x".repeat(16 * 1024 + 1), ...NO_TEXT]],
  ["expectedAmount", [0.0000001, 1000, "0.01"], NO_AMOUNT],
  ["facilitatorUrl", [undefined, "https://facilitator.example/x402"], ["x".repeat(2049), ...NO_TEXT]],
] as const;

describe("receive-payment request, on POST /payment/receive", () => {
  fieldRows(RECEIVE, CLAIM, [
    ...receiving,
    ["timeout", [undefined, 1, 2.5, 30, 300], [0, 0.5, 301, "30", null, true, -1]],
    ["settle", [undefined, true, false], ["true", 1, null]],
    ["priorityFee", [undefined], [0.001]],
  ]);

  it("has a verification timeout of 30 seconds by default, and settles", async () => {
    const { timeout: _, ...claim } = CLAIM;
    await world.call("POST", RECEIVE, claim);
    expect(last()).toMatchObject({ timeout: 30, settle: true });
  });
});

describe("receive-payment request, on POST /transaction/receive", () => {
  const { timeout: _, ...claim } = CLAIM;
  fieldRows(BUILD_RECEIVE, claim, [
    ...receiving,
    ["priorityFee", [undefined, 0.0000001, 0.01], [0.010001, null]],
    ["timeout", [undefined], [30]],
  ]);
});

describe("history query parameters", () => {
  const query = async (text: string) => {
    const { status, body } = await world.call("GET", `${HISTORY}?${text}`);
    return { status, details: body.error?.details };
  };

  it("have the defaults all, 50 and 0", async () => {
    await world.call("GET", HISTORY);
    expect(last().query).toEqual({ type: "all", limit: 50, offset: 0 });
  });

  it.each([
    ["type", ["sent", "received", "all"], ["", "SENT", "both", "all,sent"]],
    ["limit", ["1", "50", "500"], ["0", "501", "-1", "1.5", "1e2", "050", "", "x", "0x10", "9".repeat(30)]],
    ["offset", ["0", "1", "1000000"], ["-1", "1000001", "1.5", "", "x"]],
    ["before", ["abc_-9"], ["", "../../etc", "x".repeat(65), "a b"]],
  ])("%s", async (name, taken, refused) => {
    for (const value of taken) expect([value, (await query(`${name}=${value}`)).status]).toEqual([value, 200]);
    for (const value of refused) {
      expect([value, await query(`${name}=${encodeURIComponent(value)}`)]).toMatchObject([
        value,
        { status: 400, details: [{ path: name }] },
      ]);
    }
  });

  it("refuses unknown and doubled parameters", async () => {
    expect(await query("cursor=../../etc")).toMatchObject({ status: 400, details: [{ path: "cursor" }] });
    expect(await query("limit=1&limit=2")).toMatchObject({ status: 400, details: [{ path: "limit" }] });
    expect(await query("__proto__=1")).toMatchObject({ status: 400 });
  });

  it("walletAddress is a path parameter of either chain family", async () => {
    expect((await world.call("GET", `/payment/history/${SOLANA}`)).status).toBe(200);
    for (const bad of ["0x1", "x", "%2e%2e%2fadmin", "..%2f..%2fetc", "0x", "a".repeat(300)]) {
      expect(await world.call("GET", `/payment/history/${bad}`)).toMatchObject({
        status: 400,
        body: { error: { details: [{ path: "walletAddress" }] } },
      });
    }
    for (const other of ["..;/x", "%2e%2e/admin", `${SOLANA}/x`]) {
      expect((await world.call("GET", `/payment/history/${other}`)).status).toBe(404);
    }
  });
});

describe("payment identifier", () => {
  it.each(["pay_7WkEoVyS3bWkQrZ9dGqUdx", `0x${"aB".repeat(32)}`, "ab".repeat(32), "5".repeat(88), "5".repeat(64)])(
    "%s is asked for",
    async (id) => {
      expect((await world.call("GET", `/payment/status/${id}`)).status).toBe(200);
      expect(reached.at(-1)?.request).toBe(id);
    },
  );

  it.each([
    "pay_",
    "pay_short",
    "pay_0OIl0OIl0OIl0OIl0OIl0O",
    "0x12",
    "0B".repeat(32),
    "5".repeat(89),
    "%2e%2e%2fadmin",
    "a%00b",
    "%zz",
    "=HYPERLINK(1)",
  ])("%s is no such thing", async (id) => {
    const before = reached.length;
    expect((await world.call("GET", `/payment/status/${id}`)).status).toBe(404);
    expect(reached.length).toBe(before);
  });
});
