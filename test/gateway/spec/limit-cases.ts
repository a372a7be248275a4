// The specification's "Limits". The rates run in memory with the other cases, and once more on a real Redis that two instances
// of the gateway share.
import { VersionedTransaction } from "@solana/web3.js";
import { expect } from "vitest";
import { SENDER } from "../database/payments-made.js";
import type { GatewayWorld, Instance } from "../world.js";
import { invalid, type Make, ok, type Part, row, type SpecCase } from "./case.js";
import { buildReceive, buildSend, buildSendSol, get, send } from "./requests.js";

const TABLE = "Limits";
const PATH = `/payment/history/${SENDER}?limit=1`;

/** `count` requests, in turn to all instances, and how many got each status. */
export async function tally(at: readonly Instance[], key: string, count: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += 20) {
    const batch = Array.from({ length: Math.min(20, count - sent) }, (_, n) => at[(sent + n) % at.length]);
    const answers = await Promise.all(batch.map((one) => one?.call("GET", PATH, undefined, { key })));
    for (const answer of answers) statuses[answer?.status ?? 0] = (statuses[answer?.status ?? 0] ?? 0) + 1;
  }
  return statuses;
}

/** The rows about rates: a plan, and how many requests of how many it lets pass in a minute. */
export const RATES = [
  { name: "Rate, Standard plan | 100 requests per minute", plan: "standard", rateLimit: undefined, passes: 100 },
  { name: "Rate, Premium plan | 1,000 requests per minute", plan: "premium", rateLimit: undefined, passes: 1_000 },
  { name: "Rate, Enterprise plan | custom", plan: "enterprise", rateLimit: 7, passes: 7 },
] as const;

export async function checkRate(
  world: Pick<GatewayWorld, "newKey" | "newAccount">,
  instances: readonly Instance[],
  { plan, rateLimit, passes }: (typeof RATES)[number],
): Promise<void> {
  const account = await world.newAccount();
  const key = await world.newKey({ account, plan, ...(rateLimit !== undefined && { rateLimit }) });
  expect(await tally(instances, key, passes + 3)).toEqual({ 200: passes, 429: 3 });
}

const least = (field: string, taken: number, not: number): readonly Part[] => [
  { shows: `takes ${taken}`, ask: send({ [field]: taken }), answers: ok() },
  { shows: `refuses ${not}`, ask: send({ [field]: not }), answers: invalid(field) },
];

const validity = (name: string, ask: Make): Part => ({
  ...{ shows: name, ask, answers: ok() },
  after(_ground, { body }) {
    expect(Number(body.expiresAt) - Date.now() / 1000).toBeLessThanOrEqual(61);
    expect(Number(body.expiresAt) - Date.now() / 1000).toBeGreaterThan(40);
    expect(Number.isInteger(body.lastValidBlockHeight)).toBe(true);
  },
});

export const LIMIT_CASES: readonly SpecCase[] = [
  ...RATES.flatMap((rate) =>
    row(TABLE, rate.name, [
      {
        shows: "passes, and not one more",
        takes: 120_000,
        check: ({ world }) => checkRate(world, [world], rate),
      },
    ]),
  ),
  ...row(TABLE, "amount on POST /payment/send | 0.001 to 100 (native currency)", [
    ...least("amount", 0.001, 0.0009),
    ...least("amount", 100, 100.1),
  ]),
  ...row(TABLE, "priorityFee on POST /payment/send | 0.00001 to 0.01; default automatic", [
    ...least("priorityFee", 0.00001, 0.000009),
    ...least("priorityFee", 0.01, 0.011),
    { shows: "may be absent", ask: send(), answers: ok() },
  ]),
  ...row(TABLE, "History limit | default 50; maximum 500", [
    { shows: "50 by default", ask: get(`/payment/history/${SENDER}`), answers: ok({ pagination: { limit: 50 } }) },
    { shows: "500", ask: get(`/payment/history/${SENDER}?limit=500`), answers: ok({ pagination: { limit: 500 } }) },
    { shows: "not 501", ask: get(`/payment/history/${SENDER}?limit=501`), answers: invalid("limit") },
  ]),
  ...row(TABLE, "History offset | default 0", [
    { shows: "0 by default", ask: get(`/payment/history/${SENDER}`), answers: ok({ pagination: { offset: 0 } }) },
  ]),
  ...row(TABLE, "Receive verification timeout (hosted) | default 30 seconds", [
    {
      shows: "a verification that nobody answers is 504 after 30 seconds",
      async check({ patience }) {
        const { answer, seconds } = await patience;
        expect([answer.status, answer.body.error?.code]).toEqual([504, "PAYMENT_VERIFICATION_FAILED"]);
        expect(seconds).toBeGreaterThan(29.9);
        expect(seconds).toBeLessThan(45);
      },
    },
  ]),
  ...row(TABLE, "Unsigned transaction validity | typically 60 seconds, and until lastValidBlockHeight", [
    validity("of POST /transaction/send on EVM", buildSend()),
    validity("of POST /transaction/send on Solana", buildSendSol()),
    validity("of POST /transaction/receive", buildReceive()),
    {
      shows: "on Solana the chain takes it no more when its block height is passed",
      async check(ground) {
        const { solana, solBuyer } = ground;
        const { body } = await ground.ask(await buildSendSol()(ground));
        const signed = VersionedTransaction.deserialize(Buffer.from(String(body.transaction), "base64"));
        signed.sign([solBuyer]);
        const connection = solana.connection();
        const height = await connection.getBlockHeight("processed");
        // The node judges by what is confirmed, some blocks behind the newest.
        solana.chain.advanceSlots(Number(body.lastValidBlockHeight) - height + 40);
        await expect(connection.sendTransaction(signed)).rejects.toThrow(/blockhash/i);
      },
    },
  ]),
  ...row(TABLE, "exceeding the rate limit yields 429 with code RATE_LIMIT", [
    {
      shows: "and nothing is done for the request",
      async check(ground) {
        const { world, evm } = ground;
        const account = await world.newAccount();
        const { id, address } = await world.newWallet({ family: "evm", account });
        const key = await world.newKey({ account, plan: "enterprise", rateLimit: 1, wallets: [id] });
        const asked = { ...(await send({ walletAddress: address })(ground)), key };
        const answers = [await ground.ask(asked), await ground.ask(asked)];
        expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual([
          [200, undefined],
          [429, "RATE_LIMIT"],
        ]);
        expect(await evm.native.transfers({ from: address as `0x${string}` })).toHaveLength(1);
      },
    },
  ]),
];
