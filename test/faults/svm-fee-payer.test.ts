// What buyers have done to whoever pays the network fee, over HTTP on the real programs: each attempt is refused by its name,
// nothing is sent, and the fee payer keeps every lamport and every token.
import { createAssociatedTokenAccountInstruction } from "@solana/spl-token";
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSolanaSandbox, type SolanaSandbox, splPayer } from "../../src/testing/index.js";
import { ATA_PROGRAM, associatedAccount, TOKEN_PROGRAM } from "../../src/testing/solana/programs.js";
import { type Money, usdcOnSolana } from "../e2e/money.js";
import type { Framework, Got } from "../e2e/seller.js";
import { openWorld, type World } from "../e2e/world.js";
import { type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";

const FRAMEWORKS: readonly Framework[] = ["Express 5", "Hono"];
type Parts = Omit<Parameters<typeof splPayer>[1], "rpcUrl">;
type Change = NonNullable<Parts["change"]>;

const V2 = "invalid_exact_svm_payload";
const PRICE_WORD = `${V2}_transaction_instructions_compute_price_instruction`;
const NOT_ISOLATED = "invalid_exact_svm_smart_wallet_fee_payer_not_isolated";

let sandbox: SolanaSandbox;
/** Counts what the seller sends. */
let rpc: ScriptedRpc;
let money: Money<Parts>;
let feePayer: PublicKey;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  feePayer = sandbox.feePayer.publicKey;
  // It holds tokens, so that there is something to take.
  await sandbox.token.mint(feePayer.toBase58(), 10n ** 9n);
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  money = { ...usdcOnSolana(sandbox), options: () => ({ network: sandbox.network, receive: own() }) };
});
afterAll(async () => {
  await rpc?.close();
  await sandbox?.close();
});

const own = (options: Parameters<SolanaSandbox["receive"]>[0] = {}) => sandbox.receive({ rpcUrl: rpc.url, ...options });
const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
const account = (owner: PublicKey) => new PublicKey(associatedAccount(owner.toBase58(), sandbox.usdc, TOKEN_PROGRAM));
const create = (payer: PublicKey, owner: PublicKey) =>
  createAssociatedTokenAccountInstruction(payer, account(owner), owner, new PublicKey(sandbox.usdc));
/** The payment with more behind it, its memo left out. */
const and =
  (...more: readonly TransactionInstruction[]): Change =>
  (built) => [...built.slice(0, 3), ...more];

const buyWith = async (world: World, parts: Parts): Promise<Got> =>
  world.buy(await world.sign({ payer: await money.newPayer(parts) }));

