// The table "what a repeat gets", cell by cell, through the guard: row = what stands in the record, column = same request
// with its retry key, same request without a key, other request.
import { describe, expect, it } from "vitest";
import {
  broken,
  createWorld,
  type Handler,
  makeRequest,
  ok,
  type RequestParts,
  type Sent,
  TRANSACTION,
  type World,
} from "./support/world.js";

const KEY = "retry-key-0123456789";
type Column = "same request, with its retry key" | "same request, no key" | "other request";
const COLUMNS: Column[] = ["same request, with its retry key", "same request, no key", "other request"];

interface Case {
  readonly status: number;
  readonly code?: string;
  readonly runs: number;
  readonly body?: string;
  readonly also?: (sent: Sent) => void;
}

/** Brings a world's proof to the row's state; gives the headers that carry it. */
type Row = (world: World, headers: Record<string, string>) => Promise<void>;

const never: Handler = () => new Promise(() => {});

const ROWS: Record<string, { readonly reach: Row; readonly cells: Record<Column, Case> }> = {
  "claimed with a live lease": {
    reach: async (world, headers) => {
      void world.send({ headers }, never);
      await world.clock.advance(0);
    },
    cells: all({ status: 409, code: "payment_in_progress", runs: 1, also: retryAfter }),
  },
  "settling with a live lease": {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => new Promise(() => {}));
      void world.send({ headers });
      await world.clock.advance(0);
    },
    cells: all({ status: 409, code: "payment_in_progress", runs: 1, also: retryAfter }),
  },
  "delivering with a live lease": {
    reach: async (world, headers) => {
      const verdict = await world.guard(makeRequest({ headers }));
      if (verdict.kind !== "admit") throw new Error(`not admitted: ${verdict.kind}`);
      world.runs.push(verdict.payment);
      await verdict.capture.answered(await ok(verdict.payment));
    },
    cells: all({ status: 409, code: "payment_in_progress", runs: 1, also: retryAfter }),
  },
  released: {
    reach: async (world, headers) => {
      await world.send({ headers }, broken);
    },
    cells: all({ status: 200, runs: 2, body: "the goods" }),
  },
  "settling with its lease out": {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => new Promise(() => {}));
      const claim = await claimOf(world, headers);
      await world.claims.settling(claim, { settlementId: "settlement", ms: 1000, keep: undefined, signed: undefined });
      await world.clock.advance(2000);
    },
    cells: all({ status: 503, code: "settlement_unknown", runs: 0, also: pendingReceipt }),
  },
  unknown: {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => ({ outcome: "unknown", transaction: TRANSACTION, message: "lost" }));
      await world.send({ headers });
      await world.clock.advance(1000);
    },
    cells: all({ status: 503, code: "settlement_unknown", runs: 1, also: pendingReceipt }),
  },
  "unknown, and the lookup finds it settled": {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
      await world.send({ headers });
      world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
      await world.clock.advance(1000);
    },
    cells: {
      "same request, with its retry key": { status: 200, runs: 1, body: "the goods", also: replayed },
      "same request, no key": { status: 409, code: "payment_already_used", runs: 1, also: noOffers },
      "other request": { status: 409, code: "payment_already_used", runs: 1, also: noOffers },
    },
  },
  refused: {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => ({
        outcome: "refused",
        code: "insufficient_funds",
        reason: "insufficient_funds",
      }));
      await world.send({ headers });
      await world.clock.advance(1000);
    },
    cells: all({ status: 402, code: "insufficient_funds", runs: 1, also: failedReceipt }),
  },
  expired: {
    reach: async (world, headers) => {
      world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
      await world.send({ headers });
      world.receiver.lookups = [{ outcome: "expired" }];
      await world.clock.advance(120_000);
    },
    cells: all({ status: 402, code: "payment_expired", runs: 1, also: withOffers }),
  },
  "settled, not delivered, its record with a key": {
    reach: async (world, headers) => {
      await world.send({ headers, client: "leaves" });
    },
    cells: {
      "same request, with its retry key": { status: 200, runs: 1, body: "the goods", also: replayed },
      "same request, no key": { status: 409, code: "payment_already_used", runs: 1, also: noOffers },
      "other request": { status: 409, code: "payment_already_used", runs: 1, also: noOffers },
    },
  },
  delivered: {
    reach: async (world, headers) => {
      await world.send({ headers });
    },
    cells: {
      "same request, with its retry key": { status: 200, runs: 1, body: "the goods", also: replayed },
      "same request, no key": { status: 409, code: "payment_already_used", runs: 1, also: withReceipt },
      "other request": { status: 402, code: "payment_used_elsewhere", runs: 1, also: withOffers },
    },
  },
  "delivered, and no answer is kept any more": {
    reach: async (world, headers) => {
      await world.send({ headers });
      await world.clock.advance(61_000);
    },
    cells: {
      "same request, with its retry key": { status: 409, code: "payment_already_used", runs: 1, also: withReceipt },
      "same request, no key": { status: 409, code: "payment_already_used", runs: 1, also: withReceipt },
      "other request": { status: 402, code: "payment_used_elsewhere", runs: 1, also: withOffers },
    },
  },
};

