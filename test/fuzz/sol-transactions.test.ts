// A buyer's own SOL transfer with every part of it at its boundaries, against a seller on a real Solana chain: no goods, nothing
// sent, not a lamport moved, and each refusal says why. And the other way round: whatever is taken has paid the price.
import { createPrivateKey, sign as signBytes } from "node:crypto";
import { type Keypair, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import {
  call,
  encode,
  keyOf,
  LIGHTHOUSE,
  limit,
  MEMO,
  memo,
  price,
  secretOf,
  sign,
  transfer,
} from "../chains/solana/native-payment.js";
import { type Got, type Seller, send, startSeller } from "../e2e/seller.js";
import { dice } from "../support/dice.js";
import { type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { SEED } from "./support/scale.js";

const AMOUNT = 1_000_000n;
const [PAYER, STRANGER, PAUPER] = [keyOf(11), keyOf(12), keyOf(13)];
const PAY_TO = keyOf(14).publicKey;
const U64 = 2n ** 64n - 1n;

let sandbox: SolanaSandbox;
let rpc: ScriptedRpc;
let seller: Seller;
let blockhash: string;
beforeAll(async () => {
  sandbox = await createSolanaSandbox({ slotTimeMs: 0 });
  for (const { publicKey } of [PAYER, STRANGER]) sandbox.chain.airdrop(publicKey.toBase58(), 10n ** 10n);
  // So that nothing that arrives is too little to exist.
  sandbox.chain.airdrop(PAY_TO.toBase58(), 10n ** 7n);
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  const receive = sandbox.receive({ rpcUrl: rpc.url });
  seller = await startSeller("Hono", { payTo: PAY_TO.toBase58(), network: sandbox.network, receive }, "0.001 SOL");
  await seller.ready();
  ({ blockhash } = await sandbox.connection().getLatestBlockhash());
});
afterAll(async () => {
  await seller?.close();
  await rpc?.close();
  await sandbox?.close();
});

async function show(transaction: string, version: 1 | 2): Promise<Got> {
  const payload = { transaction };
  const accepted = {
    scheme: "exact",
    network: sandbox.caip2,
    asset: SystemProgram.programId.toBase58(),
    amount: `${AMOUNT}`,
    payTo: PAY_TO.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
  };
  const v1 = { x402Version: 1, scheme: "exact", network: sandbox.network, payload };
  const json = JSON.stringify(version === 1 ? v1 : { x402Version: 2, accepted, payload });
  const headers = { [version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE"]: Buffer.from(json).toString("base64") };
  const got = await send(`${seller.url}/report`, { headers });
  if (!got) throw new Error("no answer");
  return got;
}

const lamports = () =>
  [PAYER.publicKey, STRANGER.publicKey, PAUPER.publicKey, PAY_TO, sandbox.feePayer.publicKey].map((key) =>
    sandbox.chain.lamports(key.toBase58()),
  );

type Forgery = readonly [name: string, transaction: string, code: string];

const signed = (instructions: readonly TransactionInstruction[], payer: Keypair = PAYER, others: Keypair[] = []) =>
  encode(sign(payer, instructions, { blockhash, others }));

/** What moves money, in each way that is not one transfer of the price from the payer to the payee. */
function moves(): Forgery[] {
  const pay = (amount: bigint, to = PAY_TO) => transfer(PAYER.publicKey, to, amount);
  const amounts = [0n, 1n, AMOUNT / 2n, AMOUNT - 1n, AMOUNT + 1n, AMOUNT * 2n, AMOUNT << 32n, 2n ** 63n, U64];
  const bit = new PublicKey(PAY_TO.toBytes().with(31, PAY_TO.toBytes()[31]! ^ 1));
  const payees = [PAYER.publicKey, STRANGER.publicKey, sandbox.feePayer.publicKey, SystemProgram.programId, bit];
  const lists: readonly (readonly TransactionInstruction[])[] = [
    [pay(AMOUNT - 1n), pay(1n)],
    [pay(AMOUNT), pay(AMOUNT)],
    [pay(AMOUNT), pay(1n, STRANGER.publicKey)],
    [SystemProgram.nonceAdvance({ noncePubkey: STRANGER.publicKey, authorizedPubkey: PAYER.publicKey }), pay(AMOUNT)],
    [SystemProgram.assign({ accountPubkey: PAYER.publicKey, programId: MEMO }), pay(AMOUNT)],
  ];
  const { data, keys } = pay(AMOUNT);
  const other = (bytes: Uint8Array) => [call(SystemProgram.programId, bytes, keys)];
  const shapes = [data.with(0, 3), data.with(0, 0), data.with(1, 1), data.subarray(0, 11), Uint8Array.of(...data, 0)];
  return [
    ...amounts.map((amount): Forgery => [`${amount} lamports`, signed([pay(amount)]), "amount_mismatch"]),
    ...payees.map((to): Forgery => [`to ${to.toBase58()}`, signed([pay(AMOUNT, to)]), "recipient_mismatch"]),
    ...lists.map((list, i): Forgery => [`list ${i}`, signed(list), "payment_rejected"]),
    ...shapes.map((bytes, i): Forgery => [`shape ${i}`, signed(other(bytes)), "payment_rejected"]),
    ["another's money", signed([transfer(STRANGER.publicKey, PAY_TO, AMOUNT)], PAYER, [STRANGER]), "payment_rejected"],
    ["no money", signed([memo("nothing")]), "payment_rejected"],
  ];
}

/** The right transfer in a wrong frame. */
function frames(): Forgery[] {
  const right = transfer(PAYER.publicKey, PAY_TO, AMOUNT);
  const { reference } = secretOf("fuzz");
  const bytes = Buffer.from(signed([right]), "base64");
  const cut = (length: number) => bytes.subarray(0, length).toString("base64");
  const elsewhere = encode(sign(PAYER, [right], { blockhash: STRANGER.publicKey.toBase58() }));
  const held = sandbox.chain.lamports(PAYER.publicKey.toBase58());
  const dear = price(U64);
  const cosigned = call(MEMO, Buffer.from("x"), [{ pubkey: STRANGER.publicKey, isSigner: true, isWritable: false }]);
  return [
    ["two limits", signed([limit(450), limit(450), right]), "payment_rejected"],
    ["two prices", signed([price(1n), price(2n), right]), "payment_rejected"],
    ["three memos", signed([right, memo("1"), memo("2"), memo("3")]), "payment_rejected"],
    ["eight instructions", signed([right, ...Array(7).fill(memo("x"))]), "payment_rejected"],
    ["a foreign program", signed([right, call(STRANGER.publicKey, Uint8Array.of(1))]), "payment_rejected"],
    ["an assertion that fails", signed([right, call(LIGHTHOUSE, Uint8Array.of(255))]), "simulation_failed"],
    ["a second signer", signed([right, cosigned], PAYER, [STRANGER]), "payment_rejected"],
    ["units for nothing", signed([limit(1), right]), "simulation_failed"],
    ["a fee beyond all means", signed([limit(1_400_000), dear, right]), "insufficient_funds"],
    ["a payer without money", signed([transfer(PAUPER.publicKey, PAY_TO, AMOUNT)], PAUPER), "insufficient_funds"],
    ["all that the payer holds", signed([transfer(PAYER.publicKey, PAY_TO, held)]), "amount_mismatch"],
    ["an unknown blockhash", elsewhere, "payment_expired"],
    ["a reference and no secret", signed([right, memo(reference)]), "payment_secret_required"],
    ["no signature", Buffer.from(bytes).fill(0, 1, 65).toString("base64"), "signature_invalid"],
    ["a byte after it", Buffer.concat([bytes, Buffer.of(0)]).toString("base64"), "payment_malformed"],
    ...[1, 64, 65, 66, 100, bytes.length - 1].map(
      (length): Forgery => [`${length} bytes`, cut(length), "payment_malformed"],
    ),
    ...Array.from({ length: 64 }, (_, i): Forgery => {
      const bent = Buffer.from(bytes);
      bent.writeUInt8(bent.readUInt8(1 + i) ^ (1 << (i % 8)), 1 + i);
      return [`bit ${i % 8} of byte ${i} of the signature`, bent.toString("base64"), "signature_invalid"];
    }),
  ];
}

describe("forged transfers of SOL", () => {
  it("buy nothing, move nothing, are never sent, and are each refused with its code", async () => {
    const all = [...moves(), ...frames()];
    const before = lamports();
    const codes = new Map<unknown, number>();
    const wrong: string[] = [];
    for (const [name, transaction, expected] of all) {
      for (const version of [1, 2] as const) {
        const got = await show(transaction, version);
        const { code } = got.json;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        const refused = [400, 402, 409].includes(got.status) && code === expected;
        if (!refused) wrong.push(`v${version} ${name}: ${got.status} ${code}, not ${expected}`);
      }
    }
    console.info(`${2 * all.length} forged transfers of SOL:`, Object.fromEntries(codes));
    expect(wrong).toEqual([]);
    expect(rpc.count("sendTransaction")).toBe(0);
    expect([seller.runs.length, lamports()]).toEqual([0, before]);
  }, 120_000);

  it("that differ from an honest one in one bit, signed again, pay the price to the lamport or buy nothing", async () => {
    const below = dice(SEED);
    const [payer, stranger, pauper, payee, feePayer] = lamports();
    const head = Buffer.from("302e020100300506032b657004220420", "hex");
    const seed = Buffer.from(PAYER.secretKey.subarray(0, 32));
    const key = createPrivateKey({ key: Buffer.concat([head, seed]), format: "der", type: "pkcs8" });
    const statuses = new Map<number, number>();
    for (let round = 0; round < 80; round += 1) {
      const instructions = [
        limit(60_000),
        price(1n),
        transfer(PAYER.publicKey, PAY_TO, AMOUNT),
        memo(`${round}`.padEnd(40, ".")),
      ];
      const bytes = Buffer.from(signed(instructions), "base64");
      const message = bytes.subarray(65);
      const bit = below(message.length * 8);
      message.writeUInt8(message.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      bytes.set(signBytes(null, message, key), 1);
      const { status } = await show(bytes.toString("base64"), round % 2 === 0 ? 1 : 2);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    console.info("80 transfers with one bit changed:", Object.fromEntries(statuses));
    expect([...statuses.keys()].filter((status) => ![200, 400, 402].includes(status))).toEqual([]);
    const bought = statuses.get(200) ?? 0;
    expect(bought).toBeGreaterThan(0);
    expect(seller.runs).toHaveLength(bought);
    const now = lamports();
    expect(now.slice(1)).toEqual([stranger, pauper, payee! + BigInt(bought) * AMOUNT, feePayer]);
    expect(payer! - now[0]!).toBeGreaterThanOrEqual(BigInt(bought) * AMOUNT);
  }, 120_000);
});
