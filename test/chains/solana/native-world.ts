// The real chain (LiteSVM) with a proxy before it and the cluster opened as `local()` opens it, for payments in SOL. Proofs
// are shown as a header and read by the paywall's own decoding.
import type { Keypair, TransactionInstruction, VersionedTransaction } from "@solana/web3.js";
import { Keypair as Keys, PublicKey } from "@solana/web3.js";
import type { OpenedChain } from "../../../src/chains/chain.js";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import type { NativeProof } from "../../../src/chains/solana/native-judge.js";
import { openSolanaChain } from "../../../src/chains/solana/open.js";
import { isTransaction } from "../../../src/identify.js";
import { findNetwork } from "../../../src/networks.js";
import { bindTransaction, decodeProof } from "../../../src/proof.js";
import type { Trace } from "../../../src/receive/receiver.js";
import { NATIVE, type TransactionRequirement, wireAsset } from "../../../src/requirement.js";
import type { NodeOptions } from "../../../src/testing/solana/node.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { confirmed, latestBlockhash } from "../../../src/testing/solana/wallet-node.js";
import { traceOf } from "../../support/bound-proof.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";
import { encode, memo, secretOf, sign, transfer } from "./native-payment.js";
import type { RecordingContext } from "./world.js";

export const PRICE = 1_000_000n;
/** What an address must hold to exist. */
export const RENT = 890_880n;

/** What is shown to the seller. */
export interface Shown {
  readonly secret?: string;
  readonly version?: 1 | 2;
  readonly requirement?: TransactionRequirement;
  /** The id in place of the bytes. */
  readonly byId?: boolean;
}

export interface NativeWorld {
  readonly sandbox: SolanaSandbox;
  /** Stands between the receiver and the chain. */
  readonly rpc: ScriptedRpc;
  readonly chain: OpenedChain;
  readonly requirement: TransactionRequirement;
  /** What the seller has been paid so far. */
  received(): bigint;
  /** A transfer of the price with these parts, signed with a fresh blockhash. */
  transfer(payer: Keypair, parts?: Parts): Promise<VersionedTransaction>;
  /** Signs whatever is given with a fresh blockhash. */
  sign(payer: Keypair, instructions: readonly TransactionInstruction[]): Promise<VersionedTransaction>;
  /** Sends it past the seller, without the node's preflight; resolves when a block of the level holds it. */
  broadcast(transaction: VersionedTransaction, level?: "processed" | "confirmed"): Promise<string>;
  /** The transaction as a bound proof. */
  prove(transaction: VersionedTransaction, shown?: Shown): Promise<NativeProof>;
  close(): Promise<void>;
}

export interface Parts {
  readonly to?: string;
  readonly lamports?: bigint;
  /** Label of the secret whose reference the transfer carries. */
  readonly secret?: string;
}

export async function createNativeWorld(options: NodeOptions = {}): Promise<NativeWorld> {
  const sandbox = await createSolanaSandbox(options);
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  const network = findNetwork(sandbox.caip2);
  if (!network) throw new Error("the sandbox's network is not in the table");
  const settings = { rpcUrl: rpc.url, settler: sandbox.settlerKey };
  const chain = await openSolanaChain(
    { family: "solana", network, urls: [rpc.url], settlers: [sandbox.settlerKey], options: settings },
    // The chain works in this process: on a busy machine the last of many calls at once waits for seconds.
    { networks: {}, timeoutMs: 5_000 },
  );
  const requirement: TransactionRequirement = {
    scheme: "exact",
    method: "transaction",
    network: network.id,
    asset: NATIVE,
    amount: PRICE,
    payTo: sandbox.payTo,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
    confirmations: 1,
  };
  const signed: NativeWorld["sign"] = async (payer, instructions) =>
    sign(payer, instructions, { blockhash: await latestBlockhash(sandbox.rpcUrl) });
  return {
    sandbox,
    rpc,
    chain,
    requirement,
    received: () => sandbox.chain.lamports(sandbox.payTo),
    sign: signed,
    transfer(payer, { to = sandbox.payTo, lamports = PRICE, secret } = {}) {
      const move = transfer(payer.publicKey, new PublicKey(to), lamports);
      // Two equal transfers with one blockhash would be one transaction.
      return signed(payer, [move, memo(secret === undefined ? noise() : secretOf(secret).reference)]);
    },
    async broadcast(transaction, level = "confirmed") {
      const id = await sandbox.connection().sendRawTransaction(transaction.serialize(), { skipPreflight: true });
      if (level === "confirmed") await confirmed(sandbox.rpcUrl, id);
      return id;
    },
    async prove(transaction, { secret, version = 2, byId = false, requirement: own = requirement } = {}) {
      const shown = byId ? encodeBase58(transaction.signatures[0]!) : encode(transaction);
      const payload = { transaction: shown, ...(secret !== undefined && { secret }) };
      const decoded = decodeProof({
        v1: version === 1 ? header({ x402Version: 1, scheme: "exact", network: "solana-devnet", payload }) : undefined,
        v2: version === 2 ? header({ x402Version: 2, accepted: toOffer(own), payload }) : undefined,
        idempotencyKey: undefined,
      });
      if (!decoded.ok) throw new Error(`the proof of the test cannot be read: ${decoded.got}`);
      if (!isTransaction(decoded.proof)) throw new Error("the proof of the test is no transaction");
      const identity = await chain.identify(decoded.proof.inner, own.network, AbortSignal.timeout(5_000));
      if (!identity.ok) throw new Error(`the proof of the test cannot be identified: ${identity.code} ${identity.got}`);
      const validBefore = Math.ceil(Date.now() / 1000) + 900;
      return { ...(await bindTransaction(decoded.proof, own, identity, validBefore)), requirement: own };
    },
    async close() {
      chain.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

/** Digits that no other payment has. */
let drawn = 0;
const noise = (): string => `payment ${drawn++}`;

const header = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");

const toOffer = (requirement: TransactionRequirement) => {
  const { scheme, network, amount, payTo, maxTimeoutSeconds, extra } = requirement;
  return { scheme, network, asset: wireAsset(requirement), amount: `${amount}`, payTo, maxTimeoutSeconds, extra };
};

/** A key that nobody else has, with nothing on it. */
export const emptyWallet = (): Keypair => Keys.generate();

/** What the store would know of a settlement that was announced. */
export function nativeTrace(proof: NativeProof, { announced }: RecordingContext): Trace {
  const [sent] = announced;
  const { confirmations } = proof.requirement;
  return { ...traceOf(proof, sent?.id ?? null), expiry: sent?.expiry ?? null, confirmations };
}
