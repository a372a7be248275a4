import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { faultOf, openSending, type SendingWorld, valueIn } from "./sending.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: SendingWorld;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));
beforeEach(async () => {
  world = await openSending({ evm, solana });
});

/** One kind of money: what is asked for, and what the chain is to show. */
const MONEY = [
  { name: "ETH", family: "evm", request: { amount: 0.001 }, units: 10n ** 15n, asset: "native", shown: "ETH" },
  { name: "USDC on EVM", family: "evm", request: { amount: "1.5", asset: "USDC" }, units: 1_500_000n, asset: "usdc" },
  { name: "SOL", family: "solana", request: { amount: 0.01 }, units: 10_000_000n, asset: "native", shown: "SOL" },
  { name: "USDC on Solana", family: "solana", request: { amount: 2, asset: "USDC" }, units: 2_000_000n, asset: "usdc" },
] as const;

describe.each(MONEY)("sending $name", ({ family, request, units, asset, ...money }) => {
  const tokenOf = () => (family === "evm" ? evm.token.address : solana.usdc);

  it("moves the exact amount once and answers with the confirmed payment", async () => {
    const [wallet, payee] = [await world.newWallet(family), await world.newPayee(family)];
    const metadata = { order: 7 };
    const more = { resource: "https://shop.example/report", metadata };
    const asked = { walletAddress: wallet.address, recipientAddress: payee, ...request, ...more };
    const answer = valueIn(await world.send(asked));
    const network = world.network(family);
    expect(answer).toMatchObject({
      ...{ success: true, status: "confirmed", network: network.network.id, amount: Number(request.amount) },
      ...{ amountAtomic: `${units}`, sender: wallet.address, metadata, resource: more.resource },
      asset: "shown" in money ? money.shown : tokenOf(),
    });
    expect(answer.recipient.toLowerCase()).toBe(payee.toLowerCase());
    expect(answer.paymentId).toMatch(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/);
    expect(answer.signature).toMatch(family === "evm" ? /^0x[0-9a-f]{64}$/ : /^[1-9A-HJ-NP-Za-km-z]{80,88}$/);
    expect(answer.fee).toBeGreaterThan(0);
    expect(answer.blockHeight).toBeGreaterThan(0);
    expect(answer.estimatedConfirmation).toMatch(/^\d+-\d+ seconds$/);
    expect(Math.abs(answer.timestamp - Date.now() / 1000)).toBeLessThan(60);
    expect(await world.debits(network, wallet.address, asset)).toEqual([units]);
  });

  it("answers the repeat of a request with the same payment and proof, and moves nothing more", async () => {
    const [wallet, payee] = [await world.newWallet(family), await world.newPayee(family)];
    const asked = { walletAddress: wallet.address, recipientAddress: payee, ...request };
    const idempotencyKey = "one and the same";
    const first = valueIn(await world.send(asked, { idempotencyKey }));
    const again = valueIn(await world.send(asked, { idempotencyKey }));
    expect({ ...again, status: first.status, blockHeight: first.blockHeight }).toEqual(first);
    expect(await world.debits(world.network(family), wallet.address, asset)).toEqual([units]);
  });

  it("makes one payment of twenty copies of a request that race", async () => {
    const [wallet, payee] = [await world.newWallet(family), await world.newPayee(family)];
    const asked = { walletAddress: wallet.address, recipientAddress: payee, ...request };
    const copies = Array.from({ length: 20 }, () => world.send(asked, { idempotencyKey: "raced" }));
    const answers = (await Promise.all(copies)).map(valueIn);
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1);
    expect(new Set(answers.map(({ paymentProof }) => paymentProof)).size).toBe(1);
    expect(await world.debits(world.network(family), wallet.address, asset)).toEqual([units]);
  });
});

