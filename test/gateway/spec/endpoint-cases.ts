// The specification's "Endpoints": each of the six does what its purpose says and answers with exactly the members that the
// OpenAPI document has, takes and returns JSON, and answers nobody without a key.
import type { z } from "@hono/zod-openapi";
import { expect } from "vitest";
import { PROTECTED } from "../../../src/gateway/http/endpoints.js";
import type { Answer } from "../call.js";
import { onEvm, receiveBody, sign } from "../receiving.js";
import { expectAnswer, type Make, ok, type Part, refused, row, type SpecCase } from "./case.js";
import type { Ground } from "./ground.js";
import { bodyOf, buildReceive, buildSend, receive, send } from "./requests.js";

/** A payment that exists, by its own key. */
const status: Make = async (ground) => {
  const { body } = await ground.ask(await send()(ground));
  return { method: "GET", path: `/payment/status/${String(body.paymentId)}`, key: ground.wallet.apiKey };
};
const history: Make = ({ wallet }) => ({
  ...{ method: "GET", path: `/payment/history/${wallet.address}`, key: wallet.apiKey },
});

/** The six, as the tables about all of them go through them. */
export const ENDPOINTS: readonly (readonly [name: string, make: Make])[] = [
  ["POST /payment/send", send()],
  ["POST /payment/receive", receive()],
  ["GET /payment/status", status],
  ["GET /payment/history", history],
  ["POST /transaction/send", buildSend()],
  ["POST /transaction/receive", buildReceive()],
];

/** Members that no schema names would be a leak. */
function expectExact(name: string, { body }: Answer): void {
  const schema = PROTECTED.find((endpoint) => endpoint.name === name)?.answer as z.ZodObject;
  expect(schema.strict().safeParse(body).error).toBeUndefined();
}

const exactly = (name: string, make: Make, more: object, after?: Checker): Part => ({
  ...{ shows: "answers 200 with exactly its members", ask: make, answers: ok(more) },
  async after(ground, answer) {
    expectExact(name, answer);
    await after?.(ground, answer);
  },
});
type Checker = (ground: Ground, answer: Answer) => Promise<void> | void;

const TABLE = "Endpoints";
const [hosted, receiving, stands, lists, builds, collects] = ENDPOINTS.map(([, make]) => make) as [
  ...[Make, Make, Make, Make, Make, Make],
];

const PURPOSES: readonly SpecCase[] = [
  ...row(TABLE, "POST | /payment/send | hosted buyer flow: execute a payment", [
    exactly("POST /payment/send", hosted, { status: "confirmed" }, async ({ evm }, { body }) => {
      const to = String(body.recipient) as `0x${string}`;
      expect((await evm.native.transfers({ to })).map(({ value }) => value)).toEqual([10n ** 15n]);
    }),
  ]),
  ...row(TABLE, "POST | /payment/receive | hosted seller flow: verify and process an incoming payment", [
    exactly("POST /payment/receive", receiving, { verified: true }, async ({ evm }, { body }) => {
      const to = String(body.recipient) as `0x${string}`;
      expect((await evm.token.transfers({ to })).map(({ value }) => value)).toEqual([10_000n]);
    }),
    {
      shows: "validates the proof before the resource is granted: what hosted buyers are given is taken, and only once",
      async check(ground) {
        const kind = onEvm(ground.evm, "eth", 1);
        const payTo = await kind.newPayee();
        const paid = await ground.ask(await send({ recipientAddress: payTo, amount: 0.001 })(ground));
        const claim = receiveBody(kind, payTo, String(paid.body.paymentProof), { expectedAmount: 0.001 });
        const asked = { method: "POST", path: "/payment/receive", body: claim } as const;
        expectAnswer(await ground.ask(asked), ok({ verified: true }));
        expectAnswer(await ground.ask(asked), refused(400, "INVALID_PAYMENT_PROOF", "already_used"));
      },
    },
  ]),
  ...row(TABLE, "GET | /payment/status/{paymentId} | status and details of one payment", [
    exactly("GET /payment/status", stands, { type: "sent", asset: "ETH", amount: 0.001 }),
  ]),
  ...row(TABLE, "GET | /payment/history/{walletAddress} | sent and received payments of a wallet", [
    exactly("GET /payment/history", lists, { pagination: { type: "all" } }),
    {
      shows: "returns what a wallet has sent and what it has received",
      async check(ground) {
        const { address, apiKey: key } = await ground.world.newWallet({ family: "evm" });
        const kind = onEvm(ground.evm, "usdc", 1);
        await ground.ask({ ...(await send({ walletAddress: address })(ground)), key });
        const body = receiveBody(kind, address, await sign(kind, address));
        await ground.ask({ method: "POST", path: "/payment/receive", body });
        const got = await ground.ask({ method: "GET", path: `/payment/history/${address}`, key });
        expect(got.body).toMatchObject({
          payments: [{ type: "received" }, { type: "sent" }],
          pagination: { total: 2 },
        });
      },
    },
  ]),
  ...row(TABLE, "POST | /transaction/send | build an unsigned send-payment transaction", [
    exactly("POST /transaction/send", builds, { status: "created" }, async ({ evm }, { body }) => {
      const to = String(body.recipient) as `0x${string}`;
      expect(await evm.native.transfers({ to })).toEqual([]);
    }),
  ]),
  ...row(TABLE, "POST | /transaction/receive | build an unsigned receive/verify transaction", [
    exactly("POST /transaction/receive", collects, { status: "created" }, async ({ evm }, { body }) => {
      const to = String(body.recipient) as `0x${string}`;
      expect(await evm.token.transfers({ to })).toEqual([]);
    }),
  ]),
];

const posts = ENDPOINTS.filter(([name]) => name.startsWith("POST"));

export const ENDPOINT_CASES: readonly SpecCase[] = [
  ...PURPOSES,
  ...row(TABLE, "all endpoints take and return JSON", [
    ...ENDPOINTS.map(([name, make]) => ({
      ...{ shows: `${name} answers in JSON`, ask: make, answers: ok() },
      after: (_ground: Ground, { headers }: Answer) =>
        expect(headers.get("content-type")).toMatch(/^application\/json\b/),
    })),
    ...posts.flatMap(([name, make]): Part[] => [
      {
        shows: `${name} takes nothing that is called something else`,
        ask: async (ground) => ({ ...(await make(ground)), headers: { "Content-Type": "text/plain" } }),
        answers: refused(415, "UNSUPPORTED_MEDIA_TYPE"),
      },
      {
        shows: `${name} takes no text that is not JSON`,
        async ask(ground) {
          const asked = await make(ground);
          return { ...asked, body: JSON.stringify(bodyOf(asked)).slice(0, -1) };
        },
        answers: refused(400, "INVALID_REQUEST", "body"),
      },
    ]),
  ]),
  ...row(TABLE, "all endpoints require the Authorization header", [
    ...ENDPOINTS.map(
      ([name, make]): Part => ({
        shows: `${name} is 401 without it`,
        ask: async (ground) => ({ ...(await make(ground)), key: null }),
        answers: refused(401, "UNAUTHORIZED"),
      }),
    ),
  ]),
];
