// Dishonest, unlucky and poor payments in SOL at a seller over sockets, on the real chain. The oracle is three counters:
// handler runs, debits of the payee's side, answers delivered.
import {
  AddressLookupTableAccount,
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  type VersionedTransaction,
} from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSolanaSandbox,
  type Payer,
  type SignedTransaction,
  type SolanaSandbox,
} from "../../../src/testing/index.js";
import { confirmed, latestBlockhash } from "../../../src/testing/solana/wallet-node.js";
import { sol } from "../../e2e/money.js";
import { olderStore, openWorld, receiptOf, type World } from "../../e2e/world.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";
import { type Build, encode, memo, secretOf, sign, transfer } from "./native-payment.js";
import { emptyWallet, RENT } from "./native-world.js";

let sandbox: SolanaSandbox;
let rpc: ScriptedRpc;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
});
afterAll(async () => {
  await rpc.close();
  await sandbox.close();
});

const PRICE = 1_000_000n;
const open = (own: Parameters<typeof openWorld>[2] = {}) =>
  openWorld("Express 5", sol(sandbox), { store: olderStore(), receive: sandbox.receive({ rpcUrl: rpc.url }), ...own });

interface Made {
  readonly instructions: TransactionInstruction[];
  readonly build?: Partial<Build>;
}

/** A buyer who signs what he likes, and may send it himself before he shows it. */
function signing(
  wallet: Keypair,
  make: (payTo: PublicKey) => Made,
  { secret, broadcast = false }: { readonly secret?: string; readonly broadcast?: boolean } = {},
): Payer<SignedTransaction> {
  return {
    takes: ({ extra }) => extra?.assetTransferMethod === "transaction",
    async sign({ payTo }) {
      const { instructions, build } = make(new PublicKey(payTo));
      const signed = sign(wallet, instructions, { blockhash: await latestBlockhash(sandbox.rpcUrl), ...build });
      if (broadcast) await send(signed);
      const payload = { transaction: encode(signed), ...(secret !== undefined && { secret }) };
      return { payload, signed: { bytes: signed.serialize(), id: undefined, secret: undefined } };
    },
  };
}

async function send(signed: VersionedTransaction): Promise<void> {
  const id = await sandbox.connection().sendRawTransaction(signed.serialize(), { skipPreflight: true });
  await confirmed(sandbox.rpcUrl, id);
}

async function answer(world: World, payer: Payer<SignedTransaction>) {
  const { status, json } = await world.buy(await world.sign({ payer }));
  return [status, json.code];
}

const nothing = { runs: 0, debits: 0, bodies: 0 };

describe("a transaction that is not one plain transfer of the price to the seller", () => {
  const table = (payTo: PublicKey) =>
    new AddressLookupTableAccount({
      key: emptyWallet().publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [payTo],
      },
    });
  const second = emptyWallet();
  type Wrong = (payer: PublicKey, payTo: PublicKey) => Made;
  const WRONG: Record<string, [code: string, make: Wrong]> = {
    "too little": ["amount_mismatch", (from, to) => ({ instructions: [transfer(from, to, PRICE - 1n)] })],
    "too much": ["amount_mismatch", (from, to) => ({ instructions: [transfer(from, to, PRICE + 1n)] })],
    "another payee": [
      "recipient_mismatch",
      (from) => ({ instructions: [transfer(from, emptyWallet().publicKey, PRICE)] }),
    ],
    "two transfers": [
      "payment_rejected",
      (from, to) => ({ instructions: [transfer(from, to, PRICE), transfer(from, to, PRICE)] }),
    ],
    "a durable nonce": [
      "payment_rejected",
      (from, to) => ({
        instructions: [
          SystemProgram.nonceAdvance({ noncePubkey: emptyWallet().publicKey, authorizedPubkey: from }),
          transfer(from, to, PRICE),
        ],
      }),
    ],
    "a lookup table": [
      "payment_rejected",
      (from, to) => ({ instructions: [transfer(from, to, PRICE)], build: { tables: [table(to)] } }),
    ],
    "a second signer": [
      "payment_rejected",
      (from, to) => ({
        instructions: [
          transfer(from, to, PRICE),
          { ...memo("mine"), keys: [{ pubkey: second.publicKey, isSigner: true, isWritable: false }] },
        ],
        build: { others: [second] },
      }),
    ],
  };

  it.each(Object.entries(WRONG))("(%s) gets no goods and is never sent", async (_, [code, make]) => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const before = [rpc.count("sendTransaction"), sandbox.chain.lamports(wallet.publicKey.toBase58())];
    const payer = signing(wallet, (payTo) => make(wallet.publicKey, payTo));
    expect(await answer(world, payer)).toEqual([402, code]);
    expect(await world.counters()).toEqual(nothing);
    expect([rpc.count("sendTransaction"), sandbox.chain.lamports(wallet.publicKey.toBase58())]).toEqual(before);
    await world.close();
  });
});

const plain =
  (wallet: Keypair, label: string, lamports = PRICE) =>
  (payTo: PublicKey): Made => ({ instructions: [transfer(wallet.publicKey, payTo, lamports), memo(label)] });