describe("an Idempotency-Key", () => {
  it("that has made another payment makes no second one, and does not give the first one's proof", async () => {
    const [wallet, payee] = [await world.newWallet("evm"), await world.newPayee("evm")];
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 };
    const idempotencyKey = "used before";
    valueIn(await world.send(asked, { idempotencyKey }));
    const others = [
      { ...asked, amount: 0.02 },
      { ...asked, asset: "USDC" },
      { ...asked, recipientAddress: await world.newPayee("evm") },
      { ...asked, walletAddress: (await world.newWallet("evm")).address },
    ];
    for (const other of others) expect(faultOf(await world.send(other, { idempotencyKey }))).toBe("CONFLICT");
    expect(await world.debits(world.network("evm"), wallet.address)).toHaveLength(1);
  });
});

describe("a wallet", () => {
  it.each(["evm", "solana"] as const)(
    "that is another account's, unknown, not named by the key, or of the other mode: one answer (%s)",
    async (family) => {
      const payee = await world.newPayee(family);
      const other = (await world.database.accounts.create("other")).id;
      const [own, foreign, live] = [
        await world.newWallet(family),
        await world.newWallet(family, { account: other }),
        await world.newWallet(family, { mode: "live" }),
      ];
      const unknown = await world.newPayee(family);
      const ask = (walletAddress: string, wallets: readonly string[]) =>
        world.send({ walletAddress, recipientAddress: payee, amount: 0.01 }, { key: { wallets } });
      const answers = [
        await ask(foreign.address, [own.id, foreign.id]),
        await ask(unknown, [own.id]),
        await ask(own.address, []),
        await ask(live.address, [live.id]),
      ];
      expect(answers.map(faultOf)).toEqual(Array(4).fill("FORBIDDEN walletAddress"));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(await world.debits(world.network(family), own.address)).toEqual([]);
    },
  );

  it("is not opened where the gateway was started without its passphrase", async () => {
    const [wallet, payee] = [await world.newWallet("evm"), await world.newPayee("evm")];
    const locked = await world.start((parts) => ({ ...parts, custody: undefined }));
    const outcome = await locked.send({ walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 });
    expect(faultOf(outcome)).toBe("UNAVAILABLE");
    // Sending it again helps nobody.
    expect(outcome).toMatchObject({ retryable: false, action: expect.stringContaining("TOLLGATE_WALLET_PASSPHRASE") });
  });

  it("whose sealed key was moved from another row sends nothing and leaves no record", async () => {
    const [wallet, payee] = [await world.newWallet("evm"), await world.newPayee("evm")];
    const other = await world.newWallet("evm");
    const moved = await world.start((parts) => {
      const { wallets } = parts.database;
      const byAddress: typeof wallets.byAddress = async (...where) => {
        const found = await wallets.byAddress(...where);
        return found && { ...found, sealedKey: other.sealedKey };
      };
      return { ...parts, database: { ...parts.database, wallets: { ...wallets, byAddress } } };
    });
    const outcome = await moved.send({ walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 });
    expect(outcome).toMatchObject({
      ok: false,
      code: "UNAVAILABLE",
      message: expect.stringContaining("cannot be opened"),
    });
    expect(await world.payments(wallet.address)).toEqual([]);
    expect(await world.debits(world.network("evm"), wallet.address)).toEqual([]);
    // Its limit and its nonce are as they were.
    const answer = valueIn(await world.send({ walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 }));
    expect(await world.payment(answer.paymentId)).toMatchObject({ pursuit: { nonce: 0 } });
  });

  it("without enough money sends nothing, and is told what it needs", async () => {
    const wallet = await world.newWallet("evm", { native: 10n ** 15n });
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee("evm"), amount: 0.001 };
    const outcome = await world.send(asked);
    expect(outcome).toMatchObject({ ok: false, code: "INSUFFICIENT_BALANCE" });
    expect(outcome.ok ? "" : outcome.message).toContain("0.001 ETH");
    expect(await world.payments(wallet.address)).toEqual([]);
  });
});

describe("a client that goes away", () => {
  it("before anything was written has sent nothing", async () => {
    const [wallet, payee] = [await world.newWallet("evm"), await world.newPayee("evm")];
    const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.01 };
    const outcome = await world.send(asked, { signal: AbortSignal.abort() });
    expect(faultOf(outcome)).toBe("UNAVAILABLE");
    expect(await world.payments(wallet.address)).toEqual([]);
  });
});
