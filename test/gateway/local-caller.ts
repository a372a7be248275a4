// A caller who keeps his keys: inspects an unsigned transaction with viem or web3.js, simulates, signs and sends it over an RPC
// endpoint of his own. Nothing of the gateway's is used, so that it is a second opinion of every byte.
import { randomBytes } from "node:crypto";
import { decodeTransferCheckedInstruction, getAssociatedTokenAddressSync } from "@solana/spl-token";
import {
  ComputeBudgetInstruction,
  type Connection,
  Keypair,
  PublicKey,
  SystemInstruction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import {
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  parseTransaction,
  type TransactionSerializableEIP1559,
} from "viem";
import { expect } from "vitest";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Sandbox, SolanaSandbox } from "../../src/testing/index.js";

export interface Wanted {
  /** Atomic units. */
  readonly amount: bigint;
  /** SHA-256 of the secret, hex. */
  readonly reference: string;
  readonly lastValid: number;
}

export interface LocalCaller {
  readonly address: string;
  /** A seller's address that has received nothing, his network and his receiver. */
  readonly payTo: string;
  readonly network: string;
  readonly receive: Receiver;
  /** Every field is what was asked for, and there is no other. */
  inspect(unsigned: Uint8Array, wanted: Wanted): Promise<void>;
  simulate(unsigned: Uint8Array): Promise<void>;
  sign(unsigned: Uint8Array): Promise<Uint8Array>;
  /** Waits until a block holds it; its id. */
  broadcast(signed: Uint8Array): Promise<string>;
  /** Atomic units of each debit that went to the seller. */
  received(): Promise<readonly bigint[]>;
}

type Asset = "native" | "token";

/** 0.0001 in wei and in lamports: the priority fee that the flow asks for. */
const TIP_WEI = 10n ** 14n;
const TIP_LAMPORTS = 100_000n;

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

export async function onEvm(sandbox: Sandbox, asset: Asset): Promise<LocalCaller> {
  const { rpcUrl, token, native, network } = sandbox;
  const buyer = await sandbox.newBuyer();
  await native.setBalances([buyer.address], 10n ** 18n);
  const payTo = getAddress(hexOf(randomBytes(20)));
  const client = createPublicClient({ transport: http(rpcUrl) });
  const read = (unsigned: Uint8Array) => parseTransaction(hexOf(unsigned)) as TransactionSerializableEIP1559;
  const call = (amount: bigint): Hex =>
    asset === "native" ? "0x" : encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [payTo, amount] });
  return {
    ...{ address: buyer.address, payTo, network, receive: sandbox.receive() },
    async inspect(unsigned, { amount, reference, lastValid }) {
      const { gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, nonce = 0, ...rest } = read(unsigned);
      expect(rest).toEqual({
        type: "eip1559",
        chainId: 84532,
        to: (asset === "native" ? payTo : token.address).toLowerCase(),
        ...(asset === "native" && { value: amount }),
        data: `${call(amount)}${reference}`,
      });
      expect(nonce).toBe(await client.getTransactionCount({ address: buyer.address }));
      const { baseFeePerGas, number } = await client.getBlock();
      expect(maxFeePerGas).toBeGreaterThan((baseFeePerGas ?? 0n) + maxPriorityFeePerGas);
      expect(gas).toBeLessThan(200_000n);
      const lost = TIP_WEI - maxPriorityFeePerGas * gas;
      expect(lost >= 0n && lost < gas).toBe(true);
      expect(lastValid).toBe(Number(number) + 30);
    },
    async simulate(unsigned) {
      const { to, value = 0n, data = "0x", gas = 0n } = read(unsigned);
      const asked = { account: buyer.address, to: to ?? null, value, data };
      await client.call(asked);
      expect(await client.estimateGas(asked)).toBeLessThanOrEqual(gas);
    },
    sign: async (unsigned) => Buffer.from((await buyer.signTransaction(read(unsigned))).slice(2), "hex"),
    async broadcast(signed) {
      const hash = await client.sendRawTransaction({ serializedTransaction: hexOf(signed) });
      expect((await client.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status).toBe("success");
      return hash;
    },
    received: async () =>
      (await (asset === "native" ? native : token).transfers({ to: payTo })).map(({ value }) => value),
  };
}

