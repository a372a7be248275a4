// A Solana node of one process: the machine, the ledger, the RPC methods and the passing of time, with the knobs that
// tests turn. It knows no payments.
import { createFaucet, type Faucet, tokenBalance } from "./faucet.js";
import { createLedger, type Ledger, type LossReason } from "./ledger.js";
import type { Params } from "./params.js";
import { accountMethods, chainMethods } from "./read-methods.js";
import { RPC_CODES, RpcError } from "./rpc-error.js";
import { type RpcServer, startRpcServer } from "./rpc-server.js";
import { createSubscriptions } from "./subscriptions.js";
import { createSvm } from "./svm.js";
import { transactionMethods } from "./transaction-methods.js";
import { type SolanaTransfer, type TransferFilter, transfersOf } from "./transfers.js";

export interface NodeOptions {
  /** Milliseconds of a slot in which nothing lands, 400; 0 = slots pass by `advanceSlots` and by transactions alone. */
  readonly slotTimeMs?: number;
  /** Milliseconds from a transaction to the end of its slot, 20: what arrives meanwhile lands in the same block. */
  readonly landTimeMs?: number;
}

export interface SolanaNode extends RpcServer, Faucet {
  /** The open slot, in which transactions land. */
  slot(): bigint;
  /** Ends this many slots at once; 32 finalize what has landed, 151 expire every blockhash. */
  advanceSlots(count: number): void;
  /**
   * Replaces the last `depth` slots and the open one, none of them final, by as many empty ones with blockhashes of their own: what
   * landed in them never happened, and lands again only if somebody sends it. Money of the faucet stays but where it met such a transaction.
   */
  reorg(depth: number): void;
  /** The time that blocks and programs see from now on, Unix seconds; it goes on from there. */
  setTime(unixSeconds: number | bigint): void;
  /** The next transactions are accepted and never land. */
  dropTransactions(count: number): void;
  /** Slots stand still, and transactions are accepted and wait. */
  pause(): void;
  /** What waited is run, if its blockhash still lives. */
  resume(): void;
  /** The next call of the method is answered with an error; `afterwards` = it does its work first, and its answer is lost. */
  failNext(method: string, failure?: PlannedFailure): void;
  /** Why an accepted transaction is in no block. */
  lost(signature: string): LossReason | undefined;
  lamports(address: string): bigint;
  tokens(mint: string, owner: string): bigint;
  /** Money of a mint, or of `native`, that has moved, oldest first. */
  transfers(asset: string, filter: TransferFilter): SolanaTransfer[];
}

export interface PlannedFailure {
  readonly code?: number;
  readonly message?: string;
  readonly afterwards?: boolean;
}

/** Starts the node on a free port of this machine; about 60 ms. */
export async function startSolanaNode({ slotTimeMs = 400, landTimeMs = 20 }: NodeOptions = {}): Promise<SolanaNode> {
  const svm = createSvm();
  const ledger = createLedger(svm);
  const faucet = createFaucet(svm, ledger);
  const failures: { readonly method: string; readonly error: RpcError; readonly afterwards: boolean }[] = [];
  const methods = { ...chainMethods(ledger, svm), ...accountMethods(ledger, svm), ...transactionMethods(ledger, svm) };

  const server = await startRpcServer({
    call(method: string, params: Params) {
      const planned = failures.findIndex((failure) => failure.method === method);
      const [failure] = planned === -1 ? [] : failures.splice(planned, 1);
      if (failure?.afterwards === false) throw failure.error;
      const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (run === undefined) throw new RpcError(RPC_CODES.unknownMethod, "Method not found");
      const result = run(params);
      if (failure !== undefined) throw failure.error;
      return result;
    },
    subscriptions: (send) => createSubscriptions(ledger, svm, send),
  });
  const stopTime = passTime(ledger, slotTimeMs, landTimeMs);

  return {
    ...server,
    ...faucet,
    slot: () => ledger.slot("processed"),
    advanceSlots: (count) => ledger.closeSlots(count),
    reorg: (depth) => ledger.reorg(depth),
    setTime: (unixSeconds) => ledger.setTime(BigInt(unixSeconds)),
    dropTransactions: (count) => ledger.dropNext(count),
    pause: () => ledger.pause(),
    resume: () => ledger.resume(),
    failNext(method, { code = RPC_CODES.internal, message = "Internal error", afterwards = false } = {}) {
      failures.push({ method, error: new RpcError(code, message), afterwards });
    },
    lost: (signature) => ledger.lost(signature),
    lamports: (address) => svm.account(address)?.lamports ?? 0n,
    tokens: (mint, owner) => tokenBalance(svm, mint, owner),
    transfers: (asset, filter) => transfersOf(ledger, svm, asset, filter),
    async close() {
      stopTime();
      await server.close();
    },
  };
}

/** Slots end by time, and soon after a transaction. Neither timer keeps a process alive. */
function passTime(ledger: Ledger, slotTimeMs: number, landTimeMs: number): () => void {
  let closing: NodeJS.Timeout | undefined;
  const tick = () => {
    if (!ledger.paused()) ledger.closeSlots(1);
  };
  const closeSoon = () => {
    closing = undefined;
    tick();
  };
  const clock = slotTimeMs === 0 ? undefined : setInterval(tick, slotTimeMs).unref();
  const unwatch = ledger.watch((event) => {
    if (event === "landed") closing ??= setTimeout(closeSoon, landTimeMs).unref();
    else {
      clearTimeout(closing);
      closing = undefined;
    }
  });
  return () => {
    clearInterval(clock);
    clearTimeout(closing);
    unwatch();
  };
}
