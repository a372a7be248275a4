// The specification's "Authentication", sentence by sentence.
import { once } from "node:events";
import { expect } from "vitest";
import { SENDER } from "../database/payments-made.js";
import { listen } from "../events/listening.js";
import { NOBODY_KEY } from "../scripted-engine.js";
import { expectAnswer, ok, type Part, refused, row, type SpecCase } from "./case.js";
import { ENDPOINTS } from "./endpoint-cases.js";
import type { Ground } from "./ground.js";
import { send } from "./requests.js";

const TABLE = "Authentication";
const unauthorized = refused(401, "UNAUTHORIZED");
const PATH = `/payment/history/${SENDER}`;
const by = (key: string) => ({ method: "GET", path: PATH, key }) as const;

/** A key of an account of its own that only reads. */
const newKey = async ({ world }: Ground, more: object = {}) =>
  world.gateway.database.keys.create({
    ...{ account: await world.newAccount(), name: "row", mode: "test", plan: "standard", scopes: ["read"] as const },
    ...more,
  });

type Headers = (ground: Ground) => Readonly<Record<string, string>>;
const INVALID: readonly (readonly [what: string, headers: Headers])[] = [
  ["missing", () => ({})],
  ["of another scheme", ({ world }) => ({ Authorization: `Basic ${btoa(`${world.apiKey}:`)}` })],
  ["without a scheme", ({ world }) => ({ Authorization: world.apiKey })],
  ["in a header of another name", ({ world }) => ({ "X-Api-Key": world.apiKey })],
  ["empty", () => ({ Authorization: "Bearer " })],
  ["no key at all", () => ({ Authorization: "Bearer secret" })],
  ["nobody's", () => ({ Authorization: `Bearer ${NOBODY_KEY}` })],
  ["one letter off", ({ world }) => ({ Authorization: `Bearer ${world.apiKey.slice(0, -1)}${other(world.apiKey)}` })],
];
const invalidKeys: readonly Part[] = INVALID.map(([what, headers]) => ({
  shows: `401 where it is ${what}`,
  ask: (ground) => ({ method: "GET", path: PATH, key: null, headers: headers(ground) }),
  answers: unauthorized,
}));

/** Another last letter than the key's. */
const other = (key: string): string => (key.endsWith("2") ? "3" : "2");

export const AUTHENTICATION_CASES: readonly SpecCase[] = [
  ...row(TABLE, "1. every request carries Authorization: Bearer <API_KEY>", [
    ...ENDPOINTS.map(([name, ask]): Part => ({ shows: `${name} answers to it`, ask, answers: ok() })),
    {
      shows: "and not in the URL",
      ask: ({ world }) => ({ method: "GET", path: `${PATH}?api_key=${world.apiKey}`, key: null }),
      answers: unauthorized,
    },
  ]),
  ...row(TABLE, "2. keys are generated under an API Keys section; secret, for servers only", [
    {
      shows: "a generated key is shown once and works; what is kept of it is a hash",
      async check(ground) {
        const { secret, key } = await newKey(ground);
        expect(secret).toMatch(/^tg_test_[1-9A-HJ-NP-Za-km-z]{32,44}$/);
        expectAnswer(await ground.ask(by(secret)), ok());
        expect(JSON.stringify(await ground.world.gateway.database.keys.list(key.account))).not.toContain(secret);
        expect(await ground.world.gateway.database.keys.find(key.prefix)).toMatchObject({
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        });
      },
    },
    {
      shows: "no answer lets a page in a browser read it, and no log line names the key",
      async check(ground) {
        const { secret } = await newKey(ground);
        const { headers } = await ground.ask({ ...by(secret), headers: { Origin: "https://page.example" } });
        expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(headers.get("cache-control")).toBe("no-store");
        expect(ground.world.log.lines.join("\n")).not.toContain(secret);
      },
    },
  ]),
  ...row(TABLE, "3. rotation: generate a new key, switch to it, delete the old key", [
    {
      shows: "both work until the old one is deleted; then only the new one does",
      async check(ground) {
        const [old, next] = [await newKey(ground), await newKey(ground)];
        for (const { secret } of [old, next]) expectAnswer(await ground.ask(by(secret)), ok());
        await ground.world.gateway.database.keys.revoke(old.key.account, old.key.id);
        expectAnswer(await ground.ask(by(old.secret)), unauthorized);
        expectAnswer(await ground.ask(by(next.secret)), ok());
      },
    },
  ]),
  ...row(TABLE, "4. rate limits depend on the plan tied to the key", [
    ...(["standard", "premium"] as const).map(
      (plan): Part => ({
        shows: `${plan} has ${plan === "standard" ? "100" : "1,000"}`,
        async check(ground) {
          const { secret } = await newKey(ground, { plan });
          const { headers } = await ground.ask(by(secret));
          expect(headers.get("ratelimit-limit")).toBe(plan === "standard" ? "100" : "1000");
        },
      }),
    ),
  ]),
  ...row(TABLE, "5. missing or invalid key: 401 Unauthorized", [
    ...invalidKeys,
    {
      shows: "401 where it is over",
      async check(ground) {
        const { secret } = await newKey(ground, { expiresAt: Date.now() - 1_000 });
        expectAnswer(await ground.ask(by(secret)), unauthorized);
      },
    },
  ]),
  ...row(TABLE, "6. plan does not permit the endpoint: 403 Forbidden", [
    {
      shows: "403 where the plan of the key is not configured any more",
      async check(ground) {
        const { secret } = await newKey(ground, { plan: "retired" });
        expectAnswer(await ground.ask(by(secret)), refused(403, "FORBIDDEN"));
      },
    },
    {
      shows: "403 on the endpoints that a plan does not name, 200 on the one that it names",
      async check(ground) {
        const { secret: key } = await newKey(ground, { plan: "reader", scopes: ["read", "build"] });
        expectAnswer(await ground.ask(by(key)), ok());
        const asked = await (ENDPOINTS[4]?.[1] ?? send())(ground);
        expectAnswer(await ground.ask({ ...asked, key }), refused(403, "FORBIDDEN"));
      },
    },
  ]),
  ...row(TABLE, "7. a successful response shows that the key is valid", [
    ...ENDPOINTS.map(
      ([name, make]): Part => ({
        shows: `${name} succeeds with a valid key and with no other`,
        async check(ground) {
          const asked = await make(ground);
          expectAnswer(await ground.ask({ ...asked, key: NOBODY_KEY }), unauthorized);
          expectAnswer(await ground.ask(asked), ok());
        },
      }),
    ),
  ]),
  ...row(TABLE, "8. WebSocket connections authenticate differently", [
    {
      shows: "a WebSocket opens without a header, and its first message names the key",
      check: async ({ world }) => {
        const one = listen(world.url);
        await once(one.socket, "open");
        one.say({ method: "authenticate", apiKey: world.apiKey });
        expect(await one.next("authenticated")).toMatchObject({ type: "authenticated" });
        one.end();
      },
    },
  ]),
];