const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

export async function onSolana(sandbox: SolanaSandbox, asset: Asset): Promise<LocalCaller> {
  const { token, native, network } = sandbox;
  const buyer = await sandbox.newBuyer();
  const payTo = Keypair.generate().publicKey.toBase58();
  if (asset === "token") await token.mint(payTo, 0n);
  const connection: Connection = sandbox.connection();
  const read = (unsigned: Uint8Array) => VersionedTransaction.deserialize(unsigned);
  return {
    ...{ address: buyer.publicKey.toBase58(), payTo, network, receive: sandbox.receive() },
    async inspect(unsigned, { amount, reference, lastValid }) {
      const { message, signatures } = read(unsigned);
      expect([message.version, signatures.length, signatures[0]?.every((byte) => byte === 0)]).toEqual([0, 1, true]);
      expect(message.header.numRequiredSignatures).toBe(1);
      expect(message.addressTableLookups).toEqual([]);
      const { payerKey, recentBlockhash, instructions } = TransactionMessage.decompile(message);
      expect(payerKey.equals(buyer.publicKey)).toBe(true);
      expect((await connection.isBlockhashValid(recentBlockhash)).value).toBe(true);
      const { lastValidBlockHeight } = await connection.getLatestBlockhash();
      expect(lastValid).toBeLessThanOrEqual(lastValidBlockHeight);
      const [limit, price, move, memo, ...more] = instructions;
      if (!limit || !price || !move || !memo) throw new Error("expected four instructions");
      expect(more).toEqual([]);
      const { units } = ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit);
      const { microLamports } = ComputeBudgetInstruction.decodeSetComputeUnitPrice(price);
      const tip = (BigInt(microLamports) * BigInt(units)) / 1_000_000n;
      expect(tip <= TIP_LAMPORTS && tip > (TIP_LAMPORTS * 99n) / 100n, `${tip}`).toBe(true);
      expectMove(move, amount);
      expect([memo.programId.toBase58(), memo.data.toString(), memo.keys]).toEqual([MEMO, reference, []]);
    },
    async simulate(unsigned) {
      const { value } = await connection.simulateTransaction(read(unsigned), { sigVerify: false });
      expect([value.err, Number(value.unitsConsumed) > 0]).toEqual([null, true]);
    },
    async sign(unsigned) {
      const transaction = read(unsigned);
      transaction.sign([buyer]);
      return transaction.serialize();
    },
    async broadcast(signed) {
      const id = await connection.sendRawTransaction(signed);
      const status = async () => (await connection.getSignatureStatus(id)).value?.confirmationStatus;
      await expect.poll(status, { timeout: 20_000 }).toMatch(/^(?:confirmed|finalized)$/);
      return id;
    },
    received: async () =>
      (await (asset === "native" ? native : token).transfers({ to: payTo })).map(({ value }) => value),
  };

  function expectMove(move: TransactionInstruction, amount: bigint): void {
    const from = buyer.publicKey;
    if (asset === "native") {
      const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(move);
      expect([fromPubkey.toBase58(), toPubkey.toBase58(), BigInt(lamports)]).toEqual([from.toBase58(), payTo, amount]);
      return;
    }
    const mint = new PublicKey(token.address);
    const { keys, data } = decodeTransferCheckedInstruction(move);
    const named = [keys.source, keys.mint, keys.destination, keys.owner].map(({ pubkey }) => pubkey.toBase58());
    const [source, destination] = [from, new PublicKey(payTo)].map((owner) =>
      getAssociatedTokenAddressSync(mint, owner).toBase58(),
    );
    expect(named).toEqual([source, token.address, destination, from.toBase58()]);
    expect([data.amount, data.decimals, keys.multiSigners]).toEqual([amount, 6, []]);
  }
}
