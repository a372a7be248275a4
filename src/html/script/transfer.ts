// A payment that the wallet sends itself. What is needed to find it again is written down before it is sent, and its id right
// after; a page that died in between looks for it on the chain.
import type { Asked } from "./evm.js";
import { forget, type Pending, save, type Transfer, toHex, toProof } from "./pending.js";
import { ask, type Provider } from "./provider.js";
import { done, pause, type Result, stop } from "./result.js";

/** The seller looks for it himself; this only spares a round trip. */
const WAIT_FOR_BLOCK_S = 60;
/** Then it may have been replaced: all blocks since are read for it. */
const LOOK_AT_S = 6;
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
  if (!/^0x[0-9a-f]{64}$/i.test(String(sent.value))) return stop("Your wallet did not say which transfer it sent.");
  return showTransfer(provider, asked, pending, String(sent.value));
}

/** Written down at once; then at the latest a minute later it is shown to the seller, who looks for it himself as well. */
export async function showTransfer(
  provider: Provider,
  { data, offer, id, step }: Asked,
  pending: Pending,
  transaction: string,
): Promise<Result<object>> {
  const { transfer } = pending;
  const toPayload = (hash: string) => ({ transaction: hash, secret: transfer?.secret });
  save({ ...pending, proof: toProof(offer, toPayload(transaction), data, id) });
  step(2, `The transfer of ${offer.price} is on its way.`);
  const mined = await waitForBlock(provider, transaction, transfer);
  if (!mined?.failed) return done(toPayload(mined?.hash ?? transaction));
  forget();
  return stop(`The transfer failed on ${offer.network}, and only the network's fee was spent.`);
}

/** Invariant: it names its network, so that a wallet which has changed it meanwhile sends nothing there. */
function callOf({ offer, from, reference }: Transfer) {
  const { payTo, amount, asset } = offer.given;
  const chainId = `0x${(offer.chainId ?? 0).toString(16)}`;
  const value = BigInt(amount).toString(16);
  if (offer.native) return { from, to: payTo, value: `0x${value}`, data: reference, chainId };
  const to = payTo.slice(2).toLowerCase().padStart(64, "0");
  return { from, to: asset, data: `0xa9059cbb${to}${value.padStart(64, "0")}${reference.slice(2)}`, chainId };
}

/** The id under which it was mined: a wallet that pays more for its speed gives it another. Undefined: not seen yet. */
async function waitForBlock(
  provider: Provider,
  transaction: string,
  transfer: Transfer | undefined,
): Promise<{ readonly hash: string; readonly failed: boolean } | undefined> {
  let hash = transaction;
  for (let second = 1; second <= WAIT_FOR_BLOCK_S; second += 1) {
    const receipt = await ask(provider, "eth_getTransactionReceipt", [hash], "");
    if (receipt.ok && receipt.value) {
      return { hash, failed: (receipt.value as { readonly status?: string }).status === "0x0" };
    }
    await pause(1000);
    const found = transfer && second === LOOK_AT_S ? await findTransfer(provider, transfer) : undefined;
    if (found?.ok && found.value) hash = found.value;
  }
  return undefined;
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
