// A nonce that nobody sends while later ones are under way blocks them all: one that was given back, or one whose holder, another
// process, has died with it. If no settlement takes it soon, an empty transfer of the settler to itself fills it.
import { readBlock, readQuantity } from "./answers.js";
import { broadcast } from "./broadcast.js";
import type { EvmChain } from "./chain.js";
import { feesFor, TIP_CALL } from "./fees.js";
import type { NonceView } from "./nonces.js";
import { type GasTransaction, REST_MS, type Settler } from "./settlers.js";

/** How long the next settlement has to take the nonce. */
const PATIENCE_MS = 250;
/** How long its holder, whom we do not know, has to send a transaction after it took the nonce: half of a settlement's time. */
const HOLDER_MS = 5_000;
const SEND_MS = 5_000;
const TRANSFER_GAS = 21_000n;

/** Fills the gap later, if it is still there. */
export function closeGap(chain: EvmChain, settler: Settler): void {
  const isGap = () => settler.nonces.hasGap();
  const timer: Timer = setTimeout(async () => {
    if ((await fill(chain, settler, isGap, "any")) === "later" && (await isGap())) closeGap(chain, settler);
  }, PATIENCE_MS);
  timer.unref?.();
}

type Timer = ReturnType<typeof setTimeout> & { unref?(): void };

/**
 * Watches over a transaction that was sent with a nonce of a shared ledger, until the returned function is called: fills each gap
 * before it whose holder lets it lie. A process alone knows its own holders and has none to watch.
 *
 * Safe because filling a gap whose holder was only slow harms nobody: of two transactions with one nonce one is mined, the holder
 * of the other is told and numbers it anew, and an authorization is taken once.
 */
export function watchGap(chain: EvmChain, settler: Settler, nonce: number): () => void {
  const { nonces } = settler;
  if (!nonces.takeBack) return () => {};
  let stopped = false;
  let timer: Timer;
  const waitOn = () => {
    timer = setTimeout(() => void lookOut(), Math.max(HOLDER_MS, Math.ceil(chain.blockMs * 1.5)));
    timer.unref?.();
  };
  async function lookOut(): Promise<void> {
    let filled = -1;
    // One after the other, as the chain's count goes on; a count that stays where it was is another node's, which lags.
    const isGap = async ({ count }: NonceView) => {
      if (stopped || count >= nonce || count === filled) return false;
      filled = count;
      await nonces.takeBack?.(count);
      return true;
    };
    for (let last: Filled = "filled"; last === "filled"; ) last = await fill(chain, settler, isGap, "first");
    if (!stopped) waitOn();
  }
  waitOn();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** `none`: there was no gap, or somebody else has it. `later`: the chain or the ledger could not be asked. */
type Filled = "filled" | "none" | "later";

async function fill(
  chain: EvmChain,
  settler: Settler,
  isGap: (view: NonceView) => boolean | Promise<boolean>,
  /** `first`: only the one at which the chain's count stands. */
  place: "first" | "any",
): Promise<Filled> {
  const mark = settler.nonces.mark();
  const reply = await chain.rpc.batch([
    { method: "eth_getTransactionCount", params: [settler.address, "pending"] },
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    TIP_CALL,
  ]);
  const [countAnswer, headAnswer, tip] = reply.ok ? reply.answers : [];
  const count = readQuantity(countAnswer);
  const head = readBlock(headAnswer);
  const fees = head && (await feesFor(chain.rpc, head, tip, chain.maxFeePerGas, chain.now() + SEND_MS));
  if (count === undefined || !head || fees === undefined || fees === "too_high") return "later";
  const view = { count: Number(count), block: head.number };
  // Not awaited where it is known at once: a process alone must take the nonce before another settlement of its own does.
  const found = isGap(view);
  if (!(typeof found === "boolean" ? found : await found)) return "none";
  const nonce = await takeNonce(chain, settler, view, mark);
  if (nonce === undefined) return "later";
  if (place === "first" && nonce !== view.count) {
    // Somebody else was faster, or the ledger has heard of more than this node knows.
    if (await settler.nonces.giveBack(nonce)) closeGap(chain, settler);
    return "none";
  }
  const { chainId } = chain;
  return sendEmpty(chain, settler, {
    ...fees,
    chainId,
    nonce,
    to: settler.address,
    data: "0x",
    value: 0n,
    gas: TRANSFER_GAS,
  });
}

async function takeNonce(
  chain: EvmChain,
  { nonces, address }: Settler,
  view: NonceView,
  mark: number,
): Promise<number | undefined> {
  try {
    return await nonces.take(view, mark, chain.now());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    chain.logger?.error("no account nonce of a settler could be had", {
      network: chain.network,
      settler: address,
      reason,
    });
    return undefined;
  }
}

async function sendEmpty(chain: EvmChain, settler: Settler, transaction: GasTransaction): Promise<Filled> {
  const { nonce } = transaction;
  const signed = await broadcast.sign(settler, transaction);
  const answer = signed.ok ? await broadcast.send(chain.rpc, signed, chain.now() + SEND_MS) : undefined;
  if (!signed.ok || answer?.outcome === "refused") {
    if (answer?.outcome === "refused" && answer.nonce === "used") {
      await settler.nonces.done(nonce, undefined, chain.now());
    } else if (answer?.outcome === "refused" && answer.nonce === "waiting") {
      await settler.nonces.forget(nonce);
    } else if (await settler.nonces.giveBack(nonce)) {
      closeGap(chain, settler);
    }
    return "none";
  }
  void awaitReceipt(chain, settler, { ...signed, settler: settler.address, nonce });
  return "filled";
}

async function awaitReceipt(
  chain: EvmChain,
  { nonces }: Settler,
  sent: Omit<Parameters<EvmChain["receipts"]["wait"]>[0], "deadlineAt">,
): Promise<void> {
  const waited = await chain.receipts.wait({ ...sent, deadlineAt: chain.now() + REST_MS });
  if (waited.outcome === "timeout") await nonces.forget(sent.nonce);
  else
    await nonces.done(sent.nonce, waited.outcome === "receipt" ? waited.receipt.blockNumber : undefined, chain.now());
}
