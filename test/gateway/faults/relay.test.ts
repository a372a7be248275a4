// A30: the gateway is no free relay. There is no endpoint that takes signed bytes to send; what it builds for others it never
// sends; and a signed transaction that is shown as a proof leaves only when it pays exactly what the caller asked for, once.
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { parseTransaction } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../../src/testing/index.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";
import type { Answer, Json } from "../call.js";
import { decode, encode, type Kind, onEvm, onSolana, receive, sign, verdictOf } from "../receiving.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";

const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
let evm: Sandbox;
let solana: SolanaSandbox;
/** Between the gateway and its nodes: they count what is sent. */
let toEvm: ScriptedRpc;
let toSolana: ScriptedRpc;
let world: GatewayWorld;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  [toEvm, toSolana] = await Promise.all([startScriptedRpc(evm.rpcUrl), startScriptedRpc(solana.rpcUrl)]);
  const networks = {
    "base-sepolia": { rpcUrl: toEvm.url, settler: evm.settlerKey },
    "solana-devnet": { rpcUrl: toSolana.url, settler: solana.settlerKey },
  };
  world = await createGatewayWorld({ chains: { evm, solana }, options: { networks } });
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close(), toEvm?.close(), toSolana?.close()]);
});

const sent = () => toEvm.count("eth_sendRawTransaction") + toSolana.count("sendTransaction");
/** Nothing may leave for a node meanwhile. */
async function sendingNothing<T>(run: () => Promise<T>): Promise<T> {
  const before = sent();
  const result = await run();
  expect(sent()).toBe(before);
  return result;
}
const bytesOf = ({ body }: Answer): Buffer => Buffer.from(String(body.transaction), "base64");
const statusOf = async ({ body }: Answer, key?: string) =>
  world.call("GET", `/payment/status/${String(body.paymentId)}`, undefined, key === undefined ? {} : { key });

async function signedOnEvm(): Promise<{ readonly built: Answer; readonly raw: `0x${string}` }> {
  const buyer = await evm.newBuyer();
  await evm.native.setBalances([buyer.address], 10n ** 18n);
  const order = { walletAddress: buyer.address, recipientAddress: RECIPIENT, amount: 0.01 };
  const built = await world.call("POST", "/transaction/send", order);
  expect(built.status).toBe(200);
  const { r, s, v, yParity, ...transaction } = parseTransaction(`0x${bytesOf(built).toString("hex")}`);
  return { built, raw: await buyer.signTransaction(transaction as Parameters<typeof buyer.signTransaction>[0]) };
}

async function signedOnSolana(): Promise<{ readonly built: Answer; readonly raw: Uint8Array }> {
  const buyer = await solana.newBuyer();
  const order = { walletAddress: buyer.publicKey.toBase58(), recipientAddress: solana.seller, amount: 0.25 };
  const built = await world.call("POST", "/transaction/send", order);
  expect(built.status).toBe(200);
  const transaction = VersionedTransaction.deserialize(bytesOf(built));
  transaction.sign([buyer]);
  return { built, raw: transaction.serialize() };
}

describe("A30: an endpoint that sends what it is given", () => {
  it("does not exist: no path of the description names one, and no likely one answers", async () => {
    const { raw } = await signedOnEvm();
    const { paths } = (await world.call("GET", "/openapi.json")).body as { paths: Json };
    const posts = Object.entries(paths).flatMap(([path, methods]) => (methods?.post ? [path] : []));
    expect(posts.sort()).toEqual([
      ...["/payment/receive", "/payment/send", "/settle", "/transaction/receive", "/transaction/send", "/verify"],
      ...["/wallets/challenge", "/wallets/prove"],
    ]);
    const likely = ["/submit", "/broadcast", "/relay", "/rpc", "/", "/transaction", "/transaction/broadcast"];
    await sendingNothing(async () => {
      for (const path of [...likely, "/transaction/submit", "/payment/submit", "/transaction/send/submit"]) {
        const { status } = await world.call("POST", path, { transaction: raw, signedTransaction: raw });
        expect([path, status === 404 || status === 405]).toEqual([path, true]);
      }
    });
  });

  it("is not opened by a field that no endpoint has", async () => {
    const { built, raw } = await signedOnEvm();
    const { sender: walletAddress, recipient: recipientAddress } = built.body;
    for (const path of ["/transaction/send", "/payment/send"]) {
      for (const field of ["transaction", "signedTransaction", "signature", "broadcast"]) {
        const order = { walletAddress, recipientAddress, amount: 0.01, [field]: raw };
        const { status, body } = await sendingNothing(() => world.call("POST", path, order));
        expect([field, status, body.error?.code]).toEqual([field, 400, "INVALID_REQUEST"]);
      }
    }
  });
});

