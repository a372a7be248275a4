// Two processes are one service: on one Postgres and one Redis they share wallets, limits, proofs and answers, and the end of one
// of them in the middle of its work loses nothing. A thousand requests by a seed (`INSTANCES_SEED=…` takes another). Needs a build.
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { noRedis } from "../support/redis.js";
import { failedTransactions, sentBy } from "./kill-chain.js";
import { onEvm, onSolana } from "./receiving.js";
import { inParallel, type Pair, startPair } from "./two-instances.js";
import { AMOUNT, type Played, planRequests, type Wallet } from "./two-instances-plan.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const SEED = Number(process.env.INSTANCES_SEED ?? 402);
const REQUESTS = 1_000;
const AT_ONCE = 24;
const UNIT = { evm: 10n ** 15n, solana: 10n ** 6n } as const;
const FUNDS = { evm: 10n ** 18n, solana: 10n ** 10n } as const;
/** Fewer than will be asked for, so that the limit is met by both processes at once. */
const FEW = 25;
const ALL = { type: "all", limit: 500, offset: 0 } as const;

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let pair: Pair;
let played: Played;

describe.skipIf(noPostgres() ?? noRedis())("two processes of one gateway", { timeout: 90_000 }, () => {
  beforeAll(async () => {
    [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox({ slotTimeMs: 2_000 })]);
    const networks = {
      "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, settleMs: 6_000 },
      "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey, settleMs: 3_000 },
    };
    const chains = { evm, solana };
    world = await createGatewayWorld({
      database: "postgres",
      redis: true,
      chains,
      watch: false,
      options: { networks },
    });
    const wallets: Wallet[] = [];
    for (const family of ["evm", "solana"] as const) {
      for (const most of [FEW, REQUESTS]) wallets.push({ family, most, ...(await newWallet(family, most)) });
    }
    const unbounded = { plan: "enterprise", rateLimit: 100_000 } as const;
    const sellers: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const account = await world.newAccount(`seller ${count}`);
      sellers.push(await world.newKey({ account, ...unbounded }));
    }
    const reader = await world.newKey(unbounded);
    const kinds = [
      onEvm(evm, "usdc", 2),
      onEvm(evm, "eth", 1),
      onSolana(solana, "usdc", 2),
      onSolana(solana, "sol", 1),
    ];
    played = await planRequests(() => pair, { wallets, sellers, reader, kinds }, SEED, REQUESTS);
    pair = await startPair(world);
  }, 120_000);
  afterAll(async () => {
    await pair?.close();
    await world?.close();
    await Promise.all([evm?.close(), solana?.close()]);
  });

  async function newWallet(family: Wallet["family"], most: number): Promise<Pick<Wallet, "address" | "apiKey">> {
    const network = world.gateway.networks.defaultFor(family, "test")?.network.id ?? "";
    const limit = { network, asset: "native", perPayment: UNIT[family], perDay: BigInt(most) * UNIT[family] };
    const { id, address } = await world.newWallet({ family, native: FUNDS[family], limits: [limit] });
    return { address, apiKey: await world.newKey({ plan: "enterprise", rateLimit: 100_000, wallets: [id] }) };
  }

  const recordsOf = async ({ address }: Wallet) => {
    const { payments } = world.gateway.database;
    return (await payments.page(world.account, "test", address, ALL)).payments.filter(({ flow }) => flow === "send");
  };

  it("answer a thousand requests, though one of them is killed in the middle and replaced", {
    timeout: 150_000,
  }, async () => {
    const jobs = [...played.jobs];
    jobs.splice(jobs.length / 2, 0, () => pair.replace(1));
    await inParallel(AT_ONCE, jobs);
    expect(played.wrong).toEqual([]);
    for (const [request, [first]] of played.answers) {
      const expected =
        request.path === "/transaction/send" ? [200] : request.path === "/payment/send" ? [200, 403] : [200, 400];
      expect(expected, `${JSON.stringify(request)} ${first?.text}`).toContain(first?.status);
    }
  });

  it("give every repeat of a request the answer of its first, whichever of them is asked", async () => {
    for (const [request, [first, ...again]] of played.answers) {
      for (const side of [0, 1] as const) again.push(await pair.post(side, request));
      const content = (answer = first) =>
        answer?.status === 200 ? answer.body : [answer?.status, answer?.body.error?.code, answer?.body.error?.details];
      expect(again.map(content)).toEqual(again.map(() => content()));
    }
  }, 150_000);

  it("keep each wallet within its limit, and let it pay what the limit allows", async () => {
    for (const [{ most, family }, requests] of played.sends) {
      const paid = requests.filter((request) => played.answers.get(request)?.[0]?.status === 200);
      expect(paid, family).toHaveLength(Math.min(most, requests.length));
    }
    expect([...played.sends].some(([{ most }, requests]) => requests.length > most)).toBe(true);
  });

  it.each(["evm", "solana"] as const)("let no burst at both of them pass a limit: %s", async (family) => {
    const most = 3;
    const { address: walletAddress, apiKey: key } = await newWallet(family, most);
    const recipientAddress = family === "evm" ? evm.seller : solana.seller;
    const body = { walletAddress, recipientAddress, amount: AMOUNT };
    const burst = Array.from({ length: 16 }, (_, index) => {
      const request = { path: "/payment/send", key, body, idempotencyKey: `burst-${family}-${index}` } as const;
      return pair.post(index % 2 === 0 ? 0 : 1, request);
    });
    const statuses = (await Promise.all(burst)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(most);
    expect(statuses.filter((status) => status === 403)).toHaveLength(16 - most);
  });

  it("grant each proof once, and its money moves once", async () => {
    for (const [{ kind, payee }, requests] of played.shown) {
      const verdicts = requests.map((request) => played.answers.get(request)?.[0]);
      const granted = verdicts.filter((answer) => answer?.status === 200);
      expect(granted, kind.name).toHaveLength(1);
      const refused = verdicts.filter((answer) => answer?.status !== 200).map((answer) => answer?.body.error?.details);
      expect(refused).toEqual(refused.map(() => [expect.objectContaining({ path: "already_used" })]));
      expect(await kind.received(payee)).toEqual([kind.units]);
    }
  });

  it("conserve money: what the chains show is what the records say, to the last unit", async () => {
    for (const [wallet, requests] of played.sends) {
      const { family, address } = wallet;
      const records = await recordsOf(wallet);
      const ids = requests.flatMap((request) => {
        const [answer] = played.answers.get(request) ?? [];
        return answer?.status === 200 ? [String(answer.body.paymentId)] : [];
      });
      expect(records.map(({ id }) => id).sort()).toEqual(ids.sort());
      expect(records.filter(({ status }) => status !== "confirmed" && status !== "finalized")).toEqual([]);
      const debits =
        family === "evm"
          ? await evm.native.transfers({ from: getAddress(address) })
          : await solana.native.transfers({ from: address });
      expect(debits.map(({ value }) => value)).toEqual(records.map(() => UNIT[family]));
      const cost = records.reduce((sum, { amount, fee }) => sum + amount + (fee ?? 0n), 0n);
      const balance =
        family === "evm" ? await evm.native.balanceOf(getAddress(address)) : await solana.native.balanceOf(address);
      expect(balance).toBe(FUNDS[family] - cost);
    }
  });

  it("send no two payments with one nonce, and nothing in vain", async () => {
    for (const [wallet] of played.sends) {
      const records = await recordsOf(wallet);
      expect(await sentBy({ evm, solana }, wallet)).toBe(records.length);
      const nonces = records.flatMap(({ pursuit }) => (pursuit.kind === "evm" ? [pursuit.nonce] : []));
      expect(new Set(nonces).size).toBe(nonces.length);
    }
    const own = [...played.sends.keys()].filter(({ family }) => family === "solana").map(({ address }) => address);
    expect(await failedTransactions({ evm, solana }, ...own)).toEqual([]);
  });

  it("count the requests of an account together", async () => {
    const account = await world.newAccount("busy");
    const key = await world.newKey({ account, plan: "standard" });
    const statuses: number[] = [];
    const one = (side: 0 | 1) => async () =>
      void statuses.push((await pair.get(side, `/payment/history/${evm.seller}`, key)).status);
    await inParallel(
      AT_ONCE,
      Array.from({ length: 140 }, (_, index) => one(index % 2 === 0 ? 0 : 1)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });
});
