// Settles what somebody else has built: nothing is signed or sent but what this process would have built itself, or what the buyer
// has signed. The builder's answer can keep a payment from being collected and can never move money elsewhere.
import type { Builder } from "../chains/builder.js";
import type { OpenedChain } from "../chains/chain.js";
import { fromBase64, sameBytes, toBase64 } from "../chains/solana/bytes.js";
import { systemClock } from "../clock.js";
import { type ErrorCode, reasonOf } from "../errors.js";
import type { BoundProof } from "../proof.js";
import { loadOnce } from "./load-once.js";
import type { LocalReceiver } from "./local-receiver.js";
import type { Receiver, SettleContext, Settlement } from "./receiver.js";

const loadTransactions = loadOnce(() => import("../chains/solana/transaction.js"));

/** Is this payee the wallet that signs on this chain? */
export const isWallet = ({ settler }: OpenedChain, payTo: string): boolean =>
  settler.startsWith("0x") ? settler.toLowerCase() === payTo.toLowerCase() : settler === payTo;

/** The `settle` of a receiver whose wallet collects for itself. `own` was made with the same builder. */
export function collectBuilt(own: LocalReceiver, builder: Builder): Receiver["settle"] {
  return async (proof, context) => {
    const { network, payTo, method } = proof.requirement;
    const opened = await own.open(network);
    if (!opened.ok) return { outcome: "unavailable", message: opened.message };
    const { chain } = opened;
    // Invariant: the wallet signs for itself alone.
    if (!isWallet(chain, payTo)) {
      return { outcome: "unavailable", message: `payTo is ${payTo}, and the wallet is ${chain.settler}` };
    }
    // An authorization is built, and compared with what this process would have built, where it is settled.
    if (method === "eip3009") return own.settle(proof, context);
    const unsettled = await askFirst(builder, chain, proof, context);
    return unsettled ?? own.settle(proof, context);
  };
}

/**
 * What the buyer has signed leaves the gateway nothing to build: its answer must be the buyer's own bytes. Undefined where they
 * may be settled.
 */
async function askFirst(
  builder: Builder,
  chain: OpenedChain,
  proof: BoundProof,
  context: SettleContext,
): Promise<Settlement | undefined> {
  const built = await builder.build(proof, context);
  if (built.outcome === "transaction") {
    if (await isOwnTransaction(built.bytes, proof)) return undefined;
    const message = "expected the very transaction that the buyer has signed, got another one";
    builder.distrust(proof, message);
    return { outcome: "unavailable", message };
  }
  return built.outcome === "used" ? whenUsed(chain, proof, context) : built;
}

/**
 * A complete transaction byte for byte; one in which our signature is missing by its message, which is what the buyer signed:
 * the empty slot is anybody's to fill.
 */
async function isOwnTransaction(bytes: Uint8Array, proof: BoundProof): Promise<boolean> {
  if (proof.kind !== "transaction") return false;
  const own = fromBase64(proof.transaction);
  if (!own) return false;
  if (proof.requirement.method !== "spl") return sameBytes(own, bytes);
  const { decodeTransaction } = await loadTransactions();
  const [theirs, ours] = [toBase64(bytes), proof.transaction].map(decodeTransaction);
  return !!theirs?.ok && !!ours?.ok && sameBytes(theirs.transaction.message, ours.transaction.message);
}

/**
 * The gateway says that the payment has come, or is somebody's. Our own chain decides: what it shows is settled as ever, what it
 * does not show is not sent, because somebody else may be about to. Undefined where it stands in a block.
 */
async function whenUsed(
  chain: OpenedChain,
  proof: BoundProof,
  { resource, deadlineAt }: SettleContext,
): Promise<Settlement | undefined> {
  const signal = AbortSignal.timeout(Math.max(0, deadlineAt - systemClock.now()));
  const seen = await chain.verify(proof, { signatureKnown: false, resource, signal });
  const refused = (code: ErrorCode, reason = reasonOf(code, proof.version)): Settlement => ({
    outcome: "refused",
    code,
    reason,
  });
  if (seen.outcome === "used") return refused("payment_already_used");
  if (seen.outcome === "invalid") return refused(seen.code, seen.reason);
  if (seen.outcome === "unavailable") return { outcome: "unavailable", message: seen.message };
  if (seen.minedAt !== undefined) return undefined;
  const message = "the gateway says that it has been collected, and the chain does not show it yet";
  return { outcome: "unavailable", message };
}
