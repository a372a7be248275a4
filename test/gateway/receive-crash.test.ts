// A process that dies while it receives, at each step between the record and the answer: whoever comes after it on the same
// database settles once, and the same request gets the one true answer.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caller, Idempotency } from "../../src/gateway/caller.js";
import type { Payments } from "../../src/gateway/database/database.js";
import type { Outcome } from "../../src/gateway/errors.js";
import type { GatewayParts } from "../../src/gateway/parts.js";
import type { PaymentStatus } from "../../src/gateway/payment.js";
import { createReceive } from "../../src/gateway/receive/receive.js";
import { type ReceiveAnswer, receiveRequest } from "../../src/gateway/schemas/index.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Kind, onEvm, onSolana, receiveBody, sign } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const networks = {
    "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, settleMs: 6_000 },
    "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey, settleMs: 1_000 },
  };
  world = await createGatewayWorld({ chains: { evm, solana }, options: { networks } });
});
afterAll(async () => {
  await world.close();
  await Promise.all([evm.close(), solana.close()]);
});

const never = (): Promise<never> => new Promise(() => {});

/** The database as a process has it that dies at a write: nothing that it does afterwards comes through. */
function dyingAt(payments: Payments, step: Step): { readonly payments: Payments; readonly died: Promise<void> } {
  let dead = false;
  let tell = () => {};
  const died = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const unlessDead = <Value>(write: () => Promise<Value>): Promise<Value> => (dead ? never() : write());
  const die = async (write: () => Promise<unknown>): Promise<never> => {
    dead = true;
    await write();
    tell();
    return never();
  };
  const dying: Payments = {
    ...payments,
    insert: (payment, together) => {
      const write = () => payments.insert(payment, together);
      return step.at === "insert" ? die(write) : unlessDead(write);
    },
    change(payment, status, change) {
      const write = () => payments.change(payment, status, change);
      if (step.at !== status || dead) return unlessDead(write);
      return step.written ? die(write) : die(async () => undefined);
    },
  };
  return { payments: dying, died };
}

interface Step {
  readonly at: "insert" | PaymentStatus;
  /** Does the write reach the database before the process dies? */
  readonly written: boolean;
}

const STEPS: readonly (readonly [string, Step])[] = [
  ["its record stands", { at: "insert", written: true }],
  ["the transaction is signed, and not announced", { at: "submitted", written: false }],
  ["the transaction is announced, and not sent", { at: "submitted", written: true }],
  ["the money has moved, and nobody wrote it down", { at: "confirmed", written: false }],
  ["the payment is confirmed, and nobody was told", { at: "confirmed", written: true }],
];

const KINDS = [
  ["USDC on EVM", () => onEvm(evm, "usdc", 2)],
  ["ETH", () => onEvm(evm, "eth", 1)],
  ["USDC on Solana", () => onSolana(solana, "usdc", 2)],
  ["SOL", () => onSolana(solana, "sol", 1)],
] as const satisfies readonly (readonly [string, () => Kind])[];

let keys = 0;
const newIdempotency = (): Idempotency => {
  keys += 1;
  return { id: `request ${keys}`, seal: (text) => text, open: (text) => text };
};

async function callerOf(idempotency: Idempotency, account = world.account): Promise<Caller> {
  const [key] = await world.gateway.database.keys.list(account);
  if (!key) throw new Error("the account has no key");
  return { key, requestId: "test", signal: new AbortController().signal, idempotency };
}

type Receive = (parts: GatewayParts, kind: Kind, payTo: string, proof: string) => Promise<Outcome<ReceiveAnswer>>;
const receiveAs =
  (caller: Caller, timeout = 1): Receive =>
  (parts, kind, payTo, proof) =>
    createReceive(parts)(caller, receiveRequest.parse(receiveBody(kind, payTo, proof, { timeout })));

/** Asks again until there is an answer that stays. */
async function untilAnswered(ask: () => Promise<Outcome<ReceiveAnswer>>): Promise<Outcome<ReceiveAnswer>> {
  const endAt = Date.now() + 80_000;
  for (;;) {
    const answer = await ask();
    if (answer.ok || Date.now() > endAt) return answer;
    expect([answer.code, answer.paymentId]).toEqual(["PAYMENT_VERIFICATION_FAILED", expect.any(String)]);
  }
}

describe.concurrent.each(KINDS)("a process that receives %s", (_name, kindOf) => {
  it.concurrent.each(STEPS)("may die when %s", { timeout: 120_000 }, async (_when, step) => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const { parts } = world.gateway;
    const { database } = parts;
    const caller = await callerOf(newIdempotency());
    const ask = receiveAs(caller);
    const { payments, died } = dyingAt(database.payments, step);
    // Nobody waits for the answer of a dead process. It has the time to come to its step, with all the others beside it.
    void receiveAs(caller, 10)({ ...parts, database: { ...database, payments } }, kind, payTo, proof);
    await died;

    const answer = await untilAnswered(() => ask(parts, kind, payTo, proof));
    expect(answer.ok && answer.value).toMatchObject({ verified: true, amountAtomic: `${kind.units}` });
    expect(await kind.received(payTo)).toEqual([kind.units]);
    const again = await ask(parts, kind, payTo, proof);
    expect(again.ok && again.value.paymentId).toBe(answer.ok && answer.value.paymentId);
    const other = await receiveAs(await callerOf(newIdempotency()))(parts, kind, payTo, proof);
    expect(other).toMatchObject({ ok: false, details: [{ path: "already_used" }] });
  });
});
