// The table of outcomes, row by row: what each answer means for each kind of proof.
import { describe, expect, it } from "vitest";
import { judgeAnswer, type PaidAnswer, type ProofState, type Step } from "../../src/client/outcome.js";

const FRESH: ProofState = { earlier: false, expired: false, settled: false };
const EARLIER = { ...FRESH, earlier: true };
const EXPIRED = { ...EARLIER, expired: true };
const SETTLED = { ...FRESH, settled: true };
const SETTLED_AND_EXPIRED = { ...EXPIRED, settled: true };
const STATES = { FRESH, EARLIER, EXPIRED, SETTLED, SETTLED_AND_EXPIRED };

const answer = (status: number | undefined, parts: Partial<PaidAnswer> = {}): PaidAnswer => ({
  status,
  lost: false,
  code: undefined,
  retry: undefined,
  ...parts,
});
const LOST = answer(undefined, { lost: true });
const ended = (code: string, forget: boolean): Step => ({ kind: "ended", code, forget }) as Step;

describe("judgeAnswer", () => {
  it.each(Object.entries(STATES))("2xx serves, 3xx leads on, other answers are the caller's: %s", (_name, proof) => {
    for (const status of [200, 201, 204, 206, 299])
      expect(judgeAnswer(answer(status), proof, 0)).toEqual({ kind: "served" });
    for (const status of [301, 302, 303, 307, 308]) expect(judgeAnswer(answer(status), proof, 0).kind).toBe("follow");
    for (const status of [300, 304, 400, 401, 403, 404, 410, 412, 418, 500, 501, 505])
      expect(judgeAnswer(answer(status), proof, 3)).toEqual({ kind: "returned" });
  });

  it.each([...[409, 425, 429, 502, 503, 504].map((status) => answer(status)), LOST])("%o is asked again", (seen) => {
    for (const proof of Object.values(STATES)) {
      expect(judgeAnswer(seen, proof, 1)).toEqual({ kind: "again" });
      const code = proof.settled ? "charged_without_goods" : "outcome_unknown";
      expect(judgeAnswer(seen, proof, 0)).toEqual(ended(code, false));
    }
  });

  it("an answer that a browser does not show leaves the outcome unknown", () => {
    expect(judgeAnswer(answer(undefined), FRESH, 3)).toEqual(ended("outcome_unknown", false));
  });

  it("payment_already_used ends it, and the proof is of no use any more", () => {
    const used = answer(409, { code: "payment_already_used", retry: "never" });
    for (const proof of Object.values(STATES))
      expect(judgeAnswer(used, proof, 3)).toEqual(ended("payment_already_used", true));
  });

  it("a refusal is believed of a later call alone, and never of a proof that was settled", () => {
    for (const refusal of [answer(402), answer(409, { code: "payment_too_old", retry: "never" })]) {
      expect(judgeAnswer(refusal, FRESH, 3)).toEqual(ended("payment_refused", false));
      expect(judgeAnswer(refusal, EARLIER, 3)).toEqual(ended("payment_refused", true));
      expect(judgeAnswer(refusal, EXPIRED, 3)).toEqual({ kind: "expired" });
      expect(judgeAnswer(refusal, SETTLED, 3)).toEqual(ended("charged_without_goods", false));
      expect(judgeAnswer(refusal, SETTLED_AND_EXPIRED, 3)).toEqual(ended("charged_without_goods", false));
    }
  });

  it("pays anew for nothing but a refused proof of an earlier call that ran out", () => {
    const answers = [100, 200, 302, 400, 402, 404, 409, 425, 429, 500, 502, 503, 504].map((status) => answer(status));
    const expired = [...answers, LOST].flatMap((seen) =>
      Object.entries(STATES).flatMap(([name, proof]) =>
        [0, 1].filter((repeats) => judgeAnswer(seen, proof, repeats).kind === "expired").map(() => [seen.status, name]),
      ),
    );
    expect(expired).toEqual([
      [402, "EXPIRED"],
      [402, "EXPIRED"],
    ]);
  });
});
