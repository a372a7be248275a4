// The specification's "Errors": the statuses that all endpoints have, and the codes with the recommended caller action.
import { expect } from "vitest";
import { answer } from "../../support/scripted-facilitator.js";
import { newEvmAddress, onEvm, onSolana, sign } from "../receiving.js";
import { NOBODY_KEY } from "../scripted-engine.js";
import { type Ask, type Expected, expectAnswer, type Make, type Part, refused, row, type SpecCase } from "./case.js";
import { ENDPOINTS } from "./endpoint-cases.js";
import type { Ground } from "./ground.js";
import { bodyOf, buildReceive, buildSend, buildSendSol, receive, send, sendSol } from "./requests.js";

const STATUSES = "HTTP statuses common to all endpoints";
const each = (
  answers: Expected | ((name: string) => Expected),
  change: (ground: Ground, asked: Ask) => Ask | Promise<Ask>,
) =>
  ENDPOINTS.map(
    ([name, make]): Part => ({
      shows: name,
      ask: async (ground) => change(ground, await make(ground)),
      answers: typeof answers === "function" ? answers(name) : answers,
    }),
  );

const otherKey = async ({ world }: Ground, more: object): Promise<string> =>
  world.newKey({ account: await world.newAccount(), ...more });

/** An id that is none names nothing: 404. Every other parameter that is wrong is a 400. */
const wrongParameters = each(
  (name) => (name === "GET /payment/status" ? refused(404, "NOT_FOUND") : refused(400, "INVALID_REQUEST")),
  (_ground, asked) =>
    asked.method === "GET"
      ? { ...asked, path: asked.path.replace(/[^/]+$/, "nonsense") }
      : { ...asked, body: { ...bodyOf(asked), walletAddress: "nonsense" } },
);

const STATUS_CASES: readonly SpecCase[] = [
  ...row(STATUSES, "400 Bad Request | invalid parameters", wrongParameters),
  ...row(STATUSES, "401 Unauthorized | API key missing or invalid", [
    ...each(refused(401, "UNAUTHORIZED"), (_ground, asked) => ({ ...asked, key: null })),
    ...each(refused(401, "UNAUTHORIZED"), (_ground, asked) => ({ ...asked, key: NOBODY_KEY })).map((part) => ({
      ...part,
      shows: `${part.shows} with a key that is none`,
    })),
  ]),
  ...row(
    STATUSES,
    "403 Forbidden | plan lacks access to the requested endpoint",
    each(refused(403, "FORBIDDEN"), async (ground, asked) => ({
      ...asked,
      key: await otherKey(ground, { plan: "nothing" }),
    })),
  ),
  ...row(
    STATUSES,
    "429 | rate limit exceeded",
    each(refused(429, "RATE_LIMIT"), async (ground, asked) => {
      const key = await otherKey(ground, { plan: "enterprise", rateLimit: 1 });
      await ground.ask({ method: "GET", path: "/payment/status/pay_1111111111111111111111", key });
      return { ...asked, key };
    }),
  ),
];

const CODES = "Error codes";
/** The code with its status and the specification's recommended action. */
const code = (status: number, name: Parameters<typeof refused>[1], action: string, retryable: boolean): Expected => ({
  ...refused(status, name),
  body: { error: { code: name, action, retryable } },
});
const poor = code(400, "INSUFFICIENT_BALANCE", "Add funds to the wallet", false);
const badProof = code(400, "INVALID_PAYMENT_PROOF", "Retry with a fresh proof", false);
const unverified = code(502, "PAYMENT_VERIFICATION_FAILED", "Check payment status and retry", true);
const badRecipient = code(400, "INVALID_RECIPIENT", "Verify the recipient address", false);
const tooMany = code(429, "RATE_LIMIT", "Slow down; retry with exponential backoff", true);

/** What the amount needs, and nothing for the fee. */
const tight =
  (family: "evm" | "solana", native: bigint): Make =>
  async (ground) => {
    const { address: walletAddress, apiKey: key } = await ground.world.newWallet({ family, native });
    const make = family === "evm" ? send({ walletAddress }) : sendSol({ walletAddress });
    return { ...(await make(ground)), key };
  };

/** A proof whose time is over. */
const expired: Make = async (ground) => {
  const kind = onEvm(ground.evm, "usdc", 1);
  const change = (payload: Record<string, unknown>): object => {
    const text = JSON.stringify(payload).replace(/"validBefore":"\d+"/, '"validBefore":"1000000000"');
    return JSON.parse(text) as object;
  };
  return receive(async () => {
    const walletAddress = await kind.newPayee();
    return { walletAddress, paymentProof: await sign(kind, walletAddress, { change }) };
  })(ground);
};

