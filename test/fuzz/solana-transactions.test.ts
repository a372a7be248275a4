// A thousand spoilt payments against a seller on a real Solana chain: no goods, no token moved, not a lamport of the fee
// payer's spent, and each refusal says why. And the other way round: whatever is taken has paid the price, no more, no less.
import { sign } from "node:crypto";
import { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import {
  AMOUNT,
  CLIENTS,
  compile,
  encode,
  FEE_PAYER,
  limit,
  MINT,
  memo,
  PAY_TO,
  PAYER,
  price,
  SETTLER,
  STRANGER,
  transfer,
} from "../chains/solana/payment.js";
import { type Got, type Seller, send, startSeller } from "../e2e/seller.js";
import { dice } from "../support/dice.js";
import { type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { SEED } from "./support/scale.js";
import { LENDER, POOR, revive, solanaForgeries } from "./support/solana-forgeries.js";

let sandbox: SolanaSandbox;
/** Counts what the seller sends. */
let rpc: ScriptedRpc;
let seller: Seller;
beforeAll(async () => {
  // Slots pass by transactions alone, so no blockhash grows old while a slow machine forges.
  sandbox = await createSolanaSandbox({ slotTimeMs: 0 });
  const { chain, usdc } = sandbox;
  for (const ours of [FEE_PAYER.key, SETTLER]) {
    chain.airdrop(ours.toBase58(), 10n ** 9n);
    chain.mintTo(usdc, ours.toBase58(), 10n ** 9n);
  }
  chain.mintTo(usdc, PAY_TO.toBase58(), 0n);
  for (const { key } of [PAYER, STRANGER]) chain.mintTo(usdc, key.toBase58(), 10n ** 9n);
  chain.mintTo(usdc, POOR.key.toBase58(), AMOUNT - 1n);
  await lend(chain.mintTo(usdc, LENDER.key.toBase58(), 10n ** 9n));
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  const settler = ["02".repeat(32), "04".repeat(32)];
  const { network } = sandbox;
  const receive = sandbox.receive({ rpcUrl: rpc.url, settler });
  seller = await startSeller("Express 5", { payTo: PAY_TO.toBase58(), network, receive });
  await seller.ready();
});
afterAll(async () => {
  await seller?.close();
  await rpc?.close();
  await sandbox?.close();
});

/** Makes the payer the delegate of a token account, for all that it holds. */
async function lend(address: string): Promise<void> {
  const account = await sandbox.connection("processed").getAccountInfo(new PublicKey(address));
  if (!account) throw new Error("the account was not opened");
  const data = Buffer.from(account.data);
  data.writeUInt32LE(1, 72);
  data.set(PAYER.key.toBytes(), 76);
  data.writeBigUInt64LE(10n ** 9n, 121);
  const { lamports, owner, executable } = account;
  sandbox.chain.setAccount(address, { data, lamports: BigInt(lamports), owner: owner.toBase58(), executable });
}

const KEYS = { FEE_PAYER, PAYER, STRANGER, LENDER, POOR };
const HOLDERS = {
  ...Object.fromEntries(Object.entries(KEYS).map(([name, { key }]) => [name, key])),
  SETTLER,
  PAY_TO,
};

/** Everything that anybody here holds. */
async function holdings(): Promise<Record<string, { readonly lamports: bigint; readonly usdc: bigint }>> {
  const entries = Object.entries(HOLDERS).map(async ([name, key]) => [name, await sandbox.balances(key.toBase58())]);
  return Object.fromEntries(await Promise.all(entries));
}

const blockhash = async () => (await sandbox.connection().getLatestBlockhash()).blockhash;

async function show(base64: string, version: 1 | 2): Promise<Got> {
  const payload = { transaction: base64 };
  const accepted = {
    scheme: "exact",
    network: sandbox.caip2,
    asset: MINT.toBase58(),
    amount: `${AMOUNT}`,
    payTo: PAY_TO.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: FEE_PAYER.key.toBase58(), decimals: 6 },
  };
  const v1 = { x402Version: 1, scheme: "exact", network: sandbox.network, payload };
  const value = Buffer.from(JSON.stringify(version === 1 ? v1 : { x402Version: 2, accepted, payload })).toString(
    "base64",
  );
  const headers = { [version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE"]: value };
  const got = await send(`${seller.url}/report`, { headers });
  if (!got) throw new Error("no answer");
  return got;
}

let payments = 0;
/** What an honest buyer sends, unlike any other payment of his; by default as @x402/svm builds it. */
async function honest(instructions = CLIENTS.ts2!()): Promise<string> {
  payments += 1;
  const own = memo(`payment ${payments}`.padEnd(32, "."));
  return revive(encode(compile([...instructions.slice(0, 3), own])), await blockhash());
}

describe("forged payments", () => {
  /** The dearest that is still within the caps of protocol §4.3: 20,000 lamports in all, and no unit left for a memo. */
  const DEAREST = [limit(2_000), price(5_000_000n), transfer()];

  it("buy nothing, move nothing, cost the fee payer nothing, and are each refused in their own words", async () => {
    const all = solanaForgeries(1_000, SEED);
    const living = await blockhash();
    const wrong: string[] = [];
    const codes = new Map<unknown, number>();
    const before = await holdings();
    for (const { name, version, base64, expected } of all) {
      const got = await show(revive(base64, living), version);
      const { code, error, payment } = got.json;
      codes.set(code, (codes.get(code) ?? 0) + 1);
      const said = "error" in expected ? error === expected.error : expected.codes.includes(String(code));
      const refused = (got.status === 400 || got.status === 402) && payment === "none";
      if (!refused || !said) wrong.push(`v${version} ${name}: ${got.status} ${code} ${error} ${payment}`);
    }
    console.info(`${all.length} forged payments on Solana:`, Object.fromEntries(codes));
    expect(wrong).toEqual([]);
    expect(seller.runs).toHaveLength(0);
    expect(rpc.count("sendTransaction")).toBe(0);
    expect(await holdings()).toEqual(before);
    // The same chain, wallet and seller take what is right, up to the very caps.
    for (const base64 of [await honest(), revive(encode(compile(DEAREST)), living)]) {
      for (const [version, status] of [
        [2, 200],
        [1, 409],
      ] as const)
        expect((await show(base64, version)).status).toBe(status);
    }
    expect(await changes(before)).toEqual({ runs: 2, paid: 2n * AMOUNT, fees: 10_001n + 20_000n });
  }, 180_000);

  it("that differ from an honest one in one bit, signed again, pay the price to the unit or buy nothing", async () => {
    const below = dice(SEED);
    const before = await holdings();
    const runs = seller.runs.length;
    const statuses = new Map<number, number>();
    for (let round = 0; round < 150; round += 1) {
      const got = await show(flipped(await honest(), below), round % 2 === 0 ? 1 : 2);
      statuses.set(got.status, (statuses.get(got.status) ?? 0) + 1);
    }
    console.info("150 payments with one bit changed:", Object.fromEntries(statuses));
    expect([...statuses.keys()].filter((status) => ![200, 400, 402].includes(status))).toEqual([]);
    const bought = statuses.get(200) ?? 0;
    expect(bought).toBeGreaterThan(0);
    const { fees, ...money } = await changes(before);
    expect(money).toEqual({ runs: runs + bought, paid: BigInt(bought) * AMOUNT });
    expect(fees).toBeLessThanOrEqual(BigInt(bought) * 20_000n);
  }, 180_000);
});

/** What has changed hands since, when nothing else but that has. */
async function changes(before: Awaited<ReturnType<typeof holdings>>) {
  const now = await holdings();
  const paid = now.PAY_TO!.usdc - before.PAY_TO!.usdc;
  const fees = before.FEE_PAYER!.lamports - now.FEE_PAYER!.lamports;
  const { PAYER: payer, PAY_TO: payee, FEE_PAYER: feePayer, ...others } = before;
  expect(now).toEqual({
    ...others,
    PAYER: { ...payer, usdc: payer!.usdc - paid },
    PAY_TO: { ...payee, usdc: payee!.usdc + paid },
    FEE_PAYER: { ...feePayer, lamports: feePayer!.lamports - fees },
  });
  return { runs: seller.runs.length, paid, fees };
}

/** One bit of the message, and the payer's signature over what has become of it. */
function flipped(base64: string, below: (count: number) => number): string {
  const bytes = Buffer.from(base64, "base64");
  const message = bytes.subarray(129);
  const bit = below(message.length * 8);
  message.writeUInt8(message.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  bytes.set(sign(null, message, PAYER.secret), 65);
  return bytes.toString("base64");
}
