// What the test buyers sign beside authorizations: token payments on Solana that wait for a fee payer, and complete
// transactions on both families. Each is judged by a chain, not by the paywall.
import { createHash } from "node:crypto";
import { Keypair, PublicKey, VersionedTransaction } from "@solana/web3.js";
import { createPublicClient, http, keccak256, parseTransaction, recoverTransactionAddress, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anyOf,
  createSandbox,
  createSolanaSandbox,
  type EvmTransferOptions,
  eip3009Payer,
  evmTransferPayer,
  type Offer,
  pay,
  referenceOf,
  type Sandbox,
  type SolanaSandbox,
  signPayment,
  solPayer,
  splPayer,
} from "../../src/testing/index.js";
import { vector } from "./solana/vector.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

const SECRET = `0x${"ab".repeat(32)}` as const;
const DIGEST = createHash("sha256").update(Buffer.alloc(32, 0xab)).digest("hex");
const UPFRONT = { assetTransferMethod: "transaction", paymentFlow: "upfront" };
const common = { scheme: "exact", maxTimeoutSeconds: 60 };
const splOffer = (): Offer => ({
  ...common,
  network: solana.caip2,
  amount: "10000",
  asset: solana.usdc,
  payTo: solana.payTo,
  extra: { feePayer: solana.feePayer.publicKey.toBase58(), decimals: 6 },
});
const solOffer = (): Offer => ({
  ...common,
  network: solana.caip2,
  amount: "1000000",
  asset: "1".repeat(32),
  payTo: solana.payTo,
  extra: UPFRONT,
});
const ethOffer = (asset = `0x${"0".repeat(40)}`): Offer => ({
  ...common,
  network: "eip155:84532",
  amount: "1000",
  asset,
  payTo: evm.payTo,
  extra: UPFRONT,
});

/** Adds the fee payer's signature and sends, as a seller does. */
async function settle(bytes: Uint8Array): Promise<string> {
  const transaction = VersionedTransaction.deserialize(bytes);
  transaction.sign([solana.feePayer]);
  return solana.connection("processed").sendRawTransaction(transaction.serialize());
}
const messageOf = (bytes: Uint8Array) => VersionedTransaction.deserialize(bytes).message;
const memosOf = (bytes: Uint8Array) =>
  messageOf(bytes)
    .compiledInstructions.slice(3)
    .map(({ data }) => Buffer.from(data).toString());
const shown = (payment: { readonly payload: object }) =>
  (payment.payload as { payload: { transaction: string; secret?: string } }).payload;
const richBuyer = async () => {
  const account = await evm.newBuyer();
  await evm.native.setBalances([account.address], 10n ** 18n);
  return account;
};

describe("splPayer", () => {
  it("builds the payment of the protocol's vector, byte for byte", async () => {
    const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    const memo = "00112233445566778899aabbccddeeff";
    const extra = { feePayer: vector.feePayer, decimals: 6, tokenProgram, memo };
    const blockhash = new PublicKey(Buffer.alloc(32, 9)).toBase58();
    const payer = splPayer(Keypair.fromSeed(Buffer.alloc(32, 1)), { rpcUrl: solana.rpcUrl, blockhash });
    const payment = await signPayment({ payer, offer: { ...splOffer(), payTo: vector.payTo, extra }, version: 2 });
    expect(shown(payment)).toEqual({ transaction: vector.transaction });
    expect(payment.id).toBeUndefined();
  });

  it.each([1, 2] as const)("moves exactly the price in version %i once the fee payer has signed", async (version) => {
    const wallet = await solana.newBuyer();
    const payment = await signPayment({
      payer: splPayer(wallet, { rpcUrl: solana.rpcUrl }),
      offer: splOffer(),
      version,
    });
    expect(memosOf(payment.bytes)).toEqual(version === 1 ? [] : [expect.stringMatching(/^[0-9a-f]{32}$/)]);
    const transaction = await settle(payment.bytes);
    const from = wallet.publicKey.toBase58();
    expect(await solana.token.transfers({ from })).toMatchObject([
      { from, to: solana.payTo, value: 10_000n, transaction },
    ]);
    expect(await solana.balances(from)).toEqual({ lamports: 10n ** 10n, usdc: 10n ** 9n - 10_000n });
    expect(payment.payload).toMatchObject(
      version === 1
        ? { x402Version: 1, scheme: "exact", network: "solana-devnet" }
        : { x402Version: 2, accepted: splOffer() },
    );
  });

  it("takes the token program from the mint, and derives both accounts with it", async () => {
    const mint = solana.chain.createMint({ token2022: true });
    const wallet = await solana.newBuyer();
    solana.chain.mintTo(mint, wallet.publicKey.toBase58(), 500n);
    solana.chain.mintTo(mint, solana.payTo, 0n);
    const payer = splPayer(wallet, { rpcUrl: solana.rpcUrl });
    const payment = await signPayment({ payer, offer: { ...splOffer(), asset: mint, amount: "500" }, version: 2 });
    await settle(payment.bytes);
    expect(solana.chain.tokens(mint, solana.payTo)).toBe(500n);
  });

  it("bends every part when told to", async () => {
    const [wallet, other] = [await solana.newBuyer(), Keypair.generate()];
    const { rpcUrl } = solana;
    const bent = async (parts: Omit<Parameters<typeof splPayer>[1], "rpcUrl">) => {
      const payment = await signPayment({
        payer: splPayer(wallet, { rpcUrl, ...parts }),
        offer: splOffer(),
        version: 2,
      });
      return { bytes: payment.bytes, message: messageOf(payment.bytes) };
    };
    const amount = await bent({ move: { amount: 7n } });
    expect(amount.message.compiledInstructions[2]?.data.slice(1, 9)).toEqual(new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0]));
    const reversed = await bent({ change: (built) => [...built].reverse() });
    expect(reversed.message.compiledInstructions.map(({ data }) => data.length)).toEqual([32, 10, 9, 5]);
    const signers = await bent({
      signers: [other],
      change: (built) => [
        ...built.slice(0, 3),
        Object.assign(built[3]!, { keys: [{ pubkey: other.publicKey, isSigner: true, isWritable: false }] }),
      ],
    });
    expect(signers.message.header.numRequiredSignatures).toBe(3);
    expect(VersionedTransaction.deserialize(signers.bytes).signatures[2]).not.toEqual(new Uint8Array(64));
    const own = await bent({ feePayer: wallet.publicKey.toBase58() });
    expect(own.message.header.numRequiredSignatures).toBe(1);
    const random = await bent({ slot0: new Uint8Array(64).fill(3) });
    expect(VersionedTransaction.deserialize(random.bytes).signatures[0]).toEqual(new Uint8Array(64).fill(3));
    expect((await bent({ legacy: true })).message.version).toBe("legacy");
    expect((await bent({ memo: null, units: 1, unitPrice: 2n })).message.compiledInstructions).toHaveLength(3);
    const patched = await bent({ changeMessage: (built) => Object.assign(built, { recentBlockhash: "1".repeat(32) }) });
    expect(patched.message.recentBlockhash).toBe("1".repeat(32));
  });
});

