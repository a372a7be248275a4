// Pays on an EVM chain by the buyer's own signed transaction: the chain's currency, or any ERC-20. The buyer pays the gas.
import type { Hex, LocalAccount, TransactionSerializable, TransactionSerializableEIP1559 } from "viem";
import * as z from "zod/mini";
import { chainIdOf, isNativeAsset } from "../chain-names.js";
import { amountOf, type Offer } from "../challenge.js";
import { callNode, until } from "../json-rpc.js";
import { load } from "../load.js";
import { isTransactionOffer, type Payer } from "./payer.js";
import { type SignedTransaction, secretOf, showTransaction, type TransactionParts } from "./transaction.js";

export interface EvmTransferOptions extends TransactionParts {
  /** The buyer's own node. */
  readonly rpcUrl: string;
  /** The transaction that is signed in place of the right one. */
  readonly change?: (built: TransactionSerializableEIP1559) => TransactionSerializable;
}

const GAS = { native: 30_000n, token: 100_000n } as const;
const TRANSFER = "a9059cbb";
const quantitySchema = z.string();
const blockSchema = z.object({ baseFeePerGas: quantitySchema });

/**
 * A type 2 transfer with the account's next nonce, and fees for many times the base fee of now.
 * @example
 * const payer = evmTransferPayer(account, { rpcUrl, broadcast: true, show: "id" });
 * await pay(url, {}, { payer, version: 2 });
 */
export function evmTransferPayer(
  account: Pick<LocalAccount, "address" | "signTransaction">,
  options: EvmTransferOptions,
): Payer<SignedTransaction> {
  const { rpcUrl, broadcast, change = (built) => built } = options;
  return {
    takes: (offer) => chainIdOf(offer.network) !== undefined && isTransactionOffer(offer),
    async sign(offer) {
      const hidden = await secretOf(options);
      const built = await buildTransfer(rpcUrl, account.address, offer, hidden?.reference);
      const serialized = await account.signTransaction(change(built));
      const { keccak256 } = await load(import("viem"), "Transactions of a buyer on EVM need viem: npm install -D viem");
      const id = keccak256(serialized);
      if (broadcast) await callNode(rpcUrl, "eth_sendRawTransaction", [serialized]);
      if (broadcast === true) await mined(rpcUrl, id);
      const bytes = new Uint8Array(Buffer.from(serialized.slice(2), "hex"));
      return showTransaction({ bytes, id, secret: hidden?.secret }, options);
    },
  };
}

async function buildTransfer(
  rpcUrl: string,
  from: Hex,
  offer: Offer,
  reference: Hex = "0x",
): Promise<TransactionSerializableEIP1559> {
  const [count, latest] = await Promise.all([
    callNode(rpcUrl, "eth_getTransactionCount", [from, "pending"]),
    callNode(rpcUrl, "eth_getBlockByNumber", ["latest", false]),
  ]);
  const baseFee = BigInt(blockSchema.parse(latest).baseFeePerGas);
  const maxPriorityFeePerGas = 10n ** 9n;
  const common = {
    type: "eip1559",
    chainId: chainIdOf(offer.network)!,
    nonce: Number(quantitySchema.parse(count)),
    maxPriorityFeePerGas,
    maxFeePerGas: 4n * baseFee + maxPriorityFeePerGas,
  } as const;
  const [payTo, amount] = [offer.payTo as Hex, amountOf(offer)];
  if (isNativeAsset(offer)) return { ...common, to: payTo, value: amount, data: reference, gas: GAS.native };
  const data: Hex = `0x${TRANSFER}${word(payTo.slice(2))}${word(amount.toString(16))}${reference.slice(2)}`;
  return { ...common, to: offer.asset as Hex, value: 0n, data, gas: GAS.token };
}

const word = (digits: string): string => digits.toLowerCase().padStart(64, "0");

/** Resolves when a block holds it, whether or not it succeeded there. */
async function mined(rpcUrl: string, id: Hex): Promise<void> {
  await until(`A block with the transaction ${id}`, async () => {
    const receipt = await callNode(rpcUrl, "eth_getTransactionReceipt", [id]);
    return receipt ?? undefined;
  });
}