describe("A30: a transaction that was built for somebody to sign", () => {
  it.each([
    ["EVM", signedOnEvm],
    ["Solana", signedOnSolana],
  ] as const)("is never sent by the gateway, only watched for: %s", async (_chain, make) => {
    const { built } = await sendingNothing(async () => {
      const made = await make();
      for (let n = 0; n < 3; n++) expect((await statusOf(made.built)).body.status).toBe("created");
      return made;
    });
    expect(built.body.signatureRequired).toBe(true);
  });

  it.each([
    ["EVM", signedOnEvm, (raw: string | Uint8Array) => evm.chain.rpc("eth_sendRawTransaction", [raw])],
    ["Solana", signedOnSolana, (raw: string | Uint8Array) => solana.connection().sendRawTransaction(raw as Uint8Array)],
  ] as const)(
    "is seen when its signer sends it himself, and is nobody else's to see: %s",
    async (_chain, make, send) => {
      const before = sent();
      const { built, raw } = await make();
      await send(raw);
      const status = async () => (await statusOf(built)).body.status;
      await expect.poll(status, { timeout: 20_000 }).toMatch(/^(?:confirmed|finalized)$/);
      expect(sent()).toBe(before);
      const stranger = await world.newKey({ account: await world.newAccount() });
      expect((await statusOf(built, stranger)).status).toBe(404);
    },
  );
});

describe.each([
  ["ETH", () => onEvm(evm, "eth", 2)],
  ["USDC by transaction on EVM", () => onEvm(evm, "token", 2)],
  ["SOL", () => onSolana(solana, "sol", 2)],
  ["USDC on Solana", () => onSolana(solana, "usdc", 2)],
] as const)("A30: a signed transaction in %s that is shown as a proof", (_name, kindOf) => {
  /** The proof with one byte of its transaction turned over, from its end. */
  const altered = (proof: string, fromEnd: number): string => {
    const outer = decode(proof);
    const payload = outer.payload as { readonly transaction: string };
    const isHex = payload.transaction.startsWith("0x");
    const bytes = Buffer.from(isHex ? payload.transaction.slice(2) : payload.transaction, isHex ? "hex" : "base64");
    bytes.writeUInt8(bytes.readUInt8(bytes.length - fromEnd) ^ 1, bytes.length - fromEnd);
    const transaction = isHex ? `0x${bytes.toString("hex")}` : bytes.toString("base64");
    return encode({ ...outer, payload: { ...payload, transaction } });
  };
  const expectUnsent = async (kind: Kind, payTo: string, proof: string, more: object = {}) => {
    const got = await sendingNothing(() => receive(world, kind, payTo, proof, { ...more }));
    expect(verdictOf(got)).toMatch(/^400 INVALID_PAYMENT_PROOF/);
  };

  it("is not sent where it pays somebody else, too little, or was altered", async () => {
    const kind = kindOf();
    const [payTo, other] = [await kind.newPayee(), await kind.newPayee()];
    const proof = await sign(kind, payTo);
    await expectUnsent(kind, other, proof);
    await expectUnsent(kind, payTo, proof, { expectedAmount: String(Number(kind.amount) * 2) });
    for (const fromEnd of [1, 20, 40, 60]) await expectUnsent(kind, payTo, altered(proof, fromEnd));
    expect(await kind.received(payTo)).toEqual([]);
  });

  it("is sent once, for one caller: neither again nor for another key", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const before = sent();
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
    expect(sent()).toBe(before + 1);
    const key = await world.newKey({ account: await world.newAccount() });
    await expectUnsent(kind, payTo, proof);
    await expectUnsent(kind, payTo, proof, { options: { key } });
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});

it("A30: a signed transaction that is no payment is no proof, whatever it does", async () => {
  const kind = onSolana(solana, "sol", 2);
  const payTo = await kind.newPayee();
  const buyer = await solana.newBuyer();
  const { blockhash } = await solana.connection().getLatestBlockhash();
  const instructions = [
    SystemProgram.transfer({ fromPubkey: buyer.publicKey, toPubkey: Keypair.generate().publicKey, lamports: 10 ** 6 }),
  ];
  const message = new TransactionMessage({ payerKey: buyer.publicKey, recentBlockhash: blockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([buyer]);
  const outer = decode(await sign(kind, payTo));
  const payload = { transaction: Buffer.from(transaction.serialize()).toString("base64") };
  const got = await sendingNothing(() => receive(world, kind, payTo, encode({ ...outer, payload })));
  expect(verdictOf(got)).toMatch(/^400 INVALID_PAYMENT_PROOF/);
});
