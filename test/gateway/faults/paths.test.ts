// A36: paths that mean one thing to whoever stands in front and another thing to what stands behind. On every endpoint, byte by
// byte: a trick reaches nothing without a key, no engine ever sees an id that is none, and the operator's API stays shut.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { errorAnswer } from "../../../src/gateway/schemas/index.js";
import { REQUESTS, scriptEngine } from "../scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { askRaw, type RawAnswer } from "./raw.js";

const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const { engine, reached } = scriptEngine();
let world: GatewayWorld;
/** Moved on by a minute for each test: what one has used up, strangers of the next may use again. */
let now = Date.now();
beforeEach(() => {
  now += 60_000;
});
beforeAll(async () => {
  world = await createGatewayWorld({
    context: { engine, now: () => now },
    options: { adminToken: TOKEN },
    watch: false,
  });
});
afterAll(() => world?.close());

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const isRefusal = ({ body }: RawAnswer): boolean => errorAnswer.strict().safeParse(JSON.parse(body)).success;
const escaped = (text: string): string =>
  [...text].map((sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");

/** Other spellings of a path, and ways out of it. The query stays where it is. */
function tricksOn(path: string): readonly string[] {
  const [bare = "", query = ""] = path.split(/(?=\?)/);
  const first = bare.split("/")[1] ?? "";
  const rest = bare.slice(1 + first.length);
  return [
    `/${bare}`,
    `//gateway.example${bare}`,
    `/x/..${bare}`,
    `/x/%2e%2e${bare}`,
    `/.${bare}`,
    `/;${bare}`,
    `/${first};x=1${rest}`,
    `/${escaped(first)}${rest}`,
    `/${first.toUpperCase()}${rest}`,
    `/${first}/${rest}`,
    `/${first}%2f${rest.slice(1)}`,
    `/${first}\\${rest.slice(1)}`,
    `${bare}/`,
    `${bare}/.`,
    `${bare}/..`,
    `${bare}/..;/x`,
    `${bare}/%2e%2e%2fadmin`,
    `${bare}/%2e%2e/%2e%2e/%2e%2e/admin/accounts`,
    `${bare}/../../../admin/accounts`,
    `${bare}%00`,
    `${bare}%0d%0aX-Injected:%20yes`,
    `${bare}%zz`,
    `${bare}.json`,
    `${bare}#/admin`,
  ].map((trick) => trick + query);
}

describe.each(REQUESTS)("A36: path tricks on %s %s", (method, path, content) => {
  const body = content === undefined ? "" : JSON.stringify(content);
  // Of its own, because an account has a thousand requests a minute.
  let key: string;
  beforeAll(async () => {
    key = await world.newKey({ account: await world.newAccount() });
  });

  it("reach nothing without a key", async () => {
    const before = reached.length;
    for (const trick of tricksOn(path)) {
      const answer = await askRaw(world.server.port, method, trick, {}, body);
      expect([trick, answer.status >= 400 && answer.status < 500, isRefusal(answer)]).toEqual([trick, true, true]);
    }
    expect(reached.length).toBe(before);
  });

  it("reach with a key the same call as the plain path, or nothing", async () => {
    const before = reached.length;
    expect((await askRaw(world.server.port, method, path, bearer(key), body)).status).toBe(200);
    const plain = reached[before];
    for (const trick of tricksOn(path)) {
      const count = reached.length;
      const answer = await askRaw(world.server.port, method, trick, bearer(key), body);
      if (answer.status !== 200) {
        expect([trick, answer.status >= 400 && answer.status < 500, isRefusal(answer)]).toEqual([trick, true, true]);
        expect([trick, reached.length]).toEqual([trick, count]);
      } else {
        const { verb, request, caller } = reached[count] ?? {};
        expect([trick, verb, request, caller?.key.id]).toEqual([
          trick,
          plain?.verb,
          plain?.request,
          plain?.caller.key.id,
        ]);
      }
    }
  });
});

const ids = REQUESTS.filter(([method]) => method === "GET").map(([, path]) => {
  const [, folder = "", id = "", query = ""] = /^(.*\/)([^/?]+)(\?.*)?$/.exec(path) ?? [];
  return [folder, id, query] as const;
});

describe.each(ids)("A36: an id under %s", (folder, id, query) => {
  it.each([
    "%2e%2e%2fadmin",
    "..%2f..%2fetc%2fpasswd",
    "%252e%252e%252fadmin",
    "..;",
    "..%5c..%5cadmin",
    `${id}%00`,
    `${id}%0a`,
    `${id}%20`,
    `${id};v=1`,
    `${id}%2f..%2f..`,
    `${id}%3fx`,
    `%ef%bb%bf${id}`,
    "=HYPERLINK(%22https://evil.test%22)",
    "@SUM(1)",
    "%27%20OR%201=1--",
    "__proto__",
    "constructor",
    "%",
  ])("that is none is refused before the engine: %s", async (wrong) => {
    const before = reached.length;
    const answer = await askRaw(world.server.port, "GET", folder + wrong + query, bearer(world.apiKey));
    expect([400, 404]).toContain(answer.status);
    expect(isRefusal(answer)).toBe(true);
    expect(reached.length).toBe(before);
  });
});

it("A36: an id of 8,000 characters is refused before the engine", async () => {
  const before = reached.length;
  for (const [folder, , query] of ids) {
    const answer = await askRaw(world.server.port, "GET", folder + "1".repeat(8_000) + query, bearer(world.apiKey));
    expect([400, 404]).toContain(answer.status);
  }
  expect(reached.length).toBe(before);
});

describe("A36: a query", () => {
  const history = REQUESTS[3][1];
  it.each(["before=../../etc", "before=%2e%2e%2f", "cursor=../../etc", "limit=%2e", "offset=1;x", "type=..%2f"])(
    "that is no page of a history is refused: %s",
    async (query) => {
      const before = reached.length;
      const answer = await askRaw(world.server.port, "GET", `${history}?${query}`, bearer(world.apiKey));
      expect([answer.status, isRefusal(answer)]).toEqual([400, true]);
      expect(reached.length).toBe(before);
    },
  );
});

describe("A36: the operator's API", () => {
  const WAYS = [
    "/admin/accounts",
    "//admin/accounts",
    "/admin//accounts",
    "/%61dmin/accounts",
    "/ADMIN/accounts",
    "/admin;/accounts",
    "/admin%2faccounts",
    "/payment/../admin/accounts",
    "/payment/%2e%2e/admin/accounts",
    "/payment/status/..%2f..%2fadmin%2faccounts",
    "/payment/..;/admin/accounts",
    "/healthz/../admin/accounts",
    "/healthz%2f..%2fadmin/accounts",
    "http://localhost/admin/accounts",
  ];

  it.each(WAYS)("is not opened by an API key, nor without its token: %s", async (way) => {
    for (const headers of [{}, bearer(world.apiKey), { "X-Original-URL": "/admin/accounts" }]) {
      for (const [method, body] of [
        ["GET", ""],
        ["POST", JSON.stringify({ name: "stranger" })],
      ] as const) {
        const answer = await askRaw(world.server.port, method, way, headers, body);
        expect([401, 404, 405]).toContain(answer.status);
        expect(isRefusal(answer)).toBe(true);
      }
    }
    expect((await world.gateway.database.accounts.list()).map(({ name }) => name)).not.toContain("stranger");
  });

  it("opens to its token, so that the refusals above are about the token", async () => {
    expect((await askRaw(world.server.port, "GET", "/admin/accounts", bearer(TOKEN))).status).toBe(200);
  });

  it("is not reached by a header that names another path", async () => {
    for (const name of ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Forwarded-Prefix"]) {
      const headers = { ...bearer(world.apiKey), [name]: "/admin/accounts" };
      const { status, body } = await askRaw(world.server.port, "GET", "/healthz", headers);
      expect([status, JSON.parse(body)]).toEqual([200, { success: true, status: "ok" }]);
    }
  });
});

it("A36: what looks like a formula leaves as JSON whatever the caller accepts: nothing is exported as CSV", async () => {
  const metadata = { note: '=HYPERLINK("https://evil.test")', more: "+1", at: "@SUM(1)" };
  const headers = { Accept: "text/csv, application/vnd.ms-excel" };
  const [, path, order] = REQUESTS[0];
  const sent = await world.call("POST", path, { ...order, metadata }, { headers });
  expect(sent.status).toBe(200);
  expect(reached.at(-1)?.request).toMatchObject({ metadata });
  const listed = await world.call("GET", REQUESTS[3][1], undefined, { headers });
  for (const answer of [sent, listed]) {
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  }
});
