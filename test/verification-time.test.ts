// How long a receiver may take over a proof.
import { expect, it } from "vitest";
import type { Receiver } from "../src/receive/receiver.js";
import { createVerifier } from "../src/verification.js";
import { latch } from "./adapters/script.js";
import { createFakeClock } from "./support/fake-clock.js";

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
  const now = BigInt(Math.floor(clock.now() / 1000));
  const proof = {
    digest: "digest",
    authorization: { validAfter: 0n, validBefore: now + 60n },
    requirement: { method: "eip3009", maxTimeoutSeconds: 60, extra: {} },
  } as unknown as Parameters<ReturnType<typeof createVerifier>["verify"]>[0];
  const resource = { url: "https://shop.test/", description: "", mimeType: "" };
  const result = createVerifier({ verify } as Receiver, clock).verify(proof, resource, {
    ...{ handlerTimeoutMs: 0, settleMs: 0, blockMs: 0, since: 0 },
  });
  const signal = await asked.promise;
  await clock.advance(5_999);
  expect(signal.aborted).toBe(false);
  await clock.advance(2);
  expect(signal.aborted).toBe(true);
  done.open();
  expect(await result).toMatchObject({ outcome: "unavailable" });
});