describe("solPayer", () => {
  it("shows the signed bytes of a transfer that the chain takes, to the lamport", async () => {
    const wallet = await solana.newBuyer();
    const payer = solPayer(wallet, { rpcUrl: solana.rpcUrl });
    const [one, two] = await Promise.all([1, 2].map(() => signPayment({ payer, offer: solOffer(), version: 2 })));
    // Equal transfers on one blockhash are one transaction: the memo keeps them apart.
    expect(one!.id).not.toBe(two!.id);
    expect(shown(one!)).toEqual({ transaction: Buffer.from(one!.bytes).toString("base64") });
    const from = wallet.publicKey.toBase58();
    expect(await solana.native.transfers({ from })).toEqual([]);
    await solana.connection("processed").sendRawTransaction(one!.bytes);
    expect(await solana.native.transfers({ from })).toMatchObject([
      { from, to: solana.payTo, value: 1_000_000n, transaction: one!.id },
    ]);
  });

  it("broadcasts first, carries the hash of its secret as memo, and shows the id or the bytes", async () => {
    const wallet = await solana.newBuyer();
    const options = { rpcUrl: solana.rpcUrl, broadcast: true } as const;
    const id = await signPayment({
      payer: solPayer(wallet, { ...options, show: "id", secret: SECRET }),
      offer: solOffer(),
      version: 1,
    });
    expect(shown(id)).toEqual({ transaction: id.id, secret: SECRET });
    expect(memosOf(id.bytes)).toEqual([DIGEST]);
    expect(await referenceOf(SECRET)).toBe(`0x${DIGEST}`);
    const status = await solana.connection().getSignatureStatus(id.id!);
    expect(status.value).toMatchObject({ err: null, confirmationStatus: "confirmed" });

    const bytes = await signPayment({ payer: solPayer(wallet, options), offer: solOffer(), version: 2 });
    expect(bytes.secret).toMatch(/^0x[0-9a-f]{64}$/);
    expect(shown(bytes)).toEqual({
      transaction: Buffer.from(bytes.bytes).toString("base64"),
      secret: bytes.secret,
    });
    expect(await solana.native.transfers({ from: wallet.publicKey.toBase58() })).toHaveLength(2);
  });
});

