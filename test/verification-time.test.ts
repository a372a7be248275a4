// How long a receiver may take over a proof.
import { expect, it } from "vitest";
import type { Clock } from "../src/clock.js";
import type { Receiver } from "../src/receive/receiver.js";
import { createVerifier } from "../src/verification.js";
import { latch } from "./adapters/script.js";
import { createFakeClock } from "./support/fake-clock.js";

const RESOURCE = { url: "https://shop.test/", description: "", mimeType: "" };
const WINDOW = { handlerTimeoutMs: 0, settleMs: 0, blockMs: 0, since: 0 };

/** Good for a minute. */
function proofAt(clock: Clock) {
  const now = BigInt(Math.floor(clock.now() / 1000));
  return {
    digest: "digest",
    authorization: { validAfter: 0n, validBefore: now + 60n },
    requirement: { method: "eip3009", maxTimeoutSeconds: 60, extra: {} },
  } as unknown as Parameters<ReturnType<typeof createVerifier>["verify"]>[0];
}

it("tells a receiver that takes more than ten seconds to give up, also one that asks for the signal late", async () => {
  const clock = createFakeClock();
  const asked = latch<AbortSignal>();
  const done = latch();
  const verify: Receiver["verify"] = async (_proof, context) => {
    await clock.advance(4_000);
    asked.open(context.signal);
    await done.promise;
    return { outcome: "unavailable", code: "not_ready", message: "given up" };
  };
  const result = createVerifier({ verify } as Receiver, clock).verify(proofAt(clock), RESOURCE, WINDOW);
  const signal = await asked.promise;
  await clock.advance(5_999);
  expect(signal.aborted).toBe(false);
  await clock.advance(2);
  expect(signal.aborted).toBe(true);
  done.open();
  expect(await result).toMatchObject({ outcome: "unavailable" });
});

it("lets no copy in that comes too late for a slow route, while another one at a quick route is being looked at", async () => {
  const clock = createFakeClock();
  const done = latch();
  let asked = 0;
  const verify: Receiver["verify"] = async () => {
    asked += 1;
    if (asked === 1) await done.promise;
    return { outcome: "valid", payer: "0xpayer" };
  };
  const { verify: judge } = createVerifier({ verify } as Receiver, clock);
  const proof = proofAt(clock);
  const quick = judge(proof, RESOURCE, WINDOW);
  const slow = judge(proof, RESOURCE, { ...WINDOW, handlerTimeoutMs: 61_000 });
  expect(await slow).toMatchObject({ outcome: "invalid", code: "payment_expires_too_soon" });
  done.open();
  expect(await quick).toMatchObject({ outcome: "valid" });
});
