// The specification's "Payment identifier", "History query parameters" and "Unsigned transaction".
import { VersionedTransaction } from "@solana/web3.js";
import { parseTransaction } from "viem";
import { expect } from "vitest";
import type { Answer, Json } from "../call.js";
import { newPayment, newReceived, recordOf, SENDER } from "../database/payments-made.js";
import { type Make, ok, type Part, refused, row, type SpecCase } from "./case.js";
import type { Ground } from "./ground.js";
import { bodyOf, buildReceive, buildReceiveSol, buildSend, buildSendSol, get, send, sendSol } from "./requests.js";

const missing = refused(404, "NOT_FOUND");
const NOBODY = "pay_1111111111111111111111";

/** A payment that was sent, asked for by one of its names. */
const statusBy =
  (make: Make, name: "paymentId" | "signature"): Make =>
  async (ground) => {
    const { key = null, ...order } = await make(ground);
    const { body } = await ground.ask({ ...order, key });
    return { method: "GET", path: `/payment/status/${String(body[name])}`, key };
  };

const IDENTIFIER: readonly SpecCase[] = row("Payment identifier", "paymentId | string | path parameter of status", [
  { shows: "names one payment", ask: statusBy(send(), "paymentId"), answers: ok({ type: "sent" }) },
  { shows: "may be the transaction's id on EVM", ask: statusBy(send(), "signature"), answers: ok({ type: "sent" }) },
  { shows: "may be the transaction's id on Solana", ask: statusBy(sendSol(), "signature"), answers: ok() },
  { shows: "of no payment is 404", ask: get(`/payment/status/${NOBODY}`), answers: missing },
  ...["pay_1", "nonsense", "..%2f..%2fadmin", "%00"].map((id) => ({
    ...{ shows: `that is none is 404: ${id}`, ask: get(`/payment/status/${id}`), answers: missing },
  })),
]);

/** An account with a key of its own, whose records touch one address. */
async function newShop({ world }: Ground, sent: number, received: number) {
  const account = await world.newAccount();
  const { payments } = world.gateway.database;
  for (let n = 0; n < sent + received; n += 1) {
    recordOf(await payments.insert(n < sent ? newPayment(account) : newReceived(account)));
  }
  return world.newKey({ account, scopes: ["read"] });
}

const historyOf =
  (query: string, sent: number, received: number): Make =>
  async (ground) => ({
    method: "GET",
    path: `/payment/history/${SENDER}${query}`,
    key: await newShop(ground, sent, received),
  });

const typesOf = ({ body }: Answer): readonly unknown[] =>
  (body.payments as unknown as readonly Json[]).map(({ type }) => type);
const shows =
  (...types: readonly string[]) =>
  (_ground: Ground, answer: Answer) =>
    expect([...typesOf(answer)].sort()).toEqual(types);
const counts = (count: number) => (_ground: Ground, answer: Answer) => expect(typesOf(answer)).toHaveLength(count);

const page = (more: object) => ok({ pagination: more });
const notTaken = (name: string, values: readonly string[]): readonly Part[] =>
  values.map((value) => ({
    shows: `refuses ${JSON.stringify(value)}`,
    ask: get(`/payment/history/${SENDER}?${name}=${encodeURIComponent(value)}`),
    answers: refused(400, "INVALID_REQUEST", name),
  }));

