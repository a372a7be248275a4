// Pays on Solana: tokens by a transaction that waits for the seller's fee payer, or SOL by the buyer's own complete one.
// Source: protocol §4, design §6.
import type { Keypair } from "@solana/web3.js";
import { isNativeAsset, isSolana } from "../chain-names.js";
import { amountOf, extraText, type Offer } from "../challenge.js";
import { load } from "../load.js";
import type { MessageParts, TokenMove } from "../solana/message.js";
import { confirmed, latestBlockhash, readMint, sendBytes } from "../solana/wallet-node.js";
import { isTransactionOffer, type Payer } from "./payer.js";
import { type SignedTransaction, secretOf, showTransaction, type TransactionParts } from "./transaction.js";

interface NodeOption {
  /** The buyer's own node. */
  readonly rpcUrl: string;
}

/** What is signed in place of the right thing. */
export interface SplPayerOptions extends NodeOption, MessageParts {
  /** Members of the transfer. */
  readonly move?: Partial<TokenMove>;
  /** Who is to pay the network fee. */
  readonly feePayer?: string;
}

export interface SolPayerOptions extends NodeOption, MessageParts, TransactionParts {
  readonly to?: string;
  readonly lamports?: bigint;
}

/** As published buyers of v2 set it. */
const TOKEN_UNITS = 20_000;
/** A reference is a memo of twice the length, and its program counts by the character. */
const SOL_UNITS = 60_000;

/**
 * `exact` on Solana: limit, price, TransferChecked and, in v2, a memo; signed by the wallet, slot 0 left to the fee payer.
 * @example
 * const { response } = await pay(url, {}, { payer: splPayer(wallet, { rpcUrl }), version: 2 });
 */
export function splPayer(wallet: Keypair, options: SplPayerOptions): Payer<SignedTransaction> {
  return {
    takes: (offer) => isSolana(offer.network) && !isTransactionOffer(offer),
    async sign(offer, version) {
      const { rpcUrl, feePayer = extraText(offer, "feePayer"), move, ...parts } = options;
      if (feePayer === undefined) throw new Error("The offer names no fee payer");
      const { ataOf, signMessage, tokenTransfer } = await loadMessage();
      const [blockhash, token] = await Promise.all([
        parts.blockhash ?? latestBlockhash(rpcUrl),
        tokenOf(rpcUrl, offer),
      ]);
      const owner = wallet.publicKey.toBase58();
      const { mint, tokenProgram } = { mint: offer.asset, tokenProgram: token.tokenProgram, ...move };
      const transfer = tokenTransfer({
        source: ataOf(owner, mint, tokenProgram),
        mint,
        destination: ataOf(offer.payTo, mint, tokenProgram),
        authority: owner,
        amount: amountOf(offer),
        ...token,
        ...move,
      });
      const memo = version === 1 ? null : (extraText(offer, "memo") ?? randomMemo());
      const signed = signMessage(wallet, feePayer, transfer, { units: TOKEN_UNITS, memo, ...parts, blockhash });
      return showTransaction({ ...signed, secret: undefined }, {});
    },
  };
}

/**
 * The buyer's own SOL transfer with limit, price and memo: the reference of its secret, or random digits, without which two
 * equal transfers would be one.
 * @example
 * const payer = solPayer(wallet, { rpcUrl, broadcast: true, show: "id" });
 */
export function solPayer(wallet: Keypair, options: SolPayerOptions): Payer<SignedTransaction> {
  return {
    takes: (offer) => isSolana(offer.network) && isTransactionOffer(offer) && isNativeAsset(offer),
    async sign(offer) {
      const {
        rpcUrl,
        to = offer.payTo,
        lamports = amountOf(offer),
        secret: _,
        broadcast,
        show: __,
        ...parts
      } = options;
      const { signMessage, solTransfer } = await loadMessage();
      const [hidden, blockhash] = await Promise.all([secretOf(options), parts.blockhash ?? latestBlockhash(rpcUrl)]);
      const from = wallet.publicKey.toBase58();
      const memo = hidden?.reference.slice(2) ?? randomMemo();
      const transfer = solTransfer(from, to, lamports);
      const signed = signMessage(wallet, from, transfer, { units: SOL_UNITS, memo, ...parts, blockhash });
      if (broadcast) await sendBytes(rpcUrl, signed.bytes);
      if (broadcast === true && signed.id !== undefined) await confirmed(rpcUrl, signed.id);
      return showTransaction({ ...signed, secret: hidden?.secret }, options);
    },
  };
}

/** What the offer says of its token; the node is asked for the rest, as wallets do. */
async function tokenOf(rpcUrl: string, offer: Offer): Promise<Pick<TokenMove, "decimals" | "tokenProgram">> {
  const [decimals, tokenProgram] = [offer.extra?.decimals, extraText(offer, "tokenProgram")];
  if (typeof decimals === "number" && tokenProgram !== undefined) return { decimals, tokenProgram };
  return readMint(rpcUrl, offer.asset);
}

/** 16 random bytes in hex. */
const randomMemo = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");

const loadMessage = () =>
  load(import("../solana/message.js"), "Buyers on Solana need @solana/web3.js: npm install -D @solana/web3.js@1.99.0");