describe("a transfer of the price", () => {
  it("in a legacy message, without a memo, buys the goods", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const make = (payTo: PublicKey): Made => ({
      instructions: [transfer(wallet.publicKey, payTo, PRICE)],
      build: { version: "legacy" },
    });
    expect((await world.buy(await world.sign({ payer: signing(wallet, make) }))).status).toBe(200);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it("and more, once public, buys the goods, and the receipt says what came", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const { secret, reference } = secretOf("paywall more");
    const payer = signing(wallet, plain(wallet, reference, PRICE + 5n), { secret, broadcast: true });
    const got = await world.buy(await world.sign({ payer }));
    expect(got.status).toBe(200);
    expect(JSON.stringify(receiptOf(got))).toContain(`${PRICE + 5n}`);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it("and less, once public, buys nothing, and its maker is sent no new bill (the price has risen since)", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const { secret, reference } = secretOf("paywall less");
    const payer = signing(wallet, plain(wallet, reference, PRICE - 1n), { secret, broadcast: true });
    for (const version of [2, 1] as const) {
      const { status, json } = await world.buy(await world.sign({ payer, version }));
      expect([status, json.code, json.payment]).toEqual([409, "payment_too_low", "settled"]);
      expect(json).not.toHaveProperty("accepts");
    }
    expect(await world.counters()).toEqual({ ...nothing, debits: 2 });
    await world.close();
  });

  it("whose blockhash has ended is expired, and nothing is sent", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const payment = await world.sign({ payer: signing(wallet, plain(wallet, "cancelled")) });
    sandbox.chain.advanceSlots(151);
    const { status, json } = await world.buy(payment);
    expect([status, json.code]).toEqual([402, "payment_expired"]);
    expect(await world.counters()).toEqual(nothing);
    await world.close();
  });

  it("that has failed on the chain is refused, with its secret too", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer({ lamports: PRICE });
    const { secret, reference } = secretOf("paywall failed");
    const payer = signing(wallet, plain(wallet, reference), { secret, broadcast: true });
    expect(await answer(world, payer)).toEqual([402, "payment_rejected"]);
    expect(await world.counters()).toEqual(nothing);
    await world.close();
  });

  it("whose payer spends the money between verification and settlement is refused, and nothing is sent", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const payment = await world.sign({ payer: signing(wallet, plain(wallet, "gone")) });
    const sent = rpc.count("sendTransaction");
    rpc.script("simulateTransaction", fault.pass());
    rpc.script("simulateTransaction", async (context) => {
      const all = BigInt(sandbox.chain.lamports(wallet.publicKey.toBase58())) - 5_000n;
      const away = [transfer(wallet.publicKey, emptyWallet().publicKey, all)];
      await send(sign(wallet, away, { blockhash: await latestBlockhash(sandbox.rpcUrl) }));
      return fault.pass()(context);
    });
    const { status, json } = await world.buy(payment);
    expect([status, json.code]).toEqual([402, "insufficient_funds"]);
    expect(rpc.count("sendTransaction")).toBe(sent);
    expect(await world.counters()).toEqual(nothing);
    await world.close();
  });

  it("that was mined more than 15 minutes ago is too old", async () => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const { secret, reference } = secretOf("paywall old");
    const now = Math.floor(Date.now() / 1000);
    sandbox.chain.setTime(now - 15 * 60 - 1);
    const payer = signing(wallet, plain(wallet, reference), { secret, broadcast: true });
    const payment = await world.sign({ payer }).finally(() => sandbox.chain.setTime(Math.floor(Date.now() / 1000)));
    const { status, json } = await world.buy(payment);
    expect([status, json.code]).toEqual([409, "payment_too_old"]);
    expect(await world.counters()).toEqual({ ...nothing, debits: 1 });
    await world.close();
  });
});

describe("a transfer whose fate nobody sees", () => {
  /** Pays while a method of the node answers with nothing but this, until the chain is past the payment's last block. */
  const unseen = async (method: string, result: unknown) => {
    const world = await open();
    const wallet = await sandbox.newBuyer();
    const payment = await world.sign({ payer: signing(wallet, plain(wallet, `unseen ${method}`)) });
    const [sent, landed] = [rpc.count("sendTransaction"), rpc.forwarded("sendTransaction")];
    // Judged twice before it is sent, and looked for once more.
    rpc.script(method, fault.pass(), method === "getSignatureStatuses" ? 3 : 0);
    rpc.script(method, async () => ({ kind: "answer", answer: { result } }), 1_000);
    const first = world.buy(payment);
    if (method === "sendTransaction") await rpc.called("sendTransaction", sent + 1);
    else await rpc.reached("sendTransaction", landed + 1);
    sandbox.chain.advanceSlots(151);
    const { status, json } = await first;
    expect([status, json.code]).toEqual([503, "settlement_unknown"]);
    expect(await world.counters()).toMatchObject({ runs: 0, bodies: 0 });
    return { world, payment };
  };
  /** The same payment again until its fate is known. */
  const decided = async ({ world, payment }: Awaited<ReturnType<typeof unseen>>) => {
    for (;;) {
      const got = await world.buy(payment);
      if (got.status !== 503) return got;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  it("because every node drops it is unknown, and cleanly refused once it can no longer land: no debit", async () => {
    const lost = await unseen("sendTransaction", "it is lost");
    sandbox.chain.advanceSlots(32);
    rpc.clear();
    const { status, json } = await decided(lost);
    expect([status, json.code]).toEqual([402, "payment_expired"]);
    expect(await lost.world.counters()).toEqual(nothing);
    await lost.world.close();
  });

  it("although it has landed is unknown, and the same payment gets the goods later: one debit", async () => {
    const landed = await unseen("getSignatureStatuses", { context: { slot: 1 }, value: [null] });
    rpc.clear();
    expect((await decided(landed)).status).toBe(200);
    expect(await landed.world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await landed.world.close();
  });
});

describe("a price below what an empty payee must get", () => {
  it("stops the start with both values, and no route sells", async () => {
    const cheap = { ...sol(sandbox), price: "0.0005 SOL", amount: 500_000n };
    await expect(openWorld("Express 5", cheap)).rejects.toThrow(
      new RegExp(`must carry at least ${RENT} lamports, got 500000 lamports`),
    );
  });
});