const QUERY = "History query parameters";
const HISTORY: readonly SpecCase[] = [
  ...row(QUERY, "walletAddress | string | yes | path parameter: the wallet whose history is returned", [
    { shows: "in EVM format", ask: historyOf("", 1, 0), answers: ok({ walletAddress: SENDER }), after: counts(1) },
    {
      shows: "in Solana format, of a wallet without payments, is empty",
      ask: get("/payment/history/4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"),
      answers: ok({ payments: [] }),
    },
    ...["0x12", "nobody", SENDER.replace("C5", "c5")].map((address) => ({
      shows: `refuses ${address}`,
      ask: get(`/payment/history/${address}`),
      answers: refused(400, "INVALID_REQUEST", "walletAddress"),
    })),
  ]),
  ...row(QUERY, "type | string | no | one of sent, received, all; default all", [
    { shows: "sent", ask: historyOf("?type=sent", 2, 1), answers: page({ total: 2 }), after: shows("sent", "sent") },
    {
      shows: "received",
      ask: historyOf("?type=received", 1, 1),
      answers: page({ total: 1 }),
      after: shows("received"),
    },
    { shows: "all", ask: historyOf("?type=all", 1, 1), answers: page({ total: 2 }), after: shows("received", "sent") },
    {
      shows: "is all by default",
      ask: historyOf("", 1, 1),
      answers: page({ type: "all" }),
      after: shows("received", "sent"),
    },
    ...notTaken("type", ["", "SENT", "both"]),
  ]),
  ...row(QUERY, "limit | number | no | number of results; default 50; maximum 500", [
    { shows: "1", ask: historyOf("?limit=1", 2, 0), answers: page({ limit: 1, hasMore: true }), after: counts(1) },
    {
      shows: "is 50 by default",
      ask: historyOf("", 51, 0),
      answers: page({ limit: 50, total: 51 }),
      after: counts(50),
    },
    {
      shows: "is 500 at most",
      ask: historyOf("?limit=500", 501, 0),
      answers: page({ limit: 500, total: 501, hasMore: true }),
      after: counts(500),
    },
    ...notTaken("limit", ["0", "501", "-1", "1.5", "ten", ""]),
  ]),
  ...row(QUERY, "offset | number | no | pagination offset; default 0", [
    {
      shows: "passes over",
      ask: historyOf("?offset=2", 3, 0),
      answers: page({ offset: 2, hasMore: false }),
      after: counts(1),
    },
    { shows: "is 0 by default", ask: historyOf("", 3, 0), answers: page({ offset: 0 }), after: counts(3) },
    ...notTaken("offset", ["-1", "1.5", "x", ""]),
  ]),
];

const evmBytes = ({ body }: Answer) => `0x${Buffer.from(String(body.transaction), "base64").toString("hex")}` as const;

/** The rows of the table, on one endpoint. */
function unsigned(endpoint: string, onEvm: Make, onSolana: Make, feePayer: (body: Json, ask: object) => unknown) {
  const table = `Unsigned transaction, of ${endpoint}`;
  return [
    ...row(table, "the transaction, base64-encoded and unsigned", [
      {
        shows: "is an EIP-1559 transaction without a signature on EVM",
        ask: onEvm,
        answers: ok({ signatureRequired: true }),
        after(_ground, answer) {
          expect(String(answer.body.transaction)).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
          const read = parseTransaction(evmBytes(answer));
          expect(read).toMatchObject({ type: "eip1559", chainId: 84532 });
          expect([read.r, read.s]).toEqual([undefined, undefined]);
        },
      },
      {
        shows: "is a message with the caller's signature missing on Solana",
        ask: onSolana,
        answers: ok({ signatureRequired: true }),
        after(_ground, { body }, asked) {
          const read = VersionedTransaction.deserialize(Buffer.from(String(body.transaction), "base64"));
          expect(read.message.staticAccountKeys[0]?.toBase58()).toBe(feePayer(body, bodyOf(asked)));
          expect(read.signatures[0]?.every((byte) => byte === 0)).toBe(true);
        },
      },
    ]),
    ...row(table, "lastValidBlockHeight | the block height after which the transaction is invalid", [
      {
        shows: "is as far from the newest block as 60 seconds hold on EVM",
        ask: onEvm,
        answers: ok(),
        async after({ evm }, { body }) {
          const height = Number(await evm.chain.rpc("eth_blockNumber", []));
          expect(Number(body.lastValidBlockHeight) - height).toBe(30);
        },
      },
      {
        shows: "is the blockhash's own on Solana",
        ask: onSolana,
        answers: ok(),
        async after({ solana }, { body }) {
          const latest = await solana.connection().getLatestBlockhash();
          const ahead = latest.lastValidBlockHeight - Number(body.lastValidBlockHeight);
          // The chain goes on while it is asked.
          expect(ahead >= 0 && ahead < 100, `${ahead}`).toBe(true);
        },
      },
    ]),
    ...row(table, "expiresAt | Unix timestamp; typically 60 seconds after it is built", [
      ...[onEvm, onSolana].map((ask, at) => ({
        shows: `is a whole number of seconds, on ${at === 0 ? "EVM" : "Solana"}`,
        ask,
        answers: ok(),
        after(_ground: Ground, { body }: Answer) {
          expect(Number.isInteger(body.expiresAt)).toBe(true);
          const left = Number(body.expiresAt) - Date.now() / 1000;
          expect(left > 40 && left <= 61, `${left}`).toBe(true);
        },
      })),
    ]),
  ];
}

export const RECORD_CASES: readonly SpecCase[] = [
  ...IDENTIFIER,
  ...HISTORY,
  ...unsigned("POST /transaction/send", buildSend(), buildSendSol(), ({ sender }) => sender),
  ...unsigned("POST /transaction/receive", buildReceive(), buildReceiveSol(), ({ recipient }) => recipient),
];
