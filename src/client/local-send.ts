// Orders, inspects, signs, sends and waits: what is behind `signAndSend`, loaded when it is first called.
import { NATIVE } from "../requirement.js";
import { encodeHeader } from "../wire/header.js";
import { inTime } from "./deadline.js";
import type { GatewayClient } from "./gateway-client.js";
import { ENDPOINTS, nameOf } from "./gateway-client-endpoints.js";
import { notBuilt } from "./gateway-client-error.js";
import { readBuilt } from "./local-built.js";
import { sendOnEvm } from "./local-evm.js";
import { readMaxFee } from "./local-fee.js";
import type { Landed } from "./local-job.js";
import { type EvmNode, openNode, type SolanaNode } from "./local-node.js";
import { type LocalOrder, readLocalOrder } from "./local-order.js";
import { type LocalSigning, readSigning, type Signing } from "./local-signing.js";
import { sendOnSolana } from "./local-solana.js";
import { readTokenOf } from "./local-token.js";
import type { SendOrder, SentPayment } from "./sign-and-send.js";

export async function sendLocal(
  client: Pick<GatewayClient, "buildSend" | "wait">,
  signing: LocalSigning,
  order: SendOrder,
): Promise<SentPayment> {
  const family = String(order?.recipientAddress).startsWith("0x") ? "evm" : "solana";
  const own = readSigning("signAndSend", signing, family);
  own.signal?.throwIfAborted();
  const node = await openNode(family, own, order.network);
  try {
    const read = await readLocalOrder(order, node.network, own.address, readTokenOf(node, own.signal));
    const landed = await send(client, own, node, read, order);
    return await toSent(client, own, read, landed);
  } finally {
    node.rpc.close();
  }
}

function send(
  client: Pick<GatewayClient, "buildSend">,
  { signer, idempotencyKey, signal, deadlineAt, maxFee, urls }: Signing,
  node: EvmNode | SolanaNode,
  order: LocalOrder,
  { asset: _, ...given }: SendOrder,
): Promise<Landed> {
  const { network, sender: walletAddress, asset } = order;
  // The chain and the token are named by what they are, so that the gateway's own names for them decide nothing.
  const named = { walletAddress, network: network.id, ...(asset.address !== NATIVE && { asset: asset.address }) };
  const build = async () => {
    const key = idempotencyKey ?? crypto.randomUUID();
    const ask = (signal: AbortSignal) => client.buildSend({ ...given, ...named }, { idempotencyKey: key, signal });
    const overdue = () => notBuilt(nameOf(ENDPOINTS.buildSend), key);
    return readBuilt(await inTime(ask, { deadlineAt, signal, overdue }), order, key);
  };
  const common = { order, build, signal, deadlineAt, mayRebuild: idempotencyKey === undefined };
  const job = { ...common, maxFee: readMaxFee(maxFee, network) };
  if (signer.family === "evm" && node.family === "evm") {
    return sendOnEvm({ ...job, node, signer: signer.evm, url: urls[0] ?? "" });
  }
  if (signer.family === "solana" && node.family === "solana")
    return sendOnSolana({ ...job, node, signer: signer.solana });
  throw new TypeError("an account and a node of two chain families");
}

/** The gateway is given a moment to see it, so that its records tell of it when this returns; some of it past the deadline. */
const [RECORD_MS, GRACE_MS] = [10_000, 1_000];

async function toSent(
  client: Pick<GatewayClient, "wait">,
  { signal, deadlineAt }: Signing,
  { network, asset }: LocalOrder,
  { built, transaction, bytes }: Landed,
): Promise<SentPayment> {
  const { paymentId, secret } = built;
  // Whatever the gateway says now, the chain has said already.
  const now = Date.now();
  const until = Math.min(now + RECORD_MS, Math.max(now, deadlineAt) + GRACE_MS);
  const ask = (signal: AbortSignal) => client.wait(paymentId, { timeoutMs: until - now, signal });
  const overdue = () => new Error("the gateway does not tell of it in time");
  const record = await inTime(ask, { deadlineAt: until, signal, overdue }).catch(() => undefined);
  const status = record?.status === "finalized" ? "finalized" : "confirmed";
  const payload = { transaction: bytes, secret };
  const isProof = network.family === "evm" || asset.address === NATIVE;
  const name = network.v1Name ?? network.id;
  const proof = isProof ? encodeHeader({ x402Version: 1, scheme: "exact", network: name, payload }) : undefined;
  return { paymentId, transaction, status, network: network.id, payload, proof, record };
}