const twice =
  (make: Make): Make =>
  async (ground) => {
    const asked = await make(ground);
    await ground.ask(asked);
    return asked;
  };

/** The facilitator answers its next question with a failure. */
const failing =
  (endpoint: "verify" | "supported"): Make =>
  async (ground) => {
    const { foreign } = ground;
    const asked = await receive(
      { facilitatorUrl: foreign.url },
      { kindOf: ({ evm }) => onEvm(evm, "usdc", 2) },
    )(ground);
    foreign.script(endpoint, ...Array.from({ length: 5 }, () => answer.status(500)));
    return asked;
  };

const CODE_CASES: readonly SpecCase[] = [
  ...row(CODES, "INSUFFICIENT_BALANCE | not enough funds for payment plus fees | add funds to the wallet", [
    { shows: "where a hosted EVM wallet has the amount alone", ask: tight("evm", 10n ** 15n), answers: poor },
    { shows: "where a hosted Solana wallet has the amount alone", ask: tight("solana", 10n ** 7n), answers: poor },
    {
      shows: "where a caller's own wallet has nothing",
      ask: buildSend(() => ({ walletAddress: newEvmAddress() })),
      answers: poor,
    },
    {
      shows: "where a caller's own Solana wallet has nothing",
      ask: buildSendSol((ground) => ({ walletAddress: ground.newSolanaPayee() })),
      answers: poor,
    },
    {
      shows: "where the seller's wallet cannot pay to collect",
      async ask(ground) {
        const asked = await buildReceive()(ground);
        const address = String(bodyOf(asked).walletAddress) as `0x${string}`;
        await ground.evm.native.setBalances([address], 0n);
        return asked;
      },
      answers: poor,
    },
  ]),
  ...row(CODES, "INVALID_PAYMENT_PROOF | payment proof invalid or expired | retry with a fresh proof", [
    { shows: "where it is no proof", ask: receive({ paymentProof: "bm90aGluZw==" }), answers: badProof },
    {
      shows: "where it is no proof, on the local endpoint",
      ask: buildReceive({ paymentProof: "e30=" }),
      answers: badProof,
    },
    { shows: "where its time is over", ask: expired, answers: badProof },
    { shows: "where it was used already", ask: twice(receive()), answers: badProof },
    {
      shows: "where it was used already, on Solana",
      ask: twice(receive({}, { kindOf: ({ solana }) => onSolana(solana, "usdc", 2) })),
      answers: badProof,
    },
  ]),
  ...row(CODES, "PAYMENT_VERIFICATION_FAILED | the facilitator could not verify the payment | check status and retry", [
    { shows: "where the facilitator fails to say what it serves", ask: failing("supported"), answers: unverified },
    { shows: "where the facilitator fails to verify", ask: failing("verify"), answers: unverified },
  ]),
  ...row(CODES, "INVALID_RECIPIENT | recipient address invalid or does not exist | verify the recipient address", [
    ...[send, buildSend].flatMap((make, at): Part[] => [
      {
        shows: `where it is malformed, on ${at === 0 ? "the hosted" : "the local"} endpoint`,
        ask: make({ recipientAddress: "nobody" }),
        answers: badRecipient,
      },
      {
        shows: `where nobody can own it, on ${at === 0 ? "the hosted" : "the local"} endpoint`,
        ask: make({ recipientAddress: `0x${"0".repeat(40)}` }),
        answers: badRecipient,
      },
    ]),
    {
      shows: "where it has no account for the token on Solana",
      ask: sendSol({ amount: 1, asset: "USDC" }),
      answers: badRecipient,
    },
    {
      shows: "where it has no account for the token on Solana, on the local endpoint",
      ask: buildSendSol({ amount: 1, asset: "USDC" }),
      answers: badRecipient,
    },
  ]),
  ...row(CODES, "RATE_LIMIT | too many requests | slow down; retry with exponential backoff", [
    {
      shows: "with 429, Retry-After and the rate in every answer",
      async check(ground) {
        const key = await otherKey(ground, { plan: "enterprise", rateLimit: 2 });
        const asked = { method: "GET", path: `/payment/history/${newEvmAddress()}`, key } as const;
        const answers = [await ground.ask(asked), await ground.ask(asked), await ground.ask(asked)] as const;
        const left = answers.map(({ headers }) => headers.get("ratelimit-remaining"));
        expect(left).toEqual(["1", "0", "0"]);
        expectAnswer(answers[2], tooMany);
        expect(Number(answers[2].headers.get("retry-after"))).toBeGreaterThan(0);
      },
    },
  ]),
];

export const ERROR_CASES: readonly SpecCase[] = [...STATUS_CASES, ...CODE_CASES];
