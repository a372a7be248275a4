// What hosted wallets may send: exactly as much as their limits say, whoever asks, however many at once, and until a payment has
// finally failed.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SendRequest } from "../../src/gateway/schemas/index.js";
import { formatDecimal } from "../../src/money.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { faultOf, openSending, type Process, type SendingWorld, until, valueIn } from "./sending.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));

const MILLI = 10n ** 15n;
const ETH_LIMIT = { network: "eip155:84532", asset: "native" } as const;

const nonceOf = async (world: SendingWorld, id: string): Promise<number> => {
  const { pursuit } = await world.payment(id);
  if (pursuit.kind !== "evm") throw new Error("a payment of another chain");
  return pursuit.nonce;
};

/** As a caller does it: `UNAVAILABLE` says that nothing was done. */
async function sendUntilAnswered(process: Process, asked: Partial<SendRequest>): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    const answer = faultOf(await process.send(asked));
    if (answer !== "UNAVAILABLE") return answer;
  }
  throw new Error("the gateway stays unavailable");
}

const count = (answers: readonly string[], answer: string): number => answers.filter((one) => one === answer).length;

describe.each(["sqlite", "postgres"] as const)("many payments at once from one wallet (%s)", (database) => {
  it.skipIf(database === "postgres" && noPostgres())(
    "on EVM: of fifty exactly as many as fit its day are made, each with a nonce of its own, by whichever process",
    async () => {
      const world = await openSending({ evm, database });
      const limits = [{ ...ETH_LIMIT, perPayment: 2n * MILLI, perDay: 40n * MILLI }];
      const wallet = await world.newWallet("evm", { limits });
      const payee = await world.newPayee("evm");
      // Two connections to one SQLite file in one process would wait for each other, which two processes do not.
      const processes = [world, database === "postgres" ? await world.start() : world];
      const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.002 };
      const sent = Array.from({ length: 50 }, (_, index) => sendUntilAnswered(processes[index % 2]!, asked));
      const answers = await Promise.all(sent);
      expect([count(answers, "ok"), count(answers, "FORBIDDEN amount")]).toEqual([20, 30]);
      const debits = () => world.debits(world.network("evm"), wallet.address);
      await until("all have landed", async () => (await debits()).length >= 20);
      expect(await debits()).toEqual(Array(20).fill(2n * MILLI));
      const made = (await world.payments(wallet.address)).filter(({ status }) => status !== "failed");
      const nonces = await Promise.all(made.map(({ id }) => nonceOf(world, id)));
      expect(nonces.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    },
  );

  it.skipIf(database === "postgres" && noPostgres())("on Solana: exactly as many as fit its day are made", async () => {
    const world = await openSending({ solana, database });
    const { network } = world.network("solana");
    const limits = [{ network: network.id, asset: "native", perPayment: 10n ** 9n, perDay: 12n * 10n ** 7n }];
    const wallet = await world.newWallet("solana", { limits });
    const payee = await world.newPayee("solana");
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 };
    const answers = await Promise.all(Array.from({ length: 24 }, () => sendUntilAnswered(world, asked)));
    expect([count(answers, "ok"), count(answers, "FORBIDDEN amount")]).toEqual([12, 12]);
    const debits = () => world.debits(world.network("solana"), wallet.address);
    await until("all have landed", async () => (await debits()).length >= 12);
    expect(await debits()).toEqual(Array(12).fill(10n ** 7n));
  });
});

