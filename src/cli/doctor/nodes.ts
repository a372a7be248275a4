// Each node by itself: the right chain behind every URL, and a clock of this machine that agrees with the chain's. Nodes are
// named by their hosts, because URLs carry keys.
import { readBlock } from "../../chains/evm/answers.js";
import { createRpc } from "../../chains/evm/rpc.js";
import { createSolanaRpc } from "../../chains/solana/rpc.js";
import { environmentName, type Network } from "../../networks.js";
import type { Row } from "./rows.js";

const NODE_MS = 5_000;
/** A proof is judged by this machine's clock, and is good for a minute. */
const MOST_AHEAD_S = 15;
const MOST_BEHIND_S = 120;

/** Asks the nodes of a network, each one alone. Never rejects. */
export async function checkNodes(network: Network, urls: readonly string[]): Promise<Row[]> {
  return (await Promise.all(urls.map((url) => checkNode(network, url)))).flat();
}

interface Asked {
  /** Unix seconds of the latest block; undefined where the node does not tell it. */
  readonly time?: number;
  /** Why it cannot be used. */
  readonly problem?: string;
  /** It answers for another chain. */
  readonly isForeign?: boolean;
}

async function checkNode(network: Network, url: string): Promise<Row[]> {
  const { host, hostname } = new URL(url);
  const { time, problem, isForeign } =
    network.family === "evm" ? await askEvm(network, url) : await askSolana(network, url);
  const [suffix = ""] = environmentName(network);
  const row = { part: network.name, check: `node ${host}` };
  if (problem !== undefined) {
    const remedy = `Set TOLLGATE_RPC_URL_${suffix} (or rpcUrl) to a node of ${network.name}.`;
    return [{ ...row, state: isForeign ? "wrong" : "unreachable", found: problem, remedy }];
  }
  const chain = network.chainId === undefined ? network.name : `chain id ${network.chainId}`;
  const rows: Row[] = [{ ...row, state: "ok", found: `answers for ${chain}` }];
  if (time !== undefined) rows.push(clockRow(network, { host, isLocal: isLoopback(hostname) }, time));
  return rows;
}

async function askEvm({ chainId }: Network, url: string): Promise<Asked> {
  const rpc = createRpc({ urls: [url], chainId: chainId ?? 0, timeoutMs: NODE_MS });
  const reply = await rpc.batch([{ method: "eth_getBlockByNumber", params: ["latest", false] }]);
  rpc.close();
  if (!reply.ok) return { problem: reply.message, isForeign: reply.chainId !== undefined };
  const block = readBlock(reply.answers[0]);
  return block ? { time: Number(block.timestamp) } : { problem: "its latest block cannot be read" };
}

async function askSolana({ id }: Network, url: string): Promise<Asked> {
  const rpc = createSolanaRpc({ urls: [url], network: id, timeoutMs: NODE_MS });
  try {
    const slot = await rpc.call("getSlot", [{ commitment: "confirmed" }]);
    if (!slot.ok) return { problem: slot.message, isForeign: slot.kind === "fault" && slot.genesis !== undefined };
    const time = await rpc.call("getBlockTime", [slot.result]);
    return time.ok && typeof time.result === "number" ? { time: time.result } : {};
  } finally {
    rpc.close();
  }
}

/** The chain's time is not exact, but a clock that is minutes off refuses good payments and takes expired ones. */
function clockRow({ name, blockMs }: Network, node: { host: string; isLocal: boolean }, time: number): Row {
  const row = { part: name, check: `clock against ${node.host}` };
  const ahead = Math.round(time - Date.now() / 1000);
  const mostBehind = Math.max(MOST_BEHIND_S, (20 * blockMs) / 1000);
  if (ahead > MOST_AHEAD_S) {
    const remedy =
      "Set this machine's clock by NTP: good payments are refused as not yet valid, and expired ones are taken.";
    return { ...row, state: "wrong", found: `this machine is ${ahead} s behind the latest block`, remedy };
  }
  if (-ahead <= mostBehind) return { ...row, state: "ok", found: `${Math.abs(ahead)} s apart` };
  const found = `the latest block is ${-ahead} s old`;
  if (node.isLocal) return { ...row, state: "note", found: `${found}: a local chain makes blocks when it is asked to` };
  const remedy =
    "Either this machine's clock is ahead (set it by NTP), or the node has fallen behind (use another one).";
  return { ...row, state: "wrong", found, remedy };
}

export const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i.test(hostname);
