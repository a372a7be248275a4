// A process that ends at any step of POST /payment/send: whoever takes the payment up on the same database, the repeat of the
// request or a watcher, moves its money once and never twice.
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { type Death, endsAt } from "./mortal.js";
import { type DatabaseName, openSending, until, valueIn } from "./sending.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));

/** Every step, and whether the payment was written by then. */
const STEPS: readonly (readonly [step: string, death: Death, written: boolean])[] = [
  ["before the chain is asked", { at: "transfers.build", when: "before" }, false],
  ["after the transfer was built", { at: "transfers.build", when: "after" }, false],
  ["before it is signed", { at: "transfers.sign", when: "before" }, false],
  ["after it was signed", { at: "transfers.sign", when: "after" }, false],
  ["before the commit", { at: "payments.complete", when: "after" }, false],
  ["before it is written", { at: "payments.insert", when: "before" }, false],
  ["after it was written", { at: "payments.insert", when: "after" }, true],
  ["before the first byte leaves", { at: "transfers.broadcast", when: "before" }, true],
  ["after the bytes have left", { at: "transfers.broadcast", when: "after" }, true],
  ["before it is written that they left", { at: "payments.change", when: "before" }, true],
  ["after it was written that they left", { at: "payments.change", when: "after" }, true],
  ["while it waits for the chain", { at: "transfers.standing", when: "before" }, true],
  ["before it is written that it is confirmed", { at: "payments.change", when: "before", count: 2 }, true],
];

const KINDS = [
  { name: "ETH, SQLite", family: "evm", database: "sqlite", request: { amount: 0.01 }, asset: "native" },
  {
    name: "USDC on EVM, Postgres",
    family: "evm",
    database: "postgres",
    request: { amount: 2, asset: "USDC" },
    asset: "usdc",
  },
  { name: "SOL, SQLite", family: "solana", database: "sqlite", request: { amount: 0.01 }, asset: "native" },
] as const;

/** Several run at once, each with a key of its vault to derive. */
const SLOW = { timeout: 90_000 };

describe.each(KINDS)("a crash of a process that sends $name", SLOW, ({ family, database, request, asset }) => {
  const open = async (death: Death, { onTestFinished }: TestContext) => {
    let aheadMs = 0;
    const chains = { evm, solana, database: database as DatabaseName };
    const world = await openSending({ ...chains, ahead: () => aheadMs, finally: onTestFinished });
    const wallet = await world.newWallet(family);
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee(family), ...request };
    const life = endsAt(death);
    const dying = await world.start(life.change);
    const idempotencyKey = "the same request";
    await expect(dying.send(asked, { idempotencyKey })).rejects.toThrow("the process has ended");
    expect(life.ended).toBe(true);
    const debits = () => world.debits(world.network(family), wallet.address, asset);
    const later = () => {
      aheadMs = 60_000;
    };
    return { world, wallet, asked, idempotencyKey, debits, later };
  };

  it.skipIf(database === "postgres" && noPostgres()).concurrent.for(STEPS)(
    "%s: the repeat of the request gives the one true answer, and the money has moved once",
    async ([_step, death], test) => {
      const { world, wallet, asked, idempotencyKey, debits } = await open(death, test);
      const process = await world.start();
      const answer = valueIn(await process.send(asked, { idempotencyKey }));
      expect(answer.status).toMatch(/^(?:confirmed|finalized)$/);
      expect(answer.paymentProof).not.toBeNull();
      expect(await debits()).toHaveLength(1);
      expect(await world.payments(wallet.address)).toHaveLength(1);
    },
  );

  it.skipIf(database === "postgres").concurrent.for(STEPS)(
    "%s: a watcher alone brings what was written to its end, and nothing else",
    async ([_step, death, written], test) => {
      const { world, wallet, debits, later } = await open(death, test);
      later();
      const process = await world.start();
      process.parts.watcher.start();
      if (!written) {
        expect(await world.payments(wallet.address)).toEqual([]);
        expect(await debits()).toEqual([]);
        return;
      }
      const status = async () => (await world.payments(wallet.address)).map((payment) => payment.status);
      await until("the payment is confirmed", async () => /confirmed|finalized/.test(String(await status())));
      expect(await status()).toHaveLength(1);
      expect(await debits()).toHaveLength(1);
    },
  );
});
