// The one list of HTTP cases, on every framework that has an adapter, over sockets and on a real chain.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type HttpFramework, httpCases, type Sandbox } from "../../src/testing/index.js";
import { express4Server, express5Server } from "./servers/express.js";
import { fastifyServer } from "./servers/fastify.js";
import { honoServer } from "./servers/hono.js";
import { nodeServer } from "./servers/node.js";
import { nextServer, webServer } from "./servers/web.js";

const FRAMEWORKS: readonly HttpFramework[] = [
  express5Server,
  express4Server,
  honoServer,
  nodeServer,
  fastifyServer,
  webServer,
  nextServer,
];

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

describe.each(FRAMEWORKS)("on $name", (framework) => {
  it.each(httpCases.filter(({ needs }) => !needs || !framework.lacks?.includes(needs)))("$name", (httpCase) =>
    httpCase.run(framework, sandbox),
  );
});

describe("the list of HTTP cases", () => {
  it("has no two cases of one name, and leaves out of none more than the framework says it lacks", () => {
    const names = httpCases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, lacks = [] } of FRAMEWORKS) {
      const left = httpCases.filter(({ needs }) => needs && lacks.includes(needs)).length;
      expect(left, name).toBeLessThanOrEqual(4);
    }
  });
});
