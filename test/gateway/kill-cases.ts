// Payments that survive: a gateway's process is killed at every point at which a payment can be cut off, another one is started
// on the same database, and every request gets its one true answer while its money has moved once. One round in CI;
// `KILL_ROUNDS=20` by command.
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Payment, PaymentStatus } from "../../src/gateway/payment.js";
import { dice } from "../support/dice.js";
import { noPostgres } from "../support/postgres.js";
import type { Running } from "../support/process.js";
import { type Answer, ask } from "./call.js";
import { failedTransactions, sentBy } from "./kill-chain.js";
import {
  AMOUNT,
  answeredBefore,
  createKillWorld,
  FAMILIES,
  type Family,
  type KillWorld,
  LIFE_MS,
  type Order,
  POINTS,
  place,
} from "./kill-world.js";
import { type Kind, onEvm, onSolana, receive, verdictOf } from "./receiving.js";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 1);
const DONE: readonly PaymentStatus[] = ["confirmed", "finalized"];
const isDone = (status: unknown): boolean => DONE.some((one) => one === status);
/** A settlement that was announced counts as lost after 30 seconds, and who dies while it looks at one holds it for 60. */
const LONGEST_MS = 150_000;
/** A process starts, and four requests come to a point, or are told that their time is over. */
const POINT_MS = 90_000;

export function describeKills(database: "sqlite" | "postgres"): void {
  const skipped = database === "postgres" ? noPostgres() : undefined;
  for (let round = 1; round <= ROUNDS; round += 1)
    describe.skipIf(skipped)(`round ${round}`, () => runRound(database, round));
}

