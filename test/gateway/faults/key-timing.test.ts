// A41: what the time of an answer could tell about a key. The timings are taken by `node bench/key-timing.mjs`, because they need
// a quiet machine; here the work is counted, which is the same whether a key's prefix is known or not.
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";

describe.each([
  ["SQLite", "sqlite"],
  ["Postgres", "postgres"],
] as const)("A41: a key's prefix on %s", (_name, database) => {
  const skip = () => database === "postgres" && noPostgres() !== undefined;
  let world: GatewayWorld;
  beforeAll(async () => {
    if (!skip()) world = await createGatewayWorld({ database, watch: false });
  });
  afterAll(() => world?.close());

  it.skipIf(skip())("finds its own key among many, and no other's where there is none", async () => {
    const { keys } = world.gateway.database;
    const secrets = await Promise.all(Array.from({ length: 40 }, () => world.newKey()));
    for (const secret of secrets) {
      const found = await keys.find(secret.slice(0, 16));
      expect(found?.hash).toBe(createHash("sha256").update(secret).digest("hex"));
      expect(found?.key.prefix).toBe(secret.slice(0, 16));
    }
    for (let n = 0; n < 40; n++) {
      expect(await keys.find(`tg_test_${randomBytes(6).toString("hex").slice(0, 8)}`)).toBeUndefined();
    }
    for (const none of ["", "%", "tg_test_", "' or ''='", "tg_test_________"]) {
      expect(await keys.find(none)).toBeUndefined();
    }
  });

  it.skipIf(skip())("costs one statement that reads one row, whether there is a key or not", async () => {
    const { keys } = world.gateway.database;
    const counts: number[] = [];
    // A row's lists are parsed for each row that is read, so they count the rows.
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (text: string, ...rest: []) => {
      parsed += 1;
      return parse(text, ...rest);
    };
    try {
      for (const prefix of [world.apiKey.slice(0, 16), "tg_test_NNNNNNNN"]) {
        parsed = 0;
        await keys.find(prefix);
        counts.push(parsed);
      }
    } finally {
      JSON.parse = parse;
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[1]).toBe(counts[0]);
  });
});
