// RPC methods about transactions: simulate and send with a node's preflight, and what became of one.
import { accountJson } from "./account-json.js";
import { accountKeysOf } from "./account-keys.js";
import { BLOCKHASH_LIFE, type Block, type Commitment, type Landed, type Ledger } from "./ledger.js";
import { asAddress, type Config, configAt, levelOf, numberAt, type Params, textAt } from "./params.js";
import { inContext, type Methods } from "./read-methods.js";
import { invalidParams, RPC_CODES, RpcError } from "./rpc-error.js";
import type { Simulation, Svm } from "./svm.js";
import { sentenceOf, type TransactionError } from "./transaction-error.js";
import { innerJson, memoOf, returnDataJson, statusOf, transactionJson } from "./transaction-json.js";
import {
  decodeText,
  isFullySigned,
  MAX_TRANSACTION_BYTES,
  readTransaction,
  type WireTransaction,
  withBlockhash,
} from "./wire.js";

/** Slots for which a status is told without a search of the history. */
const STATUS_CACHE_SLOTS = 300n;
const MOST_SIGNATURES = 1_000;
const RANK: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 2 };

export function transactionMethods(ledger: Ledger, svm: Svm): Methods {
  const reached = (landed: Landed, level: Commitment) => RANK[ledger.commitmentOf(landed.slot)] >= RANK[level];
  const readNow = (address: string) => svm.account(address);

  const simulate = (transaction: WireTransaction, level: Commitment): Simulation => {
    if (!ledger.accepts(transaction.message.recentBlockhash, level)) return refused("BlockhashNotFound");
    return ledger.hasRun(transaction) ? refused("AlreadyProcessed") : svm.simulate(transaction);
  };

  return {
    simulateTransaction(params) {
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      const given = transactionAt(params, config);
      if (config.sigVerify && config.replaceRecentBlockhash) {
        throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
      }
      if (config.sigVerify && !isFullySigned(given)) throw signatureFailure();
      const { blockhash, height } = ledger.latest(level);
      const transaction = config.replaceRecentBlockhash ? withBlockhash(given, blockhash) : given;
      const result = simulate(transaction, level);
      const replacement = { blockhash, lastValidBlockHeight: height + BLOCKHASH_LIFE };
      return inContext(ledger.slot(level), {
        ...simulationJson(result, transaction, config),
        replacementBlockhash: config.replaceRecentBlockhash ? replacement : null,
      });
    },

    sendTransaction(params) {
      const config = configAt(params, 1);
      const transaction = transactionAt(params, config);
      if (!config.skipPreflight) {
        if (!isFullySigned(transaction)) throw signatureFailure();
        const level = levelOf(ledger, { ...config, commitment: config.preflightCommitment });
        const result = simulate(transaction, level);
        if (result.err !== null) {
          const words = `Transaction simulation failed: ${sentenceOf(result.err)}`;
          throw new RpcError(RPC_CODES.preflightFailure, words, simulationJson(result, transaction, {}));
        }
      }
      ledger.submit(transaction);
      return transaction.id;
    },

    getSignatureStatuses(params) {
      const ids = params[0];
      if (!Array.isArray(ids) || ids.length > 256) throw invalidParams("expected up to 256 signatures");
      const { searchTransactionHistory = false } = configAt(params, 1);
      const open = ledger.slot("processed");
      const statuses = ids.map((id: unknown) => {
        const landed = typeof id === "string" ? ledger.landed(id) : undefined;
        if (landed === undefined) return null;
        if (!searchTransactionHistory && open - landed.slot > STATUS_CACHE_SLOTS) return null;
        const confirmationStatus = ledger.commitmentOf(landed.slot);
        const confirmations = confirmationStatus === "finalized" ? null : open - landed.slot;
        return { slot: landed.slot, confirmations, ...statusOf(landed.execution.err), confirmationStatus };
      });
      return inContext(open, statuses);
    },

    getTransaction(params) {
      // Older clients give the encoding alone in place of the settings.
      const config = typeof params[1] === "string" ? configAt([{ encoding: params[1] }], 0) : configAt(params, 1);
      const landed = ledger.landed(textAt(params, 0));
      if (landed === undefined || !reached(landed, levelOf(ledger, config))) return null;
      requireVersion(landed, config);
      const { slot, time: blockTime } = landed;
      return { slot, blockTime, ...transactionJson(landed, config.encoding ?? "json", readNow) };
    },

    getSignaturesForAddress(params) {
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      const seen = ledger.history(asAddress(textAt(params, 0))).filter((landed) => reached(landed, level));
      const ids = seen.map(({ transaction }) => transaction.id);
      const start = config.before === undefined ? 0 : ids.indexOf(config.before) + 1;
      const until = config.until === undefined ? -1 : ids.indexOf(config.until);
      const page = seen.slice(start, until === -1 ? undefined : until).slice(0, config.limit ?? MOST_SIGNATURES);
      return page.map((landed) => ({
        signature: landed.transaction.id,
        slot: landed.slot,
        err: landed.execution.err,
        memo: memoOf(landed),
        blockTime: landed.time,
        confirmationStatus: ledger.commitmentOf(landed.slot),
      }));
    },

    getBlockTime: (params) => blockAt(params, { commitment: "confirmed" }).time,
    getBlock(params) {
      const config = configAt(params, 1);
      const { blockhash, previousBlockhash, slot, height, time, landed } = blockAt(params, config);
      const { transactionDetails = "full", encoding = "json" } = config;
      const head = { blockhash, previousBlockhash, parentSlot: slot - 1n, blockHeight: height, blockTime: time };
      if (transactionDetails === "none") return head;
      if (transactionDetails === "signatures") return { ...head, signatures: landed.map((one) => one.transaction.id) };
      if (transactionDetails === "accounts") throw invalidParams("the sandbox has no block with accounts alone");
      for (const one of landed) requireVersion(one, config);
      return { ...head, transactions: landed.map((one) => transactionJson(one, encoding, readNow)), rewards: [] };
    },
  };

  function blockAt(params: Params, config: Config): Block {
    const slot = BigInt(numberAt(params, 0));
    const block = slot <= ledger.slot(levelOf(ledger, config)) ? ledger.block(slot) : undefined;
    if (block !== undefined) return block;
    throw new RpcError(RPC_CODES.blockNotAvailable, `Block not available for slot ${slot}`);
  }

  function simulationJson(result: Simulation, transaction: WireTransaction, config: Config) {
    const { accounts, innerInstructions } = config;
    const shown = accounts?.addresses.map((address) => {
      if (result.err !== null) return null;
      return accountJson(result.after.get(asAddress(address)) ?? readNow(address), accounts, readNow);
    });
    return {
      err: result.err,
      logs: result.logs,
      accounts: shown ?? null,
      unitsConsumed: result.unitsConsumed,
      returnData: returnDataJson(result),
      innerInstructions: innerInstructions
        ? innerJson(result, accountKeysOf(transaction.message, readNow), true)
        : null,
      fee: result.fee,
    };
  }
}

