// One EVM chain as `local()` works on it: the accounts, the signature backend and the RPC behind the verbs of a receiver.
// `local()` loads this file when a chain is first needed: a server that settles through a facilitator never reads it.
import type { LocalEvmNetwork, LocalOptions } from "../../receive/local-options.js";
import type { Store } from "../../store/store.js";
import type { Builder } from "../builder.js";
import type { OpenedChain } from "../chain.js";
import type { GasWatch } from "../gas.js";
import { loadBackend } from "./backend.js";
import { type EvmChain, lower, systemNow } from "./chain.js";
import { DEFAULT_MAX_FEE_PER_GAS } from "./fees.js";
import { finalityOnChain } from "./finality.js";
import type { Hex } from "./hex.js";
import { identifyTransaction } from "./identity.js";
import { lookupOnChain } from "./lookup.js";
import { lookupTransaction } from "./lookup-transaction.js";
import { checkReadiness } from "./ready.js";
import { createReceiptWatch } from "./receipts.js";
import { createRpc } from "./rpc.js";
import { settleOnChain } from "./settle.js";
import { settleTransaction } from "./settle-transaction.js";
import { createSettlers, type SettlerAccount, toAccounts } from "./settlers.js";
import { createSharedNonces, type NonceLedger } from "./shared-nonces.js";
import { createStoreNonces } from "./store-nonces.js";
import { verifyOnChain } from "./verify.js";
import { verifyTransaction } from "./verify-transaction.js";

export interface EvmParts {
  /** Where settlers get their account nonces when other processes send with the same keys. */
  readonly nonces?: NonceLedger;
  /** The store that the processes of a seller share: their nonces are in it where no ledger of their own is given. */
  readonly store?: Store | undefined;
  /** Who builds the transactions that collect authorizations; absent = this process. */
  readonly builder?: Builder;
  /** Who is told what the settlers hold. */
  readonly gas?: GasWatch;
}

/** Rejects with a sentence for the seller, without a key, where a package is missing or a key is none. */
export async function openChain(one: LocalEvmNetwork, all: LocalOptions, parts: EvmParts = {}): Promise<OpenedChain> {
  const [accounts, backend] = await Promise.all([toAccounts(one.settlers), loadBackend()]);
  const network = one.network.id;
  all.logger?.debug("signatures are checked by", { network, implementation: backend.name });
  const chain = createChain(one, accounts, all, parts);
  return {
    settler: chain.settlers.first.address,
    ready: (requirements, signal) => checkReadiness(chain, requirements, signal),
    identify: (payload, _network, signal) => identifyTransaction(chain, payload, signal),
    verify: (proof, context) =>
      proof.kind === "authorization" ? verifyOnChain(chain, proof, context) : verifyTransaction(chain, proof, context),
    settle: (proof, context) =>
      proof.kind === "authorization" ? settleOnChain(chain, proof, context) : settleTransaction(chain, proof, context),
    lookup: (trace, signal) =>
      trace.method === "transaction" ? lookupTransaction(chain, trace, signal) : lookupOnChain(chain, trace, signal),
    finality: (trace, signal) => finalityOnChain(chain, trace, signal),
    close() {
      chain.receipts.close();
      chain.rpc.close();
    },
  };
}

function createChain(
  { network, urls, options }: LocalEvmNetwork,
  accounts: readonly SettlerAccount[],
  { timeoutMs, logger }: LocalOptions,
  { store, nonces = store && createStoreNonces(store), builder, gas }: EvmParts,
): EvmChain {
  const { chainId } = network;
  const blockMs = options.blockMs ?? network.blockMs;
  const rpc = createRpc({ urls, chainId, ...(timeoutMs !== undefined && { timeoutMs }) });
  const shared = nonces && ((address: Hex) => createSharedNonces(nonces, network.id, address, logger));
  const tokens = [...network.tokens, ...(options.tokens ?? [])];
  return {
    network: network.id,
    chainId,
    blockMs,
    rpc,
    settlers: createSettlers(accounts, chainId, urls[0] ?? "", shared),
    receipts: createReceiptWatch(rpc, blockMs, systemNow),
    factories: new Set((options.eip6492Factories ?? []).map(lower)),
    decimals: new Map(tokens.map((token) => [lower(token.address), token.decimals])),
    maxFeePerGas: options.maxFeePerGas ?? DEFAULT_MAX_FEE_PER_GAS,
    ...(builder && { builder }),
    ...(gas && { gas }),
    logger,
    now: systemNow,
  };
}
