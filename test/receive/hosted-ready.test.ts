// Start-up checks of `hosted()` over a gateway whose list was wrong for a moment.
import { expect, it } from "vitest";
import { checkHosted } from "../../src/receive/hosted-ready.js";
import type { HttpReply } from "../../src/receive/http.js";
import { createSupportedCache, type Fetched } from "../../src/receive/supported.js";
import type { SupportedResponse } from "../../src/wire/facilitator.js";
import { REQUIREMENT } from "../support/bound-proof.js";
import { settle } from "../support/fake-clock.js";
import { handClock } from "../support/hand-clock.js";

const answered = (status: number, body: unknown): HttpReply => ({
  outcome: "answer",
  status,
  body,
  retryAfterMs: undefined,
});

it("a list that lacks the network is fetched anew, so that the next look sees whether one odd answer was all", async () => {
  const clock = handClock();
  const kinds = [{ x402Version: 2, scheme: "exact", network: REQUIREMENT.network }];
  let fetches = 0;
  const supported = createSupportedCache<SupportedResponse>({
    async fetchList(): Promise<Fetched<SupportedResponse>> {
      fetches += 1;
      return { outcome: "list", list: { kinds: fetches === 1 ? [] : kinds, extensions: [], signers: {} } };
    },
    // What is fetched anew at leisure is not what this is about.
    clock: { now: clock.now, after: () => () => {} },
    random: () => 0.5,
    onFailure: () => {},
  });
  const api = {
    status: async () => answered(404, {}),
    probe: async () =>
      answered(400, {
        success: false,
        error: { code: "INVALID_PAYMENT_PROOF", message: "no proof", retryable: false },
      }),
  };
  const options = { baseUrl: "https://gateway.example", apiKey: `tg_test_${"1".repeat(43)}` };
  const look = () =>
    checkHosted({ api, supported, options, timeoutMs: 1_000 }, [REQUIREMENT], AbortSignal.timeout(1_000));
  expect(await look()).toMatchObject({ state: "misconfigured", problems: [{ check: "supported", got: "nothing" }] });
  clock.advance(60_000);
  expect(await look()).toMatchObject({ state: "misconfigured" });
  await settle();
  expect(await look()).toEqual({ state: "ready" });
  supported.close();
});
