// A JSON-RPC node that mines at once, one transaction a block, and takes no block back: every transfer authorization succeeds,
// and its receipt has the two events of the real token. What was mined is remembered and final, as sellers look at it again.
// In a process of its own.
import { createServer } from "node:http";
import { loadBackend } from "../../dist/src/chains/evm/backend.js";
import { AUTHORIZATION_USED, TRANSFER } from "../../dist/src/chains/evm/evidence.js";
import { TERMS } from "./terms.mjs";

const { keccak } = await loadBackend();
const quantity = (value) => `0x${value.toString(16)}`;
const word = (value) => `0x${value.toString(16).padStart(64, "0")}`;
const text = (value) => word(32) + word(value.length).slice(2) + Buffer.from(value).toString("hex").padEnd(64, "0");

const counts = { requests: 0, sent: 0 };
/** The head before the first transaction. */
const FIRST_BLOCK = 1_000;
/** What a receipt is made of, by transaction: for as long as the run goes on, so in few bytes. */
const mined = new Map();

// Selectors of the calls that are asked: the transfer is simulated, the rest is read.
const VIEWS = {
  "0x70a08231": word(10n ** 18n),
  "0xe94a0102": word(0),
  "0x313ce567": word(6),
  "0x06fdde03": text(TERMS.name),
  "0x54fd4d50": text(TERMS.version),
  "0xe3ee160e": "0x",
};
const TRANSFER_CALL = "e3ee160e";

function mine(raw) {
  const hash = `0x${Buffer.from(keccak(Buffer.from(raw.slice(2), "hex"))).toString("hex")}`;
  const start = raw.indexOf(TRANSFER_CALL) + TRANSFER_CALL.length;
  const argument = (at) => `0x${raw.slice(start + at * 64, start + at * 64 + 64)}`;
  const [from, to, value, nonce] = [argument(0), argument(1), argument(2), argument(5)];
  counts.sent++;
  mined.set(hash, { height: FIRST_BLOCK + counts.sent, from, to, value, nonce });
  return hash;
}

const blockHashOf = (height) => word(height);

function receiptOf(hash) {
  const transaction = mined.get(hash);
  if (!transaction) return null;
  const { height, from, to, value, nonce } = transaction;
  const block = { blockNumber: quantity(height), blockHash: blockHashOf(height) };
  const log = (logIndex, topics, data) => ({
    ...{ address: TERMS.asset, topics, data, logIndex: quantity(logIndex), transactionHash: hash, ...block },
    removed: false,
  });
  const logs = [log(0, [AUTHORIZATION_USED, from, nonce], "0x"), log(1, [TRANSFER, from, to], value)];
  return { transactionHash: hash, status: "0x1", ...block, gasUsed: "0x10000", logs };
}

/** By height or by the name of one: whatever is mined is the newest, safe and final. Null = not yet mined. */
function blockOf(name) {
  const head = FIRST_BLOCK + counts.sent;
  const height = name.startsWith("0x") ? Number(name) : head;
  if (height > head) return null;
  const timestamp = quantity(Math.floor(Date.now() / 1000));
  return { number: quantity(height), hash: blockHashOf(height), timestamp, baseFeePerGas: quantity(1_000_000_000) };
}

const METHODS = {
  eth_chainId: () => quantity(TERMS.chainId),
  eth_getCode: ([address]) => (address.toLowerCase() === TERMS.asset.toLowerCase() ? "0x6000" : "0x"),
  eth_getBalance: () => quantity(10n ** 24n),
  eth_gasPrice: () => quantity(2_000_000_000),
  eth_maxPriorityFeePerGas: () => quantity(1_000_000_000),
  eth_getTransactionCount: () => quantity(counts.sent),
  eth_getBlockByNumber: ([name]) => blockOf(name),
  eth_call: ([{ data }]) => VIEWS[data.slice(0, 10)],
  eth_sendRawTransaction: ([raw]) => mine(raw),
  eth_getTransactionReceipt: ([hash]) => receiptOf(hash),
};

function answer({ id, method, params }) {
  const result = METHODS[method]?.(params);
  if (result !== undefined) return { jsonrpc: "2.0", id, result };
  // A token without the function that was called says so itself.
  if (method === "eth_call") return { jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted" } };
  return { jsonrpc: "2.0", id, error: { code: -32000, message: `the stub has no answer to ${method}` } };
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    counts.requests++;
    const calls = JSON.parse(body);
    const reply = JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls));
    response.writeHead(200, { "content-type": "application/json", "content-length": reply.length }).end(reply);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));

process.on("message", ({ id, kind }) => {
  if (kind === "quit") process.exit(0);
  process.send({ id, ...counts });
});
process.on("disconnect", () => process.exit(0));
