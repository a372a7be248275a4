// Whatever a stranger puts where, `tollgate explain` answers with a list of flaws, in bounded space, without a signature and without
// a character that a terminal obeys.
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import * as spl from "../chains/solana/payment.js";
import { run } from "./cli.js";
import { asV1, challenge, OFFER, payment } from "./explaining.js";

type Json = Record<string, unknown>;

const values: { readonly name: string; readonly value: Json }[] = [];
beforeAll(async () => {
  const made = await payment();
  const offer = {
    ...OFFER,
    network: spl.TERMS.network,
    asset: spl.TERMS.mint,
    payTo: spl.TERMS.payTo,
    extra: { feePayer: spl.TERMS.feePayer },
  };
  values.push(
    { name: "PAYMENT-REQUIRED", value: challenge() },
    {
      name: "PAYMENT-SIGNATURE",
      value: {
        ...made,
        extensions: { "payment-identifier": { info: { required: false, id: "retry-key-0123456789" } } },
      },
    },
    { name: "X-PAYMENT", value: asV1(made) },
    { name: "PAYMENT-SIGNATURE", value: { ...made, accepted: offer, payload: { transaction: spl.pay() } } },
    {
      name: "PAYMENT-RESPONSE",
      value: { success: true, transaction: `0x${"ab".repeat(32)}`, network: "eip155:84532", payer: OFFER.payTo },
    },
  );
});

/** Paths of all members, the value itself left out. */
function pathsOf(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [at];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...(at.length > 0 ? [at] : []), ...members.flatMap(([key, member]) => pathsOf(member, [...at, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Json;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "eip155:1",
    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    "base",
    "0x",
    `0x${"f".repeat(64)}`,
    "9".repeat(78),
    "AAAA",
    -1,
    2 ** 60,
  ),
);

it("one member of anything replaced by anything is told, and nothing breaks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(4), fc.nat(), anything, fc.boolean(), async (which, place, by, terminal) => {
      const { name, value } = values[which]!;
      const paths = pathsOf(value);
      const changed = replaced(value, paths[place % paths.length]!, by);
      const text = `${name}: ${encodeHeader(changed)}`;
      const { code, stdout, stderr } = await run(["explain", text], { terminal, env: { NO_COLOR: "1" } });
      expect([0, 1]).toContain(code);
      expect(stderr).toMatch(/^(?:(?:One thing is|\d+ things are) wrong\.\n)?$/);
      expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(stdout.length).toBeLessThan(20_000);
      if (!terminal) expect(JSON.parse(stdout).ok).toBe(code === 0);
    }),
    { seed: 402, numRuns: 400 },
  );
});

it("text of any kind is no reason to break either", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 400 }), async (text) => {
      const { code, stderr } = await run(["explain"], { input: text });
      expect([0, 1]).toContain(code);
      expect(stderr).toMatch(/wrong\.\n$|^Nothing of x402|^$/);
    }),
    { seed: 402, numRuns: 200 },
  );
});