describe("evmTransferPayer", () => {
  it("signs a type 2 transfer of ETH that moves nothing until it is sent", async () => {
    const account = await richBuyer();
    const payer = evmTransferPayer(account, { rpcUrl: evm.rpcUrl, secret: SECRET });
    const payment = await signPayment({ payer, offer: ethOffer(), version: 2 });
    const serialized = toHex(payment.bytes);
    expect(parseTransaction(serialized)).toMatchObject({
      type: "eip1559",
      chainId: 84532,
      to: evm.payTo.toLowerCase(),
      value: 1000n,
    });
    expect(parseTransaction(serialized).data).toBe(`0x${DIGEST}`);
    expect(await recoverTransactionAddress({ serializedTransaction: serialized as `0x02${string}` })).toBe(
      account.address,
    );
    expect(payment.id).toBe(keccak256(serialized));
    expect(shown(payment)).toEqual({ transaction: Buffer.from(payment.bytes).toString("base64"), secret: SECRET });
    expect(await evm.native.transfers({ from: account.address })).toEqual([]);
    const client = createPublicClient({ transport: http(evm.rpcUrl), pollingInterval: 5 });
    await client.waitForTransactionReceipt({
      hash: await client.sendRawTransaction({ serializedTransaction: serialized }),
    });
    expect(await evm.native.transfers({ from: account.address })).toMatchObject([
      { to: evm.payTo, value: 1000n, transaction: payment.id },
    ]);
  });

  it("broadcasts first and shows the hash, with the nonces of one account in a row", async () => {
    const account = await richBuyer();
    const payer = evmTransferPayer(account, { rpcUrl: evm.rpcUrl, broadcast: true, show: "id" });
    for (const nonce of [0, 1]) {
      const payment = await signPayment({ payer, offer: ethOffer(), version: 1 });
      expect(shown(payment)).toEqual({ transaction: payment.id, secret: payment.secret });
      expect(parseTransaction(toHex(payment.bytes)).nonce ?? 0).toBe(nonce);
    }
    expect(await evm.native.transfers({ from: account.address, to: evm.payTo })).toHaveLength(2);
  });

  it("pays a token by transfer, the reference behind its calldata", async () => {
    const account = await richBuyer();
    const payer = evmTransferPayer(account, { rpcUrl: evm.rpcUrl, broadcast: true, secret: SECRET });
    const payment = await signPayment({ payer, offer: ethOffer(evm.token.address), version: 2 });
    expect(parseTransaction(toHex(payment.bytes)).data?.endsWith(DIGEST)).toBe(true);
    expect(await evm.token.transfers({ from: account.address })).toMatchObject([{ to: evm.payTo, value: 1000n }]);
  });

  it("signs the wrong thing when told to", async () => {
    const account = await richBuyer();
    const change: EvmTransferOptions["change"] = ({ chainId, gas = 0n, maxFeePerGas = 0n }) => ({
      type: "legacy",
      chainId,
      gas,
      gasPrice: maxFeePerGas,
      value: 1n,
      to: account.address,
    });
    const payer = evmTransferPayer(account, { rpcUrl: evm.rpcUrl, change });
    const payment = await signPayment({ payer, offer: ethOffer(), version: 2 });
    expect(parseTransaction(toHex(payment.bytes))).toMatchObject({ type: "legacy", value: 1n });
  });
});

describe("the payer of an offer", () => {
  it("is the first that can pay it, whatever the order of offers and wallets", async () => {
    const [account, wallet] = [await richBuyer(), await solana.newBuyer()];
    const eip3009 = { ...ethOffer(evm.token.address), extra: { name: "USDC", version: "2" } };
    const all = [
      eip3009Payer(account),
      splPayer(wallet, { rpcUrl: solana.rpcUrl }),
      solPayer(wallet, { rpcUrl: solana.rpcUrl }),
      evmTransferPayer(account, { rpcUrl: evm.rpcUrl }),
    ];
    const offers = [eip3009, splOffer(), solOffer(), ethOffer()];
    expect(all.map((payer) => offers.map((offer) => payer.takes(offer)))).toEqual(
      all.map((_, row) => offers.map((_, column) => row === column)),
    );
    for (const offer of offers) {
      const { payload } = await signPayment({ payer: anyOf(...all.toReversed()), offer, version: 2 });
      expect(Object.keys((payload as { payload: object }).payload)[0]).toBe(
        offer === eip3009 ? "signature" : "transaction",
      );
    }
    await expect(anyOf(all[1]!).sign(eip3009, 2)).rejects.toThrow("None of the payers can pay");
  });

  it("chooses what it can pay from a 402 of many offers, and asks again once", async () => {
    const accepts = [ethOffer(), splOffer()];
    const header = Buffer.from(JSON.stringify({ x402Version: 2, resource: {}, accepts })).toString("base64");
    const sent: Headers[] = [];
    const shop: typeof fetch = async (_url, init) => {
      const headers = new Headers(init?.headers);
      sent.push(headers);
      if (headers.has("PAYMENT-SIGNATURE")) return new Response("goods");
      return new Response("{}", { status: 402, headers: { "PAYMENT-REQUIRED": header } });
    };
    const payer = splPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl });
    const { response, payment } = await pay("https://shop.example", {}, { payer, version: 2, fetch: shop });
    expect(await response.text()).toBe("goods");
    expect(payment?.payload).toMatchObject({ accepted: splOffer() });
    expect(sent).toHaveLength(2);
    const nothing = solPayer(Keypair.generate(), { rpcUrl: solana.rpcUrl });
    await expect(pay("https://shop.example", {}, { payer: nothing, version: 2, fetch: shop })).rejects.toThrow(
      "no offer",
    );
  });
});
