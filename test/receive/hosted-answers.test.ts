// What a gateway's answers prove to the `hosted` receiver: positive evidence or nothing.
import { beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.js";
import type { AuthorizationProof } from "../../src/proof.js";
import { createAlarms } from "../../src/receive/alarms.js";
import { readFinality, readReceived, readStatus, readVerified } from "../../src/receive/hosted-answers.js";
import type { HttpReply } from "../../src/receive/http.js";
import type { Trace } from "../../src/receive/receiver.js";
import { makeProof, PAYER, REQUIREMENT } from "../support/bound-proof.js";

const alarms = createAlarms(silentLogger, { now: () => 0, after: () => () => {} });
const TRANSACTION = `0x${"ab".repeat(32)}`;
let proof: AuthorizationProof;
beforeAll(async () => {
  proof = await makeProof();
});

const reply = (status: number, body: unknown): HttpReply => ({
  outcome: "answer",
  status,
  body,
  retryAfterMs: undefined,
});
const error = (status: number, code: string, path?: string) => {
  const details = path === undefined ? {} : { details: [{ path, message: "words" }] };
  return reply(status, { success: false, error: { code, message: "words", ...details } });
};
const good = (more: object = {}) => ({
  success: true,
  verified: true,
  status: "confirmed",
  payer: PAYER.address,
  signature: TRANSACTION,
  network: REQUIREMENT.network,
  amountAtomic: REQUIREMENT.amount.toString(),
  ...more,
});
const lost = (sent: boolean): HttpReply => ({ outcome: "failed", failure: "unreachable", sent, message: "reset" });

describe("a verification by the gateway", () => {
  it("is valid by a 200 about this very payment, with the balance that it names", () => {
    const body = good({ status: null, signature: null, balanceAtomic: "7" });
    expect(readVerified(reply(200, body), proof, alarms)).toEqual({
      outcome: "valid",
      payer: proof.payer,
      balance: 7n,
    });
  });

  it.each([
    ["another payer", { payer: REQUIREMENT.payTo }],
    ["another network", { network: "eip155:8453" }],
    ["less money", { amountAtomic: "1" }],
    ["verified: false", { verified: false }],
    ["success as text", { success: "true" }],
  ])("is nobody's verdict where a 200 tells of %s", (_name, more) => {
    expect(readVerified(reply(200, good(more)), proof, alarms)).toMatchObject({
      outcome: "unavailable",
      code: "receiver_bad_response",
    });
  });

  it.each([
    ["already_used", { outcome: "used" }],
    ["payment_expired", { outcome: "invalid", code: "payment_expired" }],
    ["insufficient_funds", { outcome: "invalid", code: "insufficient_funds" }],
    ["a word that is not ours", { outcome: "invalid", code: "payment_rejected" }],
    ["__proto__", { outcome: "invalid", code: "payment_rejected" }],
  ])("is the payer's fault by INVALID_PAYMENT_PROOF with %s", (path, expected) => {
    expect(readVerified(error(400, "INVALID_PAYMENT_PROOF", path), proof, alarms)).toMatchObject(expected);
  });

  it.each([
    ["401", error(401, "UNAUTHORIZED"), "receiver_auth"],
    ["403", error(403, "FORBIDDEN"), "receiver_auth"],
    ["429", error(429, "RATE_LIMIT"), "receiver_unreachable"],
    ["502", error(502, "PAYMENT_VERIFICATION_FAILED"), "receiver_unreachable"],
    ["504 of a proxy", reply(504, "<html>"), "receiver_unreachable"],
    ["terms that it does not take", error(400, "INVALID_REQUEST", "asset"), "receiver_bad_response"],
    ["a page", reply(404, "<html>"), "receiver_bad_response"],
    ["no answer", lost(true), "receiver_unreachable"],
  ])("leaves the payment good after %s", (_name, answered, code) => {
    expect(readVerified(answered, proof, alarms)).toMatchObject({ outcome: "unavailable", code });
  });
});

describe("a settlement by the gateway", () => {
  it.each(["confirmed", "finalized"])("is settled by a 200 with the status %s and a transaction", (status) => {
    expect(readReceived(reply(200, good({ status })), proof, alarms)).toEqual({
      outcome: "settled",
      transaction: TRANSACTION,
      payer: proof.payer,
      evidence: "word",
    });
  });

  it.each([
    ["created", good({ status: "created" })],
    ["submitted", good({ status: "submitted" })],
    ["no status", good({ status: null })],
    ["no transaction", good({ signature: null })],
    ["a transaction that cannot stand in a header", good({ signature: "0x1\r\nx: y" })],
    ["another payer", good({ payer: REQUIREMENT.payTo })],
    ["less money", good({ amountAtomic: "9999" })],
    ["nothing of it", {}],
  ])("is unknown by a 200 with %s", (_name, body) => {
    expect(readReceived(reply(200, body), proof, alarms)).toMatchObject({ outcome: "unknown" });
  });

  it("says what came where it is more than the price", () => {
    const more = (REQUIREMENT.amount + 1n).toString();
    expect(readReceived(reply(200, good({ amountAtomic: more })), proof, alarms)).toMatchObject({
      outcome: "settled",
      received: REQUIREMENT.amount + 1n,
    });
  });

  it.each([
    ["no answer", lost(true), true],
    ["504 of a proxy", reply(504, "<html>"), true],
    ["429 of a proxy", reply(429, "<html>"), true],
    ["401 of a proxy", reply(401, "<html>"), true],
    ["500", error(500, "INTERNAL"), true],
    ["terms that it does not take", error(400, "INVALID_REQUEST"), undefined],
    ["a payment that is on its way", reply(200, good({ status: "submitted" })), undefined],
  ])("is unknown after %s, and the gateway's own fault, or not", (_name, answered, unanswered) => {
    const settlement = readReceived(answered, proof, alarms);
    expect(settlement.outcome).toBe("unknown");
    expect("unanswered" in settlement ? settlement.unanswered : undefined).toBe(unanswered);
  });

  it("is refused by the gateway's own refusal of the proof alone", () => {
    expect(readReceived(error(400, "INVALID_PAYMENT_PROOF", "already_used"), proof, alarms)).toMatchObject({
      outcome: "refused",
      code: "payment_already_used",
    });
    expect(readReceived(error(400, "INVALID_REQUEST"), proof, alarms)).toMatchObject({ outcome: "unknown" });
    expect(readReceived(reply(400, {}), proof, alarms)).toMatchObject({ outcome: "unknown" });
  });

  it.each([
    ["401", 401, "UNAUTHORIZED"],
    ["403", 403, "FORBIDDEN"],
    ["429", 429, "RATE_LIMIT"],
    ["503", 503, "UNAVAILABLE"],
  ] as const)(
    "has provably not begun after the gateway's own %s, but may have after a proxy's",
    (_name, status, code) => {
      // It was asked, so nobody else may be asked in its place.
      expect(readReceived(error(status, code), proof, alarms)).toMatchObject({
        outcome: "unavailable",
        answered: true,
      });
      expect(readReceived(reply(status, "<html>"), proof, alarms)).toMatchObject({ outcome: "unknown" });
    },
  );

  it.each([
    ["500", error(500, "INTERNAL_ERROR")],
    ["502", error(502, "PAYMENT_VERIFICATION_FAILED")],
    ["504", error(504, "PAYMENT_VERIFICATION_FAILED")],
    ["409", error(409, "CONFLICT")],
    ["a lost answer", lost(true)],
  ])("is unknown after %s", (_name, answered) => {
    expect(readReceived(answered, proof, alarms)).toMatchObject({ outcome: "unknown" });
  });

  it("has not begun where not one byte of the request has left", () => {
    expect(readReceived(lost(false), proof, alarms)).toEqual({ outcome: "unavailable", message: expect.any(String) });
  });
});

describe("a lookup at the gateway", () => {
  const trace = (): Trace => ({
    proofId: proof.id,
    network: REQUIREMENT.network,
    asset: REQUIREMENT.asset,
    payer: proof.payer,
    payTo: REQUIREMENT.payTo,
    amount: REQUIREMENT.amount.toString(),
    method: "eip3009",
    nonce: proof.nonce,
    validBefore: proof.validBefore,
    transaction: null,
    expiry: null,
    received: null,
  });
  const record = (more: object = {}) => ({
    success: true,
    type: "received",
    status: "confirmed",
    network: REQUIREMENT.network,
    recipient: REQUIREMENT.payTo,
    signature: TRANSACTION,
    amountAtomic: REQUIREMENT.amount.toString(),
    ...more,
  });

  it("stays or is lost by the gateway's record, and by nothing less: a gateway that knows none has proven nothing", () => {
    const transaction = TRANSACTION;
    const final = readFinality(reply(200, record({ status: "finalized" })), trace());
    expect(final).toEqual({ outcome: "final", transaction });
    expect(readFinality(reply(200, record()), trace())).toEqual({ outcome: "settled", transaction });
    expect(readFinality(reply(200, record({ status: "failed" })), trace())).toEqual({ outcome: "lost" });
    for (const other of [error(404, "NOT_FOUND"), reply(200, record({ status: "submitted" })), reply(500, "")]) {
      expect(readFinality(other, trace())).toMatchObject({ outcome: "unknown" });
    }
  });

  it("is settled by a confirmed record of this payment", () => {
    expect(readStatus(reply(200, record()), trace())).toEqual({ outcome: "settled", transaction: TRANSACTION });
  });

  it.each([
    ["another recipient", { recipient: PAYER.address }],
    ["another network", { network: "eip155:8453" }],
    ["less money", { amountAtomic: "1" }],
    ["a payment that was sent", { type: "sent" }],
    ["a payment that is on its way", { status: "submitted" }],
    ["no transaction", { signature: null }],
  ])("is unknown by a record of %s", (_name, more) => {
    expect(readStatus(reply(200, record(more)), trace())).toMatchObject({ outcome: "unknown" });
  });

  it("tells a record that ended without money from none at all, and both from a page that is not there", () => {
    expect(readStatus(reply(200, record({ status: "failed" })), trace())).toEqual({ outcome: "over" });
    expect(readStatus(error(404, "NOT_FOUND"), trace())).toEqual({ outcome: "absent" });
    expect(readStatus(reply(404, "<html>"), trace())).toMatchObject({ outcome: "unknown" });
  });
});