/** What a node answers for a transaction that it does not run. */
const refused = (err: TransactionError): Simulation => ({
  err,
  logs: [],
  unitsConsumed: 0n,
  fee: 0n,
  inner: [],
  returnData: null,
  after: new Map(),
});

const signatureFailure = () => new RpcError(RPC_CODES.signatureFailure, "Transaction signature verification failure");

function transactionAt(params: Params, { encoding = "base58" }: Config): WireTransaction {
  if (encoding !== "base58" && encoding !== "base64") throw invalidParams(`unsupported encoding: ${encoding}`);
  const wire = decodeText(textAt(params, 0), encoding);
  if (wire === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  if (wire.length > MAX_TRANSACTION_BYTES) {
    throw invalidParams(`decoded transaction too large: ${wire.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`);
  }
  const transaction = readTransaction(wire);
  if (transaction === undefined)
    throw invalidParams("failed to deserialize solana_transaction::versioned::VersionedTransaction");
  return transaction;
}

function requireVersion({ transaction }: Landed, { maxSupportedTransactionVersion: most }: Config): void {
  const { version } = transaction.message;
  if (version === "legacy" || (most !== undefined && most >= version)) return;
  const words = `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`;
  throw new RpcError(RPC_CODES.unsupportedVersion, words);
}
