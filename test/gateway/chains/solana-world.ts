// The real chain (LiteSVM) with a proxy before it, and its transfers as the gateway opens them.
import { createHash } from "node:crypto";
import type { Keypair, VersionedTransaction } from "@solana/web3.js";
import { createSolanaSigner } from "../../../src/chains/solana/transfer-signer.js";
import type { Asset, BuiltTransfer, Transfer, TransferChain } from "../../../src/gateway/chain.js";
import { openSolanaTransfers } from "../../../src/gateway/chains/solana.js";
import type { Fault } from "../../../src/gateway/errors.js";
import type { SolanaPursuit } from "../../../src/gateway/payment.js";
import { findNetwork } from "../../../src/networks.js";
import { NATIVE } from "../../../src/requirement.js";
import { toBase58 } from "../../../src/testing/solana/encoding.js";
import type { NodeOptions } from "../../../src/testing/solana/node.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { confirmed } from "../../../src/testing/solana/wallet-node.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

export const SOL: Asset = { address: NATIVE, symbol: "SOL", decimals: 9, minimum: 0n };
/** What an address must hold to exist. */
export const RENT = 890_880n;

export interface Line {
  readonly facts: object;
  readonly message: string;
}

export interface SolanaWorld {
  readonly sandbox: SolanaSandbox;
  /** Stands between the gateway and the chain. */
  readonly rpc: ScriptedRpc;
  readonly transfers: TransferChain;
  readonly usdc: Asset;
  /** What has been logged so far. */
  readonly log: Line[];
  /** The same cluster over other URLs, or with another say of its mints. */
  open(options: { readonly rpcUrl?: string[]; readonly tokens?: Allowed }): TransferChain;
  /** The transfer with the parts that a test does not care about filled in: 0.5 SOL to the seller. */
  transfer(payer: Keypair, parts?: Partial<Transfer>): Transfer;
  build(payer: Keypair, parts?: Partial<Transfer>): ReturnType<TransferChain["build"]>;
  /** Sends a transaction past the gateway, without the node's preflight; its id. */
  send(transaction: VersionedTransaction | Uint8Array): Promise<string>;
  /** Resolves when a confirmed block holds it, whether or not it succeeded there. */
  confirm(id: string): Promise<void>;
  close(): Promise<void>;
}

type Allowed = readonly { address: string; allow?: ("transfer-fee" | "transfer-hook" | "permanent-delegate")[] }[];

export async function createSolanaWorld(options: NodeOptions = {}): Promise<SolanaWorld> {
  const sandbox = await createSolanaSandbox(options);
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  const network = findNetwork(sandbox.caip2);
  if (!network) throw new Error("the sandbox's network is not in the table");
  const log: Line[] = [];
  const write = (facts: object, message: string) => void log.push({ facts, message });
  const usdc: Asset = { address: sandbox.usdc, symbol: "USDC", decimals: 6, minimum: 0n };
  const opened: TransferChain[] = [];
  const open: SolanaWorld["open"] = ({ rpcUrl = [rpc.url], tokens = [] }) => {
    const settings = { network, options: { rpcUrl, tokens: [...tokens] }, assets: [usdc] };
    const transfers = openSolanaTransfers(settings, { logger: { warn: write, error: write }, timeoutMs: 10_000 });
    opened.push(transfers);
    return transfers;
  };
  const transfers = open({});
  const transfer: SolanaWorld["transfer"] = (payer, parts) => ({
    from: addressOf(payer),
    to: sandbox.payTo,
    asset: SOL,
    amount: 500_000_000n,
    ...parts,
  });
  return {
    sandbox,
    rpc,
    transfers,
    usdc,
    log,
    open,
    transfer,
    build: (payer, parts) => transfers.build(transfer(payer, parts), { signal: soon() }),
    send: (transaction) =>
      sandbox
        .connection()
        .sendRawTransaction(transaction instanceof Uint8Array ? transaction : transaction.serialize(), {
          skipPreflight: true,
        }),
    confirm: (id) => confirmed(sandbox.rpcUrl, id),
    async close() {
      for (const one of opened) one.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

export const addressOf = (wallet: Keypair): string => wallet.publicKey.toBase58();
export const signerOf = (wallet: Keypair) => createSolanaSigner(toBase58(wallet.secretKey));
export const soon = (): AbortSignal => AbortSignal.timeout(20_000);

/** A secret's reference, always the same for a label. */
export const referenceOf = (label: string): `0x${string}` => `0x${createHash("sha256").update(label).digest("hex")}`;

/** What was built; the test fails with the fault's own words where there is one. */
export function built(outcome: { readonly ok: true; readonly value: BuiltTransfer } | Fault): BuiltTransfer {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.value;
}

/** `CODE message`, or the word `ok`. */
export const faultOf = (outcome: { readonly ok: true } | Fault): string =>
  outcome.ok ? "ok" : `${outcome.code} ${outcome.message}`;

export function solana({ pursuit }: Pick<BuiltTransfer, "pursuit">): SolanaPursuit {
  if (pursuit.kind !== "solana") throw new Error("a pursuit of another chain");
  return pursuit;
}
