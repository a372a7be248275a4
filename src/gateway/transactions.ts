// `GET /transaction/{transactionId}`: the bytes of a public transaction, for receivers that have no node of their own and are
// shown a mere id as a payment. Whoever asks checks that they are what was asked for.
import type { Engine } from "./engine.js";
import { type Fault, fault, invalidField } from "./errors.js";
import type { GatewayParts } from "./parts.js";

/** The chain is asked for so long. */
const ASK_MS = 5_000;

/** @example const engine = { ...others, transaction: createTransactions(parts) }; */
export function createTransactions({ networks }: Pick<GatewayParts, "networks">): Engine["transaction"] {
  return async ({ key, signal }, { transactionId, network: name }) => {
    const network = networks.find(name);
    if (!network || network.network.testnet !== (key.mode === "test")) return unknownNetwork(name, key.mode);
    const id = network.network.family === "evm" ? transactionId.toLowerCase() : transactionId;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
    const found = await network.receiver.identify?.({ transaction: id }, network.network.id, limit);
    if (found?.ok) {
      return { ok: true, value: { success: true, network: network.network.id, transaction: found.transaction } };
    }
    if (found?.code.startsWith("receiver_")) {
      return fault("PAYMENT_VERIFICATION_FAILED", "the chain could not be asked for the transaction", {
        retryAfter: 2,
      });
    }
    return fault("NOT_FOUND", `no node of ${network.network.name} knows a transaction with this id`);
  };
}

const unknownNetwork = (name: string, mode: string): Fault =>
  invalidField("network", `expected a ${mode} network of this gateway; got ${JSON.stringify(name)}`);
