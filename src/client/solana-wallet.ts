// `solanaWallet()`: pays on Solana with one key. Tokens by a transaction that waits for the seller's fee payer, SOL by a complete
// one of its own. Every payment needs a node for its blockhash and is simulated first. Nothing here sends anything.
import * as z from "zod/mini";
import { readAccounts, readTokenAccount } from "../chains/solana/accounts.js";
import { decodeAddress } from "../chains/solana/base58.js";
import { createSolanaRpc, type RpcOptions, type SolanaRpc } from "../chains/solana/rpc.js";
import { createSolPayment } from "../chains/solana/sol-payment.js";
import { associatedTokenAddress } from "../chains/solana/token-account.js";
import { createTokenPayment } from "../chains/solana/token-payment.js";
import type { SolanaSigner } from "../chains/solana/transfer-signer.js";
import { createProblems } from "../config-problems.js";
import { NATIVE } from "../requirement.js";
import { unlessAborted } from "./abort.js";
import type { Offer } from "./offer.js";
import { readSolanaKey, type SolanaKey } from "./solana-key.js";
import { mintOf } from "./solana-mint.js";
import { askAccount, judgeLife, type Unsigned, unsigned } from "./unsigned.js";
import type { Wallet } from "./wallet.js";
import {
  createWalletNodes,
  NODE_TIMEOUT_MS,
  type NodeOptions,
  nodeMembers,
  readWalletOptions,
} from "./wallet-nodes.js";

/** A node is always needed: no payment on Solana can be signed without a fresh blockhash. */
export interface SolanaWalletOptions extends NodeOptions {}

const schema = z.strictObject(nodeMembers);

/** A blockhash is good for 150 blocks, 60 to 90 s: after this it is surely over. */
const LIFE_MS = 150_000;

/**
 * A wallet of one key on Solana: a web3.js `Keypair`, an object with `address` and `sign`, or a secret key as text.
 *
 * What is signed dies with its blockhash, within 90 seconds or so: a shorter validity cannot be asked of the chain. SOL payments
 * cost their network fee beside the price, at most 0.000065 SOL; token payments cost their payer none. Where there is no Node,
 * the runtime's WebCrypto must know Ed25519, and a key as text must be base58 of 64 bytes.
 *
 * @throws PaywallConfigError with every problem; no message holds a key.
 * @example
 * const wallet = solanaWallet(Keypair.fromSecretKey(bytes), { rpcUrls: { solana: "https://…" } });
 */
export function solanaWallet(key: SolanaKey, options: SolanaWalletOptions = {}): Wallet {
  const problems = createProblems("wallet");
  const signer = readSolanaKey(key, problems);
  const read = readWalletOptions("solanaWallet", schema, options, problems);
  problems.throwIfAny();
  if (!signer || !read) throw new TypeError("what cannot be read is a problem");
  const { address } = signer;

  const nodes = createWalletNodes<SolanaRpc>("solanaWallet", read, (network, urls, wrong) =>
    watched(createSolanaRpc({ urls, network: network.id, timeoutMs: NODE_TIMEOUT_MS }), wrong),
  );

  const takes = ({ network, method, asset, extra, payTo }: Offer): true | string => {
    if (network.family !== "solana") return `a Solana key cannot pay on ${network.name}`;
    if (payTo === address) return "the seller is paid at this very wallet";
    if (method === "spl") {
      if (!decodeAddress(extra.feePayer)) return "the offer names no fee payer of the seller";
      if (extra.feePayer === address) return "the offer names this wallet as the seller's fee payer";
    } else if (method !== "transaction") return `a Solana key cannot pay by ${method}`;
    else if (asset !== NATIVE) return "own transactions on Solana pay SOL only";
    const node = nodes.of(network);
    return typeof node === "string" ? node : true;
  };

  return {
    address,
    takes,
    async balance(offer, signal) {
      const node = offer.network.family === "solana" ? nodes.of(offer.network) : "";
      return typeof node === "string" ? undefined : holdingOf(node, offer, address, optionsOf(signal));
    },
    async sign(offer, { signal, validUntil }) {
      signal?.throwIfAborted();
      const taken = takes(offer);
      if (taken !== true) return unsigned(taken);
      const node = nodes.of(offer.network);
      if (typeof node === "string") return unsigned(node);
      const dead = judgeLife(validUntil);
      if (dead) return dead;
      const patient: SolanaSigner = { address, sign: (message) => unlessAborted(signer.sign(message), signal) };
      // Before the blockhash is asked for, so that the end is never too early.
      const expiresAt = Date.now() + LIFE_MS;
      const asked = await askAccount(() => makePayment(node, offer, patient, optionsOf(signal)), signal);
      if (!asked.ok) return asked;
      const made = asked.value;
      return made.ok ? { ok: true, payload: { transaction: made.transaction }, payer: address, expiresAt } : made;
    },
  };
}

const optionsOf = (signal: AbortSignal | undefined): RpcOptions => ({ ...(signal && { signal }) });

type Made = { readonly ok: true; readonly transaction: string } | Unsigned;

/** Rejects where the signer does. */
async function makePayment(rpc: SolanaRpc, offer: Offer, signer: SolanaSigner, options: RpcOptions): Promise<Made> {
  const { asset, amount, payTo, extra, version } = offer;
  if (asset === NATIVE) return worded(await createSolPayment(rpc, { payTo, amount }, signer, options));
  const mint = await mintOf(rpc, offer, options);
  if (!mint.ok) return unsigned(mint.message);
  const { feePayer, memo } = extra;
  const { decimals, tokenProgram } = mint;
  const wanted = {
    mint: asset,
    decimals,
    tokenProgram,
    amount,
    payTo,
    feePayer: String(feePayer),
    // Facilitators of x402 1.x take no memo, and those of v2 expect one (protocol §4.2, §4.3).
    ...(typeof memo === "string" ? { memo } : version === 1 && { memo: null }),
  };
  return worded(await createTokenPayment(rpc, wanted, signer, options));
}

type Payment = Awaited<ReturnType<typeof createSolPayment | typeof createTokenPayment>>;

function worded(payment: Payment): Made {
  if (payment.ok) return payment;
  const { code, message } = payment;
  return unsigned(message, code === "insufficient_funds" ? code : "signing_failed");
}

/** Atomic units; undefined where the node does not tell. */
async function holdingOf(
  rpc: SolanaRpc,
  offer: Offer,
  owner: string,
  options: RpcOptions,
): Promise<bigint | undefined> {
  const { asset } = offer;
  if (asset === NATIVE) {
    const read = await readAccounts(rpc, [owner], options);
    return read.ok ? (read.accounts[0]?.lamports ?? 0n) : undefined;
  }
  const mint = await mintOf(rpc, offer, options);
  const account = mint.ok ? await associatedTokenAddress(owner, asset, mint.tokenProgram) : undefined;
  const read = account === undefined ? undefined : await readAccounts(rpc, [account], options);
  if (!read?.ok) return undefined;
  const held = read.accounts[0] && readTokenAccount(read.accounts[0]);
  return held?.owner === owner && held.mint === asset ? held.amount : 0n;
}

/** The same node; tells when it is of another cluster. */
function watched(rpc: SolanaRpc, wrong: (message: string) => void): SolanaRpc {
  return {
    ...rpc,
    async call(method, params, options) {
      const reply = await rpc.call(method, params, options);
      if (!reply.ok && reply.kind === "fault" && reply.genesis) wrong(reply.message);
      return reply;
    },
  };
}