function runRound(database: "sqlite" | "postgres", seed: number): void {
  const roll = dice(seed);
  // In every other round: the leases of a watcher that dies take a minute to run out.
  const diesWatching = seed % 2 === 0;
  const orders: Order[] = [];
  /** The records that stood when their process died, by order. */
  const written = new Map<Order, string>();
  const answers = new Map<Order, Answer>();
  let kill: KillWorld;
  let last: Running;
  let beganAt: number | undefined;
  const url = () => last.firstLine;

  const kindOf =
    (flow: Order["point"]["flow"]) =>
    (family: Family): Kind => {
      const token = flow === "receive" && roll(2) === 0;
      const version = roll(2) === 0 ? 1 : 2;
      return family === "evm"
        ? onEvm(kill.evm, token ? "usdc" : "eth", version)
        : onSolana(kill.solana, token ? "usdc" : "sol", version);
    };

  beforeAll(async () => {
    kill = await createKillWorld(database);
  });
  afterAll(async () => {
    await last?.stop();
    await kill?.close();
  });

  it.each(POINTS)("a process is killed: $flow, $at", { timeout: POINT_MS }, async (point) => {
    beganAt ??= Date.now();
    const process = await kill.start(point, diesWatching);
    onTestFinished(() => process.kill());
    const placed = await kill.newOrders(point, kindOf(point.flow));
    orders.push(...placed);
    const told = await Promise.all(placed.map((order) => answeredBefore(process.firstLine, order)));
    const early = told.filter((one) => one !== undefined);
    // What stands is known whatever happened, so that the tests below judge this round by what it did.
    await process.kill();
    const records = await Promise.all(placed.map((order) => kill.recordOf(order)));
    for (const [index, record] of records.entries()) {
      const order = placed[index];
      if (record && order) written.set(order, record.id);
    }
    const about = `"${point.flow}: ${point.at}" was not reached by all, so nobody was killed there; the process said:`;
    expect(early, `${about}\n${process.output()}`).toEqual([]);
    expect(await process.ended).toBe("SIGKILL");
    expect(records.map(statusOf)).toEqual(placed.map(() => point.status));
  });

  it("every request that is asked again gets its one true answer from the next process", {
    timeout: LONGEST_MS,
  }, async () => {
    last = await kill.start();
    expect(
      Date.now() - (beganAt ?? 0),
      "a machine on which proofs expire before they are shown again judges nothing",
    ).toBeLessThan(LIFE_MS);
    const repeated = orders.filter((order) => order.repeated);
    await Promise.all(repeated.map(async (order) => void answers.set(order, await untilAnswered(url(), order))));
    for (const [order, answer] of answers) {
      const about = `${order.point.flow}, ${order.point.at}, ${order.kind.name}: ${answer.text}`;
      expect(answer.status, about).toBe(200);
      const id = written.get(order) ?? (await kill.recordOf(order))?.id;
      expect(answer.body.paymentId, about).toBe(id);
      if (order.point.flow === "send") expect(answer.body.paymentProof, about).toEqual(expect.any(String));
    }
    const again = await Promise.all(repeated.map((order) => place(url(), order)));
    expect(again.map(({ body }) => body)).toEqual(repeated.map((order) => answers.get(order)?.body));
  });

  it("what was built is signed and sent by its caller, and each proof that was given opens the seller's door once", async () => {
    for (const [{ caller }, { body }] of answers) if (caller) await caller.broadcast(String(body.transaction));
    const proofs = [...answers].filter(([{ point }]) => point.flow === "send");
    const verdicts = proofs.map(async ([{ kind, payee, point }, { body }]) => {
      const options = { key: kill.sellerOf(point).key };
      const show = () =>
        receive({ call: call(url()) }, kind, payee, String(body.paymentProof), { expectedAmount: AMOUNT, options });
      return [verdictOf(await show()), verdictOf(await show())];
    });
    for (const verdict of await Promise.all(verdicts)) {
      expect(verdict).toEqual([
        expect.stringMatching(/^(?:confirmed|finalized)$/),
        "400 INVALID_PAYMENT_PROOF already_used",
      ]);
    }
  });

  it("the watcher alone brings everything else to its end", { timeout: LONGEST_MS }, async () => {
    const open = async () => {
      const followed = orders.filter((order) => !isLeft(order));
      const records = await Promise.all(followed.map((order) => kill.recordOf(order)));
      return records.flatMap((one) => (one && !isDone(one.status) ? [`${one.flow} ${one.network} ${one.status}`] : []));
    };
    await expect.poll(open, { timeout: LONGEST_MS - 5_000, interval: 250 }).toEqual([]);
  });

  it("the chain shows one debit for each payment, no other transaction, and none that failed", async () => {
    for (const order of orders) {
      const about = `${order.point.flow}, ${order.point.at}, ${order.kind.name}`;
      const isPaid = !isLeft(order) && (written.has(order) || order.repeated);
      expect(await kill.recordOf(order).then((record) => record?.status), about).toSatisfy((status) =>
        isPaid ? isDone(status) : status === (written.has(order) ? "created" : undefined) || status === "expired",
      );
      expect(await order.kind.received(order.payee), about).toHaveLength(isPaid ? 1 : 0);
    }
    const sends = orders.filter((order) => order.point.flow === "send" && (written.has(order) || order.repeated));
    for (const family of FAMILIES) {
      const count = sends.filter((order) => order.family === family).length;
      expect(await sentBy(kill, { family, ...kill.wallets[family] })).toBe(count);
    }
    expect(await failedTransactions(kill, kill.wallets.solana.address)).toEqual([]);
  });

  it("the database has a record for each payment and none besides", async () => {
    const { payments } = kill.world.gateway.database;
    const all = { type: "all", limit: 500, offset: 0 } as const;
    for (const order of orders) {
      const payee = order.family === "evm" ? getAddress(order.payee) : order.payee;
      const { total } = await payments.page(order.account, "test", payee, all);
      expect(total).toBe(written.has(order) || order.repeated ? 1 : 0);
    }
    for (const family of FAMILIES) {
      const { total } = await payments.page(kill.world.account, "test", kill.wallets[family].address, all);
      expect(total).toBe(await sentBy(kill, { family, ...kill.wallets[family] }));
    }
  });

  it.each(FAMILIES)(
    "%s: the wallet's limit holds what was paid, so one more payment goes and the next does not",
    async (family) => {
      const { address: walletAddress, apiKey: key } = kill.wallets[family];
      const kind = kindOf("send")(family);
      const send = async () => {
        const body = { walletAddress, recipientAddress: await kind.newPayee(), amount: AMOUNT };
        return ask(url(), "POST", "/payment/send", body, { key });
      };
      expect((await send()).body).toMatchObject({
        success: true,
        status: expect.stringMatching(/^(?:confirmed|finalized)$/),
      });
      expect((await send()).body).toMatchObject({ success: false, error: { code: "FORBIDDEN" } });
    },
  );
}

/** Whoever waits while another request comes to the point may see his block become final: the watcher runs beside him. */
const statusOf = (record: Payment | undefined): PaymentStatus | undefined =>
  record?.status === "finalized" ? "confirmed" : record?.status;

/** Built and never asked for again: nobody has the bytes. */
const isLeft = (order: Order | undefined): boolean => order?.point.flow === "build" && !order.repeated;

const call =
  (url: string): KillWorld["world"]["call"] =>
  (method, path, body, options) =>
    ask(url, method, path, body, options);

/** Asks again for as long as the answer says so: the lease of the dead process runs out, and what became of it is found out. */
async function untilAnswered(url: string, order: Order): Promise<Answer> {
  const endAt = Date.now() + LONGEST_MS - 5_000;
  for (;;) {
    const answer = await place(url, order);
    const { status, body } = answer;
    const isPending = order.path === "/payment/send" && status === 200 && !isDone(body.status);
    const isOpen = isPending || status === 409 || status === 502 || status === 504;
    if (!isOpen || Date.now() > endAt) return answer;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
