// The shared stores as they are published: what they say when a driver is not installed, and what they do through whichever is.
// Needs a build.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPackedProject, type PackedProject } from "../support/packed.js";
import { runNode } from "../support/process.js";
import { noRedis, startRedis } from "../support/redis.js";

const SELL = `
  import { createPaywall } from "tollgate/express";
  import { redisStore } from "tollgate/store/redis";
  import { sqlStore } from "tollgate/store/sql";
  const { now } = await STORE.read([]);
  console.log(now > 0);`;

describe("a project without drivers", () => {
  let project: PackedProject;
  beforeAll(() => {
    project = createPackedProject(["express"]);
  });
  afterAll(() => project?.remove());

  it.each([
    ['redisStore({ url: "redis://127.0.0.1:1" })', "npm install ioredis"],
    ['sqlStore({ url: "postgres://127.0.0.1:1/shop" })', "npm install kysely pg"],
    ['sqlStore({ file: "shop.db" })', "npm install kysely libsql"],
  ])("is told by %s to %s", async (store, remedy) => {
    const { code, stderr } = await runNode([project.write("sell.js", SELL.replace("STORE", store))]);
    expect([code, stderr.includes(remedy)], stderr).toEqual([1, true]);
    expect(stderr).toContain("PaywallConfigError");
    expect(stderr).toContain("missing_package");
  });

  it("is told so by the paywall's start, and by no request before", async () => {
    const script = `
      import { createPaywall } from "tollgate/express";
      const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
      const logger = { debug() {}, info() {}, warn() {}, error() {} };
      const pay = createPaywall({ payTo, network: "base-sepolia", logger });
      pay("$0.01");
      await pay.ready().catch((error) => console.log(error.message));
      await pay.close();`;
    const env = { TOLLGATE_STORE_URL: "redis://127.0.0.1:1", TOLLGATE_FACILITATOR_URL: "http://127.0.0.1:1" };
    const { stdout } = await runNode([project.write("start.js", script)], env);
    expect(stdout).toContain("npm install ioredis");
  });
});

describe.skipIf(noRedis())("a project with one client for Redis", { timeout: 120_000 }, () => {
  it.each(["ioredis", "redis"])("works through %s and ends by itself", async (client) => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const project = createPackedProject(["express", client]);
    onTestFinished(() => project.remove());
    const sell = SELL.replace("STORE", `redisStore({ url: "${server.url}" })`);
    expect(await runNode([project.write("sell.js", sell)])).toEqual({ code: 0, stdout: "true\n", stderr: "" });
  });
});
