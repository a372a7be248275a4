// A nonce that was given back while later ones are under way blocks them all. If no settlement takes it soon, an empty
// transfer of the settler to itself fills it.
import { readBlock, readQuantity } from "./answers.js";
import { broadcast } from "./broadcast.js";
import type { EvmChain } from "./chain.js";
import { feesFor, TIP_CALL } from "./fees.js";
import { REST_MS, type Settler } from "./settlers.js";

/** How long the next settlement has to take the nonce. */
const PATIENCE_MS = 250;
const SEND_MS = 5_000;
const TRANSFER_GAS = 21_000n;

/** Fills the gap later, if it is still there. */
export function closeGap(chain: EvmChain, settler: Settler): void {
  const timer: { unref?(): void } = setTimeout(() => void fill(chain, settler), PATIENCE_MS);
  timer.unref?.();
}

async function fill(chain: EvmChain, settler: Settler): Promise<void> {
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
  if (count === undefined || !head || fees === undefined || fees === "too_high") {
    if (settler.nonces.hasGap()) closeGap(chain, settler);
    return;
  }
  if (!settler.nonces.hasGap()) return;
  const nonce = settler.nonces.take({ count: Number(count), block: head.number }, mark, chain.now());
  const base = {
    chainId: chain.chainId,
    nonce,
    to: settler.address,
    data: "0x",
    value: 0n,
    gas: TRANSFER_GAS,
  } as const;
  const signed = await broadcast.sign(settler, { ...base, ...fees });
  const answer = signed.ok ? await broadcast.send(chain.rpc, signed, chain.now() + SEND_MS) : undefined;
  if (!signed.ok || answer?.outcome === "refused") {
    if (answer?.outcome === "refused" && answer.nonce === "used") settler.nonces.done(nonce, undefined, chain.now());
    else if (answer?.outcome === "refused" && answer.nonce === "waiting") settler.nonces.forget(nonce);
    else if (settler.nonces.giveBack(nonce)) closeGap(chain, settler);
    return;
  }
  const waiting = { ...signed, settler: settler.address, nonce, deadlineAt: chain.now() + REST_MS };
  const waited = await chain.receipts.wait(waiting);
  if (waited.outcome === "timeout") settler.nonces.forget(nonce);
  else settler.nonces.done(nonce, waited.outcome === "receipt" ? waited.receipt.blockNumber : undefined, chain.now());
}