function all(cell: Case): Record<Column, Case> {
  return Object.fromEntries(COLUMNS.map((column) => [column, cell])) as Record<Column, Case>;
}

/** The claim of a proof whose process has died right after taking it. */
async function claimOf(world: World, headers: Record<string, string>) {
  const verdict = await world.guard(makeRequest({ headers }));
  if (verdict.kind !== "admit") throw new Error(`not admitted: ${verdict.kind}`);
  const { record } = await world.claims.peek(verdict.payment.proofId);
  if (!record) throw new Error("no record");
  return { id: verdict.payment.proofId, fence: record.fence, record };
}

function retryAfter(sent: Sent) {
  expect(sent.header("Retry-After")).toBe("1");
  noOffers(sent);
}
function noOffers(sent: Sent) {
  expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
  expect(sent.json()).not.toHaveProperty("accepts");
}
function withOffers(sent: Sent) {
  expect(sent.header("PAYMENT-REQUIRED")).toBeDefined();
  expect(sent.json().accepts).toHaveLength(1);
}
const receipt = (sent: Sent) =>
  JSON.parse(atob(sent.header("PAYMENT-RESPONSE") ?? sent.header("X-PAYMENT-RESPONSE") ?? "")) as Record<
    string,
    unknown
  >;
function withReceipt(sent: Sent) {
  expect(receipt(sent)).toMatchObject({ success: true, transaction: TRANSACTION });
  noOffers(sent);
}
function pendingReceipt(sent: Sent) {
  expect(receipt(sent)).toMatchObject({ success: false, errorReason: "settlement_pending" });
  expect(sent.json().payment).toBe("unknown");
  expect(sent.header("Retry-After")).toBeDefined();
  noOffers(sent);
}
function failedReceipt(sent: Sent) {
  expect(receipt(sent)).toMatchObject({ success: false, transaction: "", errorReason: "insufficient_funds" });
  withOffers(sent);
}
function replayed(sent: Sent) {
  expect(sent.header("Payment-Replayed")).toBe("true");
  expect(receipt(sent)).toMatchObject({ success: true, transaction: TRANSACTION });
}

/** The same payment without its retry key, as a stranger finds it on the chain. */
function withoutKey(headers: Record<string, string>): Record<string, string> {
  const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as Record<string, unknown>;
  delete payload.extensions;
  return { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) };
}

describe.each(Object.entries(ROWS))("a proof that is %s", (_name, { reach, cells }) => {
  it.each(COLUMNS)("%s", async (column) => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    await reach(world, headers);
    const repeat: RequestParts =
      column === "same request, with its retry key"
        ? { headers }
        : column === "same request, no key"
          ? { headers: withoutKey(headers) }
          : { headers, target: "/report?other=1" };
    const cell = cells[column];
    const sent = await world.send(repeat);
    expect(sent.answer.status).toBe(cell.status);
    if (cell.code) expect(sent.json().code).toBe(cell.code);
    if (cell.body) expect(bodyText(sent)).toBe(cell.body);
    expect(world.runs).toHaveLength(cell.runs);
    cell.also?.(sent);
  });
});

const bodyText = ({ answer }: Sent): string =>
  typeof answer.body === "string" ? answer.body : new TextDecoder().decode(answer.body);

describe("settled, not delivered, without any retry key", () => {
  const lost = async (world: World) => {
    const headers = await world.sign();
    await world.send({ headers, client: "leaves" });
    return headers;
  };

  it("gives the goods to the same request with the same headers", async () => {
    const world = createWorld();
    const sent = await world.send({ headers: await lost(world) });
    expect(sent.answer.status).toBe(200);
    expect(bodyText(sent)).toBe("the goods");
    expect(world.receiver.calls.settle).toBe(1);
  });

  it.each(["Authorization", "Cookie", "Accept", "Accept-Language", "Content-Type", "Range"])(
    "gives nothing to the same request with another %s",
    async (name) => {
      const world = createWorld();
      const sent = await world.send({ headers: { ...(await lost(world)), [name]: "another" } });
      expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
    },
  );

  it.each([
    ["method", { method: "POST" }],
    ["query", { target: "/report?b" }],
    ["path", { target: "/other" }],
    ["body", { body: "more" }],
  ])("gives nothing to a request with another %s", async (_what, change) => {
    const world = createWorld();
    const sent = await world.send({ headers: await lost(world), ...change });
    expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
  });

  it("gives nothing where the body's digest cannot be had, for no retry key stands in its place", async () => {
    const world = createWorld();
    const headers = await world.sign();
    await world.send({ method: "POST", headers, body: "unreadable", client: "leaves" });
    const sent = await world.send({ method: "POST", headers, body: "unreadable" });
    expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
  });

  it("runs the handler again where no answer is kept, and says so in the payment", async () => {
    const world = createWorld({ terms: { replayMs: 0 } });
    const sent = await world.send({ headers: await lost(world) });
    expect(sent.answer.status).toBe(200);
    expect(world.runs.map(({ run }) => run)).toEqual([1, 2]);
    expect(sent.payment?.transaction).toBe(TRANSACTION);
    expect(world.receiver.calls.settle).toBe(1);
  });
});
