// One file for several processes: what they count together is exact, and what dies in the middle of a write spoils nothing.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileBuyerStore } from "../../src/client/file.js";
import { decodeLedger } from "../../src/client/file-format.js";
import { dice } from "../support/dice.js";
import { runNode, startNode } from "../support/process.js";
import { bundleStoreScript, countedIn, type StoreScript } from "./file-process.js";
import { limitOf, spendOf } from "./store-contract.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-buyer-"));
let script: StoreScript;
beforeAll(async () => {
  script = await bundleStoreScript();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  script.remove();
});

const idsIn = (path: string): string[] => {
  const decoded = decodeLedger(readFileSync(path, "utf8"));
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.ledger.spends.map(({ id }) => id);
};

describe("processes that share the file of a buyer", () => {
  it("count of 4 × 50 payments exactly as many as the limit holds", async () => {
    const path = join(folder, "race.json");
    const names = ["a", "b", "c", "d"];
    const ended = await Promise.all(names.map((name) => runNode(script.args(path, name, 50), { LIMIT: "137" })));
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(names.map(() => ({ code: 0, stderr: "" })));
    const counted = ended.flatMap(({ stdout }) => countedIn(stdout));
    expect(counted).toHaveLength(137);
    expect(idsIn(path).sort()).toEqual(counted.sort());
    // It was a race: no one of them was through before the others began.
    expect(new Set(counted.map((id) => id[0])).size).toBeGreaterThan(2);
  }, 120_000);

  it("lose nothing that was counted when one is killed in the middle of its writes", async () => {
    const path = join(folder, "kill.json");
    const draw = dice(20_260_101);
    const counted: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      const other = await startNode(script.args(path, `other${round}`, 1_000_000));
      const victim = await startNode(script.args(path, `victim${round}`, 1_000_000));
      // Killed after some of its writes, at a moment that is in the middle of the next ones.
      const enough = 1 + draw(4);
      const deadline = Date.now() + 20_000;
      while (countedIn(victim.output()).length < enough && Date.now() < deadline) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const spin = performance.now() + draw(40) / 10;
      while (performance.now() < spin);
      await victim.kill();
      // The other one goes on, past whatever the victim left behind.
      const soFar = countedIn(other.output()).length;
      while (countedIn(other.output()).length < soFar + 3 && Date.now() < deadline) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(countedIn(other.output()).length).toBeGreaterThanOrEqual(soFar + 3);
      await other.kill();
      counted.push(...countedIn(victim.output()), ...countedIn(other.output()));
      const kept = new Set(idsIn(path));
      expect(counted.filter((id) => !kept.has(id))).toEqual([]);
    }
    // A process that comes later counts on, whoever held the lock when it died.
    const total = BigInt(idsIn(path).length);
    const store = fileBuyerStore(path);
    expect(await store.reserve(spendOf("last", 1n), [limitOf(total)])).toMatchObject({ ok: false, spent: total });
  }, 120_000);
});
