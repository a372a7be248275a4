// Kept answers and equivalent encodings: what a repeat of one proof can and cannot have.
import { expect, it } from "vitest";
import { createWorld, type Handler, makeRequest } from "./support/world.js";

const KEY = "retry-key-0123456789";

it("gives a buyer with another Accept header a fresh run instead of the kept answer, once the retry key is shown", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers, client: "leaves" });
  const sent = await world.send({ headers: { ...headers, Accept: "text/csv" } });
  expect(sent.answer.status).toBe(200);
  expect(sent.header("Payment-Replayed")).toBeUndefined();
  expect(world.runs).toHaveLength(2);
});

it("delivers an answer that is cut off again and again at most three times", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  const statuses: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    statuses.push((await world.send({ headers, client: "leaves" })).answer.status);
  }
  expect(statuses).toEqual([200, 200, 200, 409, 409, 409]);
  expect(world.receiver.calls.settle).toBe(1);
});

it("gives a kept answer that arrived no more often than three times in all", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  const statuses: number[] = [];
  for (let round = 0; round < 5; round += 1) statuses.push((await world.send({ headers })).answer.status);
  expect(statuses).toEqual([200, 200, 200, 409, 409]);
});

it("counts replays that are asked for at once: three sendings in all", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers });
  const all = await Promise.all(Array.from({ length: 10 }, () => world.send({ headers })));
  expect(all.filter(({ answer }) => answer.status === 200)).toHaveLength(2);
});

it("gives the undelivered goods to one of the retries that arrive together", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers, client: "leaves" });
  const verdicts = await Promise.all(Array.from({ length: 5 }, () => world.guard(makeRequest({ headers }))));
  expect(verdicts.filter(({ kind }) => kind === "replay")).toHaveLength(1);
  expect(verdicts.filter(({ kind }) => kind === "refuse")).toHaveLength(4);
});

it("gives a kept answer that was delivered to no request with other headers", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers });
  const sent = await world.send({ headers: { ...headers, Cookie: "session=another" } });
  expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
});

it("never keeps an answer that sets a cookie", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  const cookie: Handler = () => ({ status: 200, headers: [["Set-Cookie", "a=1"]], body: "yours" });
  await world.send({ headers }, cookie);
  const sent = await world.send({ headers });
  expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
});

it("never keeps an answer over 64 KiB", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers }, () => ({ status: 200, headers: [], body: "x".repeat(64 * 1024 + 1) }));
  expect((await world.send({ headers })).answer.status).toBe(409);
});

it("treats base64, base64url, padded or not, upper-case hex and reordered keys as one proof", async () => {
  const world = createWorld();
  const headers = await world.sign();
  const standard = headers["PAYMENT-SIGNATURE"] ?? "";
  await world.send({ headers });
  const payload = JSON.parse(atob(standard)) as {
    payload: { signature: string; authorization: Record<string, string> };
  };
  const upper = structuredClone(payload);
  upper.payload.authorization.nonce = `0x${upper.payload.authorization.nonce?.slice(2).toUpperCase()}`;
  const reordered = Object.fromEntries(Object.entries(payload).reverse());
  const forms = [
    standard.replace(/=+$/, ""),
    standard.replaceAll("+", "-").replaceAll("/", "_"),
    ` ${standard} `,
    btoa(JSON.stringify(upper)),
    btoa(JSON.stringify(reordered, null, 2)),
  ];
  for (const form of forms) {
    const sent = await world.send({ headers: { "PAYMENT-SIGNATURE": form } });
    expect([sent.answer.status, sent.json().code]).toEqual([409, "payment_already_used"]);
  }
  expect(world.runs).toHaveLength(1);
});

it("answers a proof with a forged signature as forged, whatever the record of the true one says", async () => {
  const world = createWorld();
  const headers = await world.sign();
  await world.send({ headers, client: "leaves" });
  const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as { payload: { signature: string } };
  payload.payload.signature = `0x${"11".repeat(65)}`;
  const forged = await world.send({ headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) } });
  expect([forged.answer.status, forged.json().code]).toEqual([402, "signature_invalid"]);
  expect((await world.send({ headers })).answer.status).toBe(200);
});

it("gives a paid proof its goods although the price has changed since, and a forged copy of it nothing", async () => {
  let price = "$0.01";
  const world = createWorld({ price: () => price });
  const headers = await world.sign();
  await world.send({ headers, client: "leaves" });
  price = "$0.02";
  const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as { payload: { signature: string } };
  payload.payload.signature = `0x${"11".repeat(65)}`;
  const forged = await world.send({ headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) } });
  expect([forged.answer.status, forged.json().code]).toEqual([402, "offer_mismatch"]);
  expect((await world.send({ headers })).answer.status).toBe(200);
  expect(world.receiver.calls.settle).toBe(1);
});

it("says in words what a repeat would have needed", async () => {
  const expected = async (change: Parameters<ReturnType<typeof createWorld>["send"]>[0], client?: "leaves") => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    await world.send({ headers, ...(client && { client }) });
    const sent = await world.send({ ...change, headers: { ...headers, ...change.headers } });
    return sent.json().expected;
  };
  expect(await expected({ headers: { Accept: "other" } })).toContain("Accept");
  expect(await expected({ target: "/other" }, "leaves")).toContain("target");
});
