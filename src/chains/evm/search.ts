// Finds the transaction that used an authorization, whoever sent it: by the asset's own logs, backwards from the head, as far
// as the authorization can reach. Source: protocol §3.3 (third-party submission), faults A6.
import { type Block, type Log, readBlock, readLogs, readReceipt } from "./answers.js";
import type { ChainReader } from "./chain.js";
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, addressTopic, type Payment, provesPayment } from "./evidence.js";
import { type Hex, toQuantity } from "./hex.js";
import type { RpcOptions } from "./rpc.js";

export type Found =
  /** `block`: the height at which it stands. */
  | { readonly found: "paid"; readonly transaction: Hex; readonly block: bigint }
  /** The payer withdrew it: no money moved and none can. */
  | { readonly found: "canceled" }
  /** Used, but no transaction pays the exact amount to the payee. */
  | { readonly found: "unpaid"; readonly transaction: Hex }
  | { readonly found: "nothing" }
  | { readonly found: "failed"; readonly message: string };

/** An authorization is looked for in the two hours before its end; offers last minutes. */
const REACH_SECONDS = 7_200n;
const MAX_CHUNKS = 100;
const FIRST_CHUNK = 1_000n;
const LARGEST_CHUNK = 8_000n;
const SMALLEST_CHUNK = 16n;

/** Searches the chain for the use of one authorization that ends at `validBefore` (Unix seconds). */
export async function findPayment(
  chain: ChainReader,
  payment: Payment,
  validBefore: bigint,
  options: RpcOptions = {},
): Promise<Found> {
  const head = await lastBlockBefore(chain, validBefore, options);
  if ("message" in head) return { found: "failed", message: head.message };
  const logs = await logsBackwards(chain, payment, head.number, validBefore - REACH_SECONDS, options);
  if ("message" in logs) return { found: "failed", message: logs.message };
  if (logs.length === 0) return { found: "nothing" };
  const used = [
    ...new Set(logs.filter((log) => log.topics[0] === AUTHORIZATION_USED).map((log) => log.transactionHash)),
  ];
  const [candidate] = used;
  if (candidate === undefined) return { found: "canceled" };

  const calls = used.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] }));
  const reply = await chain.rpc.batch(calls, options);
  if (!reply.ok) return { found: "failed", message: reply.message };
  const receipts = reply.answers.map(readReceipt);
  const proof = receipts.find((receipt) => receipt && provesPayment(receipt, payment));
  if (proof) return { found: "paid", transaction: proof.transactionHash, block: proof.blockNumber };
  if (!receipts.every(Boolean)) return { found: "failed", message: "a receipt cannot be read" };
  return { found: "unpaid", transaction: candidate };
}

type Failed = { readonly message: string };

/** The latest block, or where that is long past `time`, one shortly after it. */
async function lastBlockBefore(chain: ChainReader, time: bigint, options: RpcOptions): Promise<Block | Failed> {
  let best: Block | undefined;
  let tag: Hex | "latest" = "latest";
  for (let step = 0; step < 12; step++) {
    const reply = await chain.rpc.batch([{ method: "eth_getBlockByNumber", params: [tag, false] }], options);
    if (!reply.ok) return reply;
    const block = readBlock(reply.answers[0]);
    if (!block) return { message: "a block cannot be read" };
    // Jumped too far: the last block that was not too early is the one to start from.
    if (block.timestamp < time) return best ?? block;
    best = block;
    const jump = ((block.timestamp - time) * 1000n) / BigInt(chain.blockMs) / 2n;
    if (jump < FIRST_CHUNK || jump > block.number) return block;
    tag = toQuantity(block.number - jump);
  }
  return best ?? { message: "no block was found" };
}

async function logsBackwards(
  chain: ChainReader,
  payment: Payment,
  last: bigint,
  notBefore: bigint,
  options: RpcOptions,
): Promise<readonly Log[] | Failed> {
  const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], addressTopic(payment.payer), payment.nonce];
  const found: Log[] = [];
  let to = last;
  let size = FIRST_CHUNK;
  let limit = LARGEST_CHUNK;
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const from = to >= size ? to - size + 1n : 0n;
    const filter = { address: payment.asset, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const calls = [
      { method: "eth_getLogs", params: [filter] },
      { method: "eth_getBlockByNumber", params: [toQuantity(from), false] },
    ];
    const reply = await chain.rpc.batch(calls, options);
    if (!reply.ok) return reply;
    const logs = readLogs(reply.answers[0]);
    const first = readBlock(reply.answers[1]);
    if (!first || (!logs && size <= SMALLEST_CHUNK)) return { message: "the logs of the chain cannot be read" };
    if (!logs) {
      // Providers cap the range of one request, each at another size.
      size /= 4n;
      limit = size;
      continue;
    }
    // One range more after the first find: a token that does not revert on a used nonce logs the same use again later.
    if (found.length > 0) return [...found, ...logs];
    found.push(...logs);
    if (from === 0n || first.timestamp < notBefore) return found;
    to = from - 1n;
    size = size * 2n < limit ? size * 2n : limit;
  }
  return { message: `the authorization was not found in ${MAX_CHUNKS} ranges of blocks` };
}
