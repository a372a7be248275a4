// A payment that the wallet sends itself. What is needed to find it again is written down before it is sent, and its id right
// after; a page that died in between looks for it on the chain.
import type { Asked } from "./evm.js";
import { forget, type Pending, save, type Transfer, toHex, toProof } from "./pending.js";
import { ask, type Provider } from "./provider.js";
import { done, type Result, stop } from "./result.js";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** The seller looks for it himself; this only spares a round trip. */
const WAIT_FOR_BLOCK_S = 60;
/** What a seller takes as new is not older than this. */
const MOST_BLOCKS = 900;

export async function transferFrom(provider: Provider, asked: Asked, from: string): Promise<Result<object>> {
  const { offer, id, step } = asked;
  if (!crypto.subtle) return stop("This payment needs a page that was opened by https.");
  const height = await ask(provider, "eth_blockNumber", [], "");
  if (!height.ok) return height;
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const reference = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", secret)));
  const transfer: Transfer = {
    offer,
    from,
    secret: `0x${toHex(secret)}`,
    reference: `0x${reference}`,
    since: String(height.value),
  };
  const pending: Pending = { id, price: offer.price, method: offer.method, at: Date.now(), transfer, tries: 0 };
  // Invariant: money leaves only when this browser will know of it afterwards.
  if (!save(pending))
    return stop("This browser keeps nothing for this page, so a transfer could be lost. Nothing was sent.");
  step(1, `Confirm the transfer in your wallet: ${offer.price}, and the network's fee.`);
  const sent = await ask(provider, "eth_sendTransaction", [callOf(transfer)], "the transfer. Nothing was sent");
  if (!sent.ok) {
    if (sent.kind === "declined") forget();
    return sent;
  }
  return showTransfer(provider, asked, pending, String(sent.value));
}

/** Written down at once; then at the latest a minute later it is shown to the seller, who looks for it himself as well. */
export async function showTransfer(
  provider: Provider,
  { data, offer, id, step }: Asked,
  pending: Pending,
  transaction: string,
): Promise<Result<object>> {
  const payload = { transaction, secret: pending.transfer?.secret };
  save({ ...pending, proof: toProof(offer, payload, data, id) });
  step(2, `The transfer of ${offer.price} is on its way.`);
  if ((await waitForBlock(provider, transaction)) !== "failed") return done(payload);
  forget();
  return stop(`The transfer failed on ${offer.network}, and only the network's fee was spent.`);
}

function callOf({ offer, from, reference }: Transfer) {
  const { payTo, amount, asset } = offer.given;
  const value = BigInt(amount).toString(16);
  if (offer.native) return { from, to: payTo, value: `0x${value}`, data: reference };
  const to = payTo.slice(2).toLowerCase().padStart(64, "0");
  return { from, to: asset, data: `0xa9059cbb${to}${value.padStart(64, "0")}${reference.slice(2)}` };
}

async function waitForBlock(provider: Provider, transaction: string): Promise<"failed" | "there" | "unknown"> {
  for (let second = 0; second < WAIT_FOR_BLOCK_S; second += 1) {
    const receipt = await ask(provider, "eth_getTransactionReceipt", [transaction], "");
    if (receipt.ok && receipt.value) {
      return (receipt.value as { readonly status?: string }).status === "0x0" ? "failed" : "there";
    }
    await pause(1000);
  }
  return "unknown";
}

/** Looks through the blocks since it may have been sent; undefined where it is not there (yet). */
export async function findTransfer(
  provider: Provider,
  { reference, since }: Transfer,
): Promise<Result<string | undefined>> {
  const newest = await ask(provider, "eth_blockNumber", [], "");
  if (!newest.ok) return newest;
  const last = Math.min(Number(newest.value), Number(since) + MOST_BLOCKS);
  for (let height = Number(since); height <= last; height += 1) {
    const block = await ask(provider, "eth_getBlockByNumber", [`0x${height.toString(16)}`, true], "");
    if (!block.ok) return block;
    const { transactions = [] } = Object(block.value) as {
      readonly transactions?: readonly { readonly hash: string; readonly input: string }[];
    };
    const found = transactions.find(({ input }) => input?.toLowerCase().endsWith(reference.slice(2)));
    if (found) return done(found.hash);
  }
  return done(undefined);
}
