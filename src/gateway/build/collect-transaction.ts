// Collects a buyer's own transfer: his bytes are complete, so there is nothing to sign. Where the chain has them already there is
// nothing to send either.
import { traceOf } from "../../claims.js";
import type { TransactionProof } from "../../proof.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import { badProof } from "../receive/proof-value.js";
import { refuseVerdict, verifyProof } from "../receive/verify.js";
import { type Collecting, type Collection, VALID_MS } from "./collect.js";

export async function collectTransfer(collecting: Collecting, proof: TransactionProof): Promise<Outcome<Collection>> {
  const { parts, wanted, since, deadlineAt, signal } = collecting;
  const { network, receiver } = wanted.network;
  const { now, logger } = parts;
  const verdict = await verifyProof(proof, { receiver, now, deadlineAt, since, resource: undefined, signal, logger });
  if (verdict.outcome !== "valid") return refuseVerdict(verdict, now() >= deadlineAt);
  const id = await idOf(network.family, proof.transaction);
  if (id === undefined) return badProof("payment_malformed", { expected: "the bytes of a transaction" });
  if (verdict.minedAt !== undefined) {
    const lookup = await receiver.lookup({ ...traceOf(proof), transaction: id }, signal);
    if (lookup.outcome === "settled")
      return { ok: true, value: { ...nothingToDo(id), paid: { received: lookup.received } } };
  }
  const height = await heightOf(collecting);
  if (typeof height !== "number") return height;
  return {
    ok: true,
    value: {
      transaction: proof.transaction,
      signatureRequired: false,
      lastValidBlockHeight: height + Math.ceil(VALID_MS / network.blockMs),
      expiresAt: parts.now() + VALID_MS,
      fee: null,
      id,
    },
  };
}

const nothingToDo = (id: string): Collection => ({
  transaction: null,
  signatureRequired: false,
  lastValidBlockHeight: null,
  expiresAt: null,
  fee: null,
  id,
});

/** The id under which the chain knows these bytes. */
async function idOf(family: "evm" | "solana", base64: string): Promise<string | undefined> {
  if (family === "solana") return (await import("../../chains/solana/identity.js")).idOf(base64);
  const { readBase64 } = await import("../../chains/evm/identity.js");
  const read = await readBase64(base64);
  return read.ok ? read.transaction.hash : undefined;
}

/** The chain's height now; how long the bytes live beyond it stands in themselves, so what is told of it is advice. */
async function heightOf({ wanted, signal }: Collecting): Promise<number | Fault> {
  const { network, transfers } = wanted.network;
  const { rpc } = transfers;
  const unreadable = fault("UNAVAILABLE", `${network.name} cannot be asked now; nothing was done`);
  if ("batch" in rpc) {
    const reply = await rpc.batch([{ method: "eth_blockNumber", params: [] }], { signal });
    const { readQuantity } = await import("../../chains/evm/answers.js");
    const height = reply.ok ? readQuantity(reply.answers[0]) : undefined;
    return height === undefined ? unreadable : Number(height);
  }
  const reply = await rpc.call("getBlockHeight", [{ commitment: "confirmed" }], { signal });
  return reply.ok && Number.isSafeInteger(reply.result) ? Number(reply.result) : unreadable;
}
