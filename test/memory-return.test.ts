// Memory after many requests: what was sold is forgotten once its time is over, and unpaid requests leave nothing behind.
// Short in CI; the 100,000 unpaid and 20,000 paid of the long form by `FULL=1`.
import { expect, it } from "vitest";
import { heldBytes } from "./support/heap.js";
import { createWorld, makeRequest } from "./support/world.js";

const [UNPAID, PAID] = process.env.FULL ? [100_000, 20_000] : [10_000, 1_000];
const MEGABYTE = 1024 * 1024;

it("returns to within 20 MB of the start once the payments' time is over", async () => {
  const world = createWorld({ limits: { openClaimsPerPayer: PAID } });
  const sell = async () => (await world.send({ headers: await world.sign() })).answer.status;
  for (let warm = 0; warm < 200; warm += 1) await sell();
  await world.clock.advance(3_600_000);
  world.runs.length = 0;
  world.log.length = 0;
  const start = heldBytes();
  for (let at = 0; at < UNPAID; at += 1) await world.guard(makeRequest({ target: `/report?${at}` }));
  let sold = 0;
  for (let at = 0; at < PAID; at += 1) sold += (await sell()) === 200 ? 1 : 0;
  world.runs.length = 0;
  world.log.length = 0;
  const full = heldBytes();
  await world.clock.advance(3_600_000);
  await world.store.read([]);
  const end = heldBytes();
  console.log(
    `${UNPAID} unpaid and ${PAID} paid: ${((full - start) / MEGABYTE).toFixed(1)} MB more while they are remembered, ` +
      `${((end - start) / MEGABYTE).toFixed(1)} MB an hour later`,
  );
  expect(sold).toBe(PAID);
  expect(end - start).toBeLessThan(20 * MEGABYTE);
}, 600_000);