describe("a limit", () => {
  const open = async (perPayment: bigint, perDay: bigint) => {
    const world = await openSending({ evm });
    const wallet = await world.newWallet("evm", { limits: [{ ...ETH_LIMIT, perPayment, perDay }] });
    const payee = await world.newPayee("evm");
    const send = (amount: number, more: object = {}) =>
      world.send({ walletAddress: wallet.address, recipientAddress: payee, amount, ...more });
    return { world, wallet, payee, send };
  };
  const messageOf = async (sent: ReturnType<SendingWorld["send"]>) => {
    const outcome = await sent;
    return outcome.ok ? "ok" : `${outcome.code} ${outcome.message}`;
  };

  it("for one payment and one for a day are named in decimal text", async () => {
    const { send } = await open(3n * MILLI, 5n * MILLI);
    expect(await messageOf(send(0.0031))).toBe(
      "FORBIDDEN amount: this wallet may send at most 0.003 ETH at once on base-sepolia; asked for 0.0031 ETH",
    );
    expect(await messageOf(send(0.003))).toBe("ok");
    expect(await messageOf(send(0.003))).toBe(
      "FORBIDDEN amount: this wallet may send at most 0.002 ETH more within 24 hours on base-sepolia; asked for 0.003 ETH",
    );
    expect(await messageOf(send(0.002))).toBe("ok");
    expect(await messageOf(send(0.001))).toMatch(/^FORBIDDEN .* 0 ETH more within 24 hours/);
  });

  it("that an asset has not means that none of it is sent", async () => {
    const { world, wallet, send } = await open(MILLI, MILLI);
    expect(await messageOf(send(1, { asset: "USDC" }))).toMatch(/^FORBIDDEN amount: this wallet has no limit for USDC/);
    expect(await world.debits(world.network("evm"), wallet.address, "usdc")).toEqual([]);
  });

  it("is told before the chain is asked, so also where no node answers", async () => {
    const world = await openSending({ evm, rpcUrl: "http://127.0.0.1:9" });
    const { address } = await world.newWallet("evm", { limits: [{ ...ETH_LIMIT, perPayment: MILLI, perDay: MILLI }] });
    const asked = { walletAddress: address, recipientAddress: `0x${"b0".repeat(20)}` };
    const noLimit = await world.send({ ...asked, amount: 1, asset: "USDC" });
    expect(noLimit).toMatchObject({ code: "FORBIDDEN", action: expect.stringMatching(/tollgate wallets limit wal_/) });
    expect(faultOf(await world.send({ ...asked, amount: 0.002 }))).toBe("FORBIDDEN amount");
    expect(faultOf(await world.send({ ...asked, amount: 0.001 }))).toBe("UNAVAILABLE");
  });

  it("is free again where every node refused the payment, and its nonce too", async () => {
    const { world, wallet, send, payee } = await open(MILLI, MILLI);
    // The money goes between the building and the broadcast.
    const unlucky = await world.start((parts) => {
      const network = parts.networks.defaultFor("evm", "test")!;
      const sign: typeof network.transfers.sign = async (...given) => {
        await evm.native.setBalances([wallet.address as `0x${string}`], 0n);
        return network.transfers.sign(...given);
      };
      const poor = { ...network, transfers: { ...network.transfers, sign } };
      return { ...parts, networks: { ...parts.networks, find: () => poor, defaultFor: () => poor } };
    });
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.001 };
    const outcome = await unlucky.send(asked, { idempotencyKey: "poor" });
    expect(outcome).toMatchObject({ ok: false, code: "INSUFFICIENT_BALANCE", paymentId: expect.any(String) });
    const { paymentId } = outcome as { paymentId: string };
    expect(await world.payment(paymentId)).toMatchObject({ status: "failed", dueAt: null });

    await evm.native.setBalances([wallet.address as `0x${string}`], 10n ** 18n);
    // The repeat gives the same true answer, and pays nothing.
    expect(await unlucky.send(asked, { idempotencyKey: "poor" })).toEqual(outcome);
    const answer = valueIn(await send(0.001));
    expect(await nonceOf(world, answer.paymentId)).toBe(0);
    expect(await world.debits(world.network("evm"), wallet.address)).toEqual([MILLI]);
  });

  it("counts a payment that failed on the chain until its block is final", async () => {
    const world = await openSending({ evm });
    const limits = [{ network: "eip155:84532", asset: evm.token.address, perPayment: 10n ** 6n, perDay: 10n ** 6n }];
    const wallet = await world.newWallet("evm", { limits });
    const own = wallet.address as `0x${string}`;
    const asked = { walletAddress: own, recipientAddress: await world.newPayee("evm"), amount: 1, asset: "USDC" };
    await evm.chain.setAutomine(false);
    const sending = world.send(asked, { idempotencyKey: "reverts" });
    await until("it waits in the pool", async () =>
      (await world.payments(own)).some(({ status }) => status === "submitted"),
    );
    await evm.token.setBalances([own], 0n);
    await evm.chain.mine();
    const outcome = await sending;
    expect(outcome).toMatchObject({ ok: false, code: "PAYMENT_VERIFICATION_FAILED", paymentId: expect.any(String) });
    await evm.token.setBalances([own], 10n ** 9n);
    expect(faultOf(await world.send(asked))).toBe("FORBIDDEN amount");

    await evm.chain.setAutomine(true);
    await evm.chain.mine(4);
    const { paymentId } = outcome as { paymentId: string };
    const status = async () => (await world.parts.watcher.refresh(await world.payment(paymentId))).status;
    await until("its failure is final", async () => (await status()) === "failed");
    valueIn(await world.send(asked));
    expect(await world.debits(world.network("evm"), own, "usdc")).toEqual([10n ** 6n]);
  });

  it("counts a proof that was handed out until its time is finally over unused", async () => {
    const { world, wallet, payee } = await open(MILLI, MILLI);
    const usdc = { network: "eip155:84532", asset: evm.token.address, perPayment: 10_000n, perDay: 10_000n };
    await world.database.wallets.setLimits(world.account, wallet.id, [usdc]);
    const requirements = {
      ...{ scheme: "exact", network: "eip155:84532", asset: evm.token.address, payTo: payee, amount: "10000" },
      ...{ maxTimeoutSeconds: 60, extra: { name: "USDC", version: "2" } },
    };
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.01, requirements };
    const { paymentId } = valueIn(await world.send(asked));
    expect(await messageOf(world.send(asked))).toMatch(/^FORBIDDEN .* 0 USDC more/);
    const snapshot = await evm.chain.snapshot();
    const { expiresAt } = await world.payment(paymentId);
    await evm.chain.setTime(Math.floor((expiresAt ?? 0) / 1000) + 5);
    expect(await messageOf(world.send(asked))).toMatch(/^FORBIDDEN .* 0 USDC more/);
    await evm.chain.mine(4);
    const status = async () => (await world.parts.watcher.refresh(await world.payment(paymentId))).status;
    await until("the proof has expired", async () => (await status()) === "expired");
    valueIn(await world.send(asked));
    await evm.chain.revert(snapshot);
  });

  it("is the same for a number and for decimal text, to the last unit", async () => {
    const { send } = await open(MILLI, 10n * MILLI);
    expect(await messageOf(send(0.001, { amount: "0.001000000000000001" }))).toMatch(/^FORBIDDEN/);
    expect(await messageOf(send(0.001, { amount: formatDecimal(MILLI, 18) }))).toBe("ok");
  });
});