/** Each is refused with its word; then nothing has been sent, and an honest payment still passes. */
async function expectRefused(world: World, attempts: readonly (readonly [parts: Parts, word: string])[]) {
  const before = await sandbox.balances(feePayer.toBase58());
  const sent = rpc.count("sendTransaction");
  for (const [parts, word] of attempts) {
    const got = await buyWith(world, parts);
    expect([got.status, got.json.error, got.json.payment]).toEqual([402, word, "none"]);
  }
  expect(rpc.count("sendTransaction")).toBe(sent);
  expect(await sandbox.balances(feePayer.toBase58())).toEqual(before);
  expect(await world.counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
  expect((await buyWith(world, {})).status).toBe(200);
}

describe.each(FRAMEWORKS)("a fee payer on %s", (framework) => {
  it("A24: pays a unit price up to the cap of its seller, and not a micro-lamport more", async () => {
    const world = await openWorld(framework, money, { receive: own({ maxUnitPrice: 5n }) });
    const dear = [6n, 10n ** 9n, 2n ** 63n].map((unitPrice) => [{ unitPrice }, `${PRICE_WORD}_too_high`] as const);
    await expectRefused(world, dear);
    expect((await buyWith(world, { unitPrice: 5n })).status).toBe(200);
    const told = await buyWith(world, { unitPrice: 6n });
    expect(told.json).toMatchObject({ expected: "at most 5 micro-lamports a unit", got: "6" });
    await world.close();
  });

  it("A24: is kept by the protocol's caps where its seller sets none: price, units, and both together", async () => {
    const world = await openWorld(framework, money);
    const dear = [5_000_001n, 10n ** 9n, 2n ** 63n, 2n ** 64n - 1n].map((unitPrice) => ({ unitPrice, units: 1 }));
    const together = [
      { unitPrice: 5_000_000n, units: 2_001 },
      { unitPrice: 50_001n, units: 200_000 },
    ];
    const attempts = [...dear, ...together].map((parts) => [parts, `${PRICE_WORD}_too_high`] as const);
    await expectRefused(world, attempts);
    const before = await sandbox.balances(feePayer.toBase58());
    // 2,000 units leave nothing for a memo.
    const most = await buyWith(world, { unitPrice: 5_000_000n, units: 2_000, memo: null });
    expect(most.status).toBe(200);
    const after = await sandbox.balances(feePayer.toBase58());
    expect(before.lamports - after.lamports).toBe(20_000n);
    await world.close();
  });

  it("A25: sends none of its SOL along: by a transfer, through a lookup table, or by a program that calls one", async () => {
    const world = await openWorld(framework, money);
    const thief = Keypair.generate().publicKey;
    const transfer = SystemProgram.transfer({ fromPubkey: feePayer, toPubkey: thief, lamports: 1_000_000n });
    const table = lookupTable([feePayer, thief, account(thief), SystemProgram.programId]);
    const idempotent = new TransactionInstruction({
      programId: new PublicKey(ATA_PROGRAM),
      keys: [{ pubkey: feePayer, isSigner: true, isWritable: true }],
      data: Buffer.of(1),
    });
    const fourth = `${V2}_unknown_fourth_instruction`;
    const lookups = "invalid_exact_svm_smart_wallet_alt_resolution_not_available";
    const first: Change = (built) => [transfer, ...built.slice(0, 3)];
    await expectRefused(world, [
      [{ change: and(transfer) }, fourth],
      [{ change: first }, `${V2}_transaction_instructions_compute_limit_instruction`],
      [{ change: ([one, two]) => [one!, two!, transfer] }, `${V2}_signature_invalid`],
      [{ change: and(transfer), tables: [table] }, lookups],
      [{ tables: [lookupTable([account(sandbox.feePayer.publicKey), new PublicKey(sandbox.usdc)])] }, lookups],
      // The token account program pays for new accounts by a call of the system program's transfer.
      [{ change: and(create(feePayer, thief)) }, fourth],
      [{ change: and(idempotent) }, fourth],
      [{ change: and(memoThatNames(feePayer)) }, NOT_ISOLATED],
    ]);
    expect(sandbox.chain.lamports(thief.toBase58())).toBe(0n);
    await world.close();
  });

  it("A26: reads one limit and one price, in that order, and nothing that would stand in their place", async () => {
    const world = await openWorld(framework, money);
    const units = (count: number) => ComputeBudgetProgram.setComputeUnitLimit({ units: count });
    const dear = price(10n ** 9n);
    const limitWord = `${V2}_transaction_instructions_compute_limit_instruction`;
    const fourth = `${V2}_unknown_fourth_instruction`;
    await expectRefused(world, [
      [{ change: and(dear) }, fourth],
      [{ change: and(price(1n)) }, fourth],
      [{ change: and(units(1_400_000)) }, fourth],
      [{ change: ([limit, ...rest]) => [limit!, dear, ...rest] }, `${PRICE_WORD}_too_high`],
      [{ change: ([limit, cheap, ...rest]) => [limit!, cheap!, dear, ...rest] }, `${V2}_no_transfer_instruction`],
      [{ change: ([limit, cheap, ...rest]) => [cheap!, limit!, ...rest] }, limitWord],
      [{ change: ([, cheap, ...rest]) => [cheap!, ...rest] }, limitWord],
      [{ change: ([limit, , ...rest]) => [limit!, ...rest] }, PRICE_WORD],
      [{ change: ([, , transfer, memo]) => [transfer!, memo!, memo!] }, limitWord],
    ]);
    await world.close();
  });

  it("F87: opens no account and lends none of its own: not as payer, source or authority", async () => {
    const world = await openWorld(framework, money);
    const source = account(feePayer).toBase58();
    const fourth = `${V2}_unknown_fourth_instruction`;
    const transferring = `${V2}_transaction_fee_payer_transferring_funds`;
    const owner = Keypair.generate().publicKey;
    await expectRefused(world, [
      [{ change: and(create(feePayer, owner)) }, fourth],
      [
        { change: ([one, two, transfer]) => [one!, two!, create(feePayer, owner), transfer!] },
        `${V2}_no_transfer_instruction`,
      ],
      [{ move: { source } }, transferring],
      [{ move: { source, authority: feePayer.toBase58() } }, `${V2}_signature_invalid`],
      [{ change: and(memoThatNames(feePayer)) }, NOT_ISOLATED],
    ]);
    expect(sandbox.chain.lamports(account(owner).toBase58())).toBe(0n);
    await world.close();
  });

  it("A27: opens not one account for 100 fresh wallets that need one each", async () => {
    const world = await openWorld(framework, money);
    const before = await sandbox.balances(feePayer.toBase58());
    const sent = rpc.count("sendTransaction");
    const owners = Array.from({ length: 100 }, () => Keypair.generate().publicKey);
    const wallet = await sandbox.newBuyer();
    const answers = await Promise.all(
      owners.map(async (owner, i) => {
        const more = i % 2 ? create(feePayer, owner) : create(wallet.publicKey, owner);
        const payer = splPayer(wallet, { rpcUrl: sandbox.rpcUrl, change: and(more) });
        return world.buy(await world.sign({ payer }));
      }),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.code}`))).toEqual(
      new Set(["402 payment_rejected"]),
    );
    expect(owners.map((owner) => sandbox.chain.lamports(account(owner).toBase58()))).toEqual(owners.map(() => 0n));
    expect(rpc.count("sendTransaction")).toBe(sent);
    expect(await sandbox.balances(feePayer.toBase58())).toEqual(before);
    expect(await world.counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
    await world.close();
  });
});

/** Memo that lists the fee payer beside the payer; as a signer, which he is anyway. */
const memoThatNames = (key: PublicKey) =>
  new TransactionInstruction({
    programId: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
    keys: [{ pubkey: key, isSigner: true, isWritable: false }],
    data: Buffer.from("x"),
  });

/** A table with these addresses, which the chain knows as well. */
function lookupTable(addresses: readonly PublicKey[]): AddressLookupTableAccount {
  const key = Keypair.generate().publicKey;
  const data = Buffer.alloc(56 + 32 * addresses.length);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(2n ** 64n - 1n, 4);
  for (const [i, address] of addresses.entries()) data.set(address.toBytes(), 56 + 32 * i);
  sandbox.chain.setAccount(key.toBase58(), {
    data: new Uint8Array(data),
    lamports: 10n ** 9n,
    owner: "AddressLookupTab1e1111111111111111111111111",
    executable: false,
  });
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  return new AddressLookupTableAccount({ key, state: { ...state, addresses: [...addresses] } });
}
