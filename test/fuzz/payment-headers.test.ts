// Payment headers of every wrong kind against the whole guard and the local receiver: nothing throws, nothing is our fault
// (5xx), nothing is sold but to a right payment in another spelling, and what cannot be read never reaches the chain.
// 5,000 headers in CI; `FUZZ=100000 npx vitest run test/fuzz/payment-headers.test.ts` for all.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Base, createJudge, identityOf, type Judge, type Judged, readHeader } from "./support/judge.js";
import { type Disguise, disguise, type Edit, edit, editJson, encode, noise } from "./support/mutations.js";
import { HEADERS, SEED } from "./support/scale.js";

/** Bases are signed anew for each batch: an authorization lives for a minute. */
const BATCH = 5000;
const BASES = 20;
/** How often one proof may be tried with a handler that fails. */
const MAX_RUNS = 3;

interface Case {
  readonly base: number;
  readonly edits: readonly Edit[];
  readonly disguise: Disguise;
  /** Which header it stands in; `both`: beside the untouched payment in the other. */
  readonly where: "own" | "other" | "both";
  readonly noise: string | undefined;
  readonly key: string | undefined;
}

/** One time in `n`, else undefined. */
const rarely = <T>(n: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

// Without the usual bias towards small numbers, which would leave most members untouched.
const fuzzed: fc.Arbitrary<Case> = fc.noBias(
  fc.record({
    base: fc.nat(BASES - 1),
    edits: fc.oneof(
      { weight: 4, arbitrary: fc.tuple(edit) },
      { weight: 1, arbitrary: fc.array(edit, { maxLength: 4 }) },
    ),
    disguise,
    where: fc.constantFrom(...Array<"own">(10).fill("own"), "other", "both", "both"),
    noise: rarely(4, noise),
    key: rarely(12, fc.string({ unit: "binary", maxLength: 140 })),
  }),
);

const NAMES = { 1: "X-PAYMENT", 2: "PAYMENT-SIGNATURE" } as const;

function headersOf(one: Case, bases: readonly Base[]): Record<string, string> {
  const { version, payload, twin } = bases[one.base] as Base;
  const text = one.noise ?? encode(editJson(payload, one.edits), one.disguise);
  const other = version === 1 ? NAMES[2] : NAMES[1];
  const key = one.key === undefined ? {} : { "Idempotency-Key": one.key };
  if (one.where === "other") return { ...key, [other]: text };
  const plain = { [other]: encode(JSON.stringify(twin), { encoding: 0, pick: 0 }) };
  return { ...key, ...(one.where === "both" && plain), [NAMES[version]]: text };
}

let court: Judge;
beforeAll(async () => {
  court = await createJudge();
});
afterAll(() => court.close());

/** Refusals that are decided from the header alone. */
const isUnread = ({ status }: Judged) => status === 400;

it(
  `answers each of ${HEADERS} wrong headers with a code, sells to none, and asks the chain about none that it cannot read`,
  async () => {
    const buyers = await court.sandbox.newBuyers(BASES);
    const codes = new Map<string, number>();
    const time = { unread: 0, unreadCount: 0, all: 0, most: 0 };
    const holes: string[] = [];

    for (let done = 0; done < HEADERS; done += BATCH) {
      const bases = await Promise.all(buyers.map((buyer, at) => court.sign(buyer, at % 2 ? 1 : 2)));
      const runs = new Map<string, number>();
      const cases = fc.sample(fuzzed, { seed: SEED + done, numRuns: Math.min(BATCH, HEADERS - done) });
      for (const one of cases) {
        const headers = headersOf(one, bases);
        const judged = await court.judge(headers);
        const shown = `${judged.status} ${judged.code} for ${JSON.stringify(headers).slice(0, 3000)}`;
        const label = judged.admitted ? "admitted" : `${judged.status} ${judged.code}`;
        codes.set(label, (codes.get(label) ?? 0) + 1);
        time.all += judged.ms;
        time.most = Math.max(time.most, judged.ms);
        if (isUnread(judged)) {
          time.unread += judged.ms;
          time.unreadCount += 1;
          if (judged.calls > 0) holes.push(`the chain was asked: ${shown}`);
        }
        if (judged.admitted) {
          const texts = Object.values({ ...headers, "Idempotency-Key": "" }).filter((text) => text !== "");
          const identities = texts.map((text) => identityOf(readHeader(text)));
          const { identity } = bases[one.base] as Base;
          runs.set(identity, (runs.get(identity) ?? 0) + 1);
          if (identities.some((found) => found !== identity)) holes.push(`sold to another payment: ${shown}`);
          if ((runs.get(identity) ?? 0) > MAX_RUNS) holes.push(`one proof ran too often: ${shown}`);
        } else if (judged.status < 400 || judged.status >= 500 || typeof judged.code !== "string") holes.push(shown);
      }
    }

    const mean = time.unread / time.unreadCount;
    console.info(
      `${HEADERS} headers: ${(time.all / HEADERS).toFixed(2)} ms each, unreadable ones ${mean.toFixed(3)} ms, the longest ${time.most.toFixed(0)} ms\n` +
        [...codes]
          .sort(([, a], [, b]) => b - a)
          .map(([code, count]) => `  ${count} ${code}`)
          .join("\n"),
    );
    expect(holes).toEqual([]);
    expect(court.failures).toEqual([]);
    // Generous: a header that cannot be read costs some tens of microseconds.
    expect(mean).toBeLessThan(5);
    // The fuzz is worth nothing if all of it dies at the decoder, or if a right payment is never among it.
    for (const code of [
      "400 payment_malformed",
      "402 offer_mismatch",
      "402 signature_invalid",
      "402 amount_mismatch",
      "400 payment_headers_conflict",
      "400 payment_header_too_large",
      "admitted",
    ]) {
      expect(codes.get(code) ?? 0, code).toBeGreaterThan(HEADERS / 1000);
    }
    expect(await court.sandbox.token.balanceOf(court.sandbox.seller)).toBe(0n);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  },
  60_000 + HEADERS * 30,
);
