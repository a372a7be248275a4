// Ids of transactions as payments, in SOL and in ETH on real chains: what is public is everybody's to copy, so it pays only for
// whoever made it for this sale, once.
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSandbox,
  createSolanaSandbox,
  evmTransferPayer,
  type Payer,
  type Sandbox,
  type SignedTransaction,
  type SolanaSandbox,
  solPayer,
  type TransactionParts,
} from "../../src/testing/index.js";
import { eth, type Money, sol } from "../e2e/money.js";
import type { Got } from "../e2e/seller.js";
import { olderStore, openWorld, withPayload } from "../e2e/world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

/** What a transfer moves, and to whom, in place of what the offer asks for. */
interface Bent {
  readonly to?: string;
  readonly amount?: bigint;
  /** Without the reference of a secret, as any wallet sends. */
  readonly plain?: boolean;
}
const SECRET = `0x${"5a".repeat(32)}` as const;
const codeOf = ({ status, json }: Got) => [status, json.code];

/** A buyer of SOL or ETH who sends his transfer first and shows its id. */
async function publicPayer(
  currency: "SOL" | "ETH",
  { to, amount, plain }: Bent = {},
): Promise<Payer<SignedTransaction>> {
  const shown = { broadcast: true, show: "id" } as const;
  if (currency === "SOL") {
    const bent = { ...(to && { to }), ...(amount && { lamports: amount }), ...(plain && { memo: null }) };
    return solPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, ...shown, ...bent });
  }
  const account = await evm.newBuyer();
  await evm.native.setBalances([account.address], 10n ** 18n);
  return evmTransferPayer(account, {
    rpcUrl: evm.rpcUrl,
    ...shown,
    change: (built) => ({
      ...built,
      ...(to && { to: to as `0x${string}` }),
      ...(amount && { value: amount }),
      ...(plain && { data: "0x" }),
    }),
  });
}

describe.each([
  ["SOL", "Express 5"],
  ["SOL", "Hono"],
  ["ETH", "Express 5"],
  ["ETH", "Hono"],
] as const)("the id of a transaction in %s on %s", (currency, framework) => {
  const money = (): Money<TransactionParts> => (currency === "SOL" ? sol(solana) : eth(evm));
  const open = () => openWorld(framework, money(), { store: olderStore() });
  const someone = () => (currency === "SOL" ? Keypair.generate().publicKey.toBase58() : `0x${"1a".repeat(20)}`);

  it("F26: buys nothing where it paid somebody else, or less than the price", async () => {
    const world = await open();
    const { amount } = money();
    // So that less than the rent of an account can arrive.
    if (currency === "SOL") await solana.native.mint(world.payTo, 10n ** 7n);
    // Whose money has moved is not asked to pay again.
    const wrong: readonly (readonly [Bent, number, string])[] = [
      [{ to: someone() }, 402, "recipient_mismatch"],
      [{ amount: amount / 2n }, 409, "payment_too_low"],
      [{ amount: amount - 1n }, 409, "payment_too_low"],
    ];
    for (const [bent, status, code] of wrong) {
      const payment = await world.sign({ payer: await publicPayer(currency, bent) });
      for (let copy = 0; copy < 2; copy += 1) expect(codeOf(await world.buy(payment))).toEqual([status, code]);
    }
    expect(await world.counters()).toMatchObject({ runs: 0, bodies: 0 });
    await world.close();
  });

  it("F26: buys once, in whatever form and with whatever secret it is shown again", async () => {
    const world = await open();
    const payment = await world.sign({ payer: await publicPayer(currency) });
    expect((await world.buy(payment)).status).toBe(200);
    const { id = "", bytes } = payment;
    const forms = [
      id,
      Buffer.from(bytes).toString("base64"),
      currency === "ETH" ? `0x${id.slice(2).toUpperCase()}` : id,
    ];
    for (const transaction of forms) {
      for (const secret of [payment.secret, SECRET, undefined]) {
        const got = await world.buy({ headers: withPayload(payment.headers, { transaction, secret }) });
        expect(got.status).toBe(409);
      }
    }
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it("A18: buys nothing for a stranger: a buyer's own with any other secret, or anybody's plain transfer with any", async () => {
    const world = await open();
    const victim = await world.sign({ payer: await publicPayer(currency) });
    // The seller's income of another kind: the right amount, to the right address, a moment ago, without a reference.
    const plain = await world.sign({ payer: await publicPayer(currency, { plain: true }) });
    for (const [{ headers }, code] of [
      [victim, "payment_secret_required"],
      [plain, "payment_unreferenced"],
    ] as const) {
      for (const secret of [undefined, SECRET, `0x${"00".repeat(32)}`]) {
        const got = await world.buy({ headers: withPayload(headers, { secret }) });
        expect(codeOf(got)).toEqual([409, code]);
      }
    }
    expect(codeOf(await world.buy(plain))).toEqual([409, "payment_unreferenced"]);
    expect(await world.counters()).toMatchObject({ runs: 0, bodies: 0 });
    // The victim's is still his.
    expect((await world.buy(victim)).status).toBe(200);
    await world.close();
  });
});
