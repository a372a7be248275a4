// Asks a gateway for the transaction that collects a proof (`POST /transaction/receive`) and reads its answer. Its word decides
// nothing about money: a transaction is compared before it is signed, "used" sends us to our own chain, and whatever is neither
// is unavailable and said in the log. Nothing is signed or sent here.
import * as z from "zod/mini";
import type { Builder, Built } from "../chains/builder.js";
import { fromBase64 } from "../chains/solana/bytes.js";
import { reasonOf } from "../errors.js";
import type { BoundProof } from "../proof.js";
import { hideKeys } from "../secret.js";
import type { Alarms } from "./alarms.js";
import { errorOf, faultOf } from "./hosted-answers.js";
import type { HostedApi } from "./hosted-api.js";
import type { HttpAnswer, HttpReply } from "./http.js";

export interface CollectorParts {
  readonly api: Pick<HostedApi, "collect">;
  readonly alarms: Alarms;
  readonly now: () => number;
  /** For one call; less where less is left. */
  readonly timeoutMs: number;
}

/** The answer, as far as it is read. */
const builtSchema = z.object({
  success: z.literal(true),
  transaction: z.nullable(z.string()),
  signatureRequired: z.boolean(),
  network: z.string(),
  recipient: z.string(),
});

/** @example const builder = createCollector({ api, alarms, now, timeoutMs: 5_000 }); */
export function createCollector({ api, alarms, now, timeoutMs }: CollectorParts): Builder {
  return {
    async build(proof, { resource, deadlineAt }) {
      const leftMs = Math.min(timeoutMs, deadlineAt - now());
      if (leftMs <= 0) return { outcome: "unavailable", message: "no time was left" };
      return readBuilt(await api.collect({ proof, resource, timeoutMs: leftMs }), proof, alarms);
    },
    distrust: (proof, message) => distrust(alarms, proof, message),
  };
}

function distrust(alarms: Alarms, { id, requirement }: BoundProof, message: string): void {
  alarms.raise("answer", "The gateway's transaction is not what collects this payment: nothing was signed or sent.", {
    proofId: id,
    network: requirement.network,
    message,
  });
}

/** Reads the answer of `POST /transaction/receive`. */
export function readBuilt(reply: HttpReply, proof: BoundProof, alarms: Alarms): Built {
  if (reply.outcome === "failed") return silent(alarms, `/transaction/receive: ${reply.message}`);
  const { status } = reply;
  if (status === 200) return readTransaction(reply, proof, alarms);
  const error = errorOf(reply);
  const message = `/transaction/receive answered ${status}${error ? ` ${error.code}` : ""}`;
  if (!error) {
    distrust(alarms, proof, message);
    return { outcome: "unavailable", message };
  }
  const facts = { status, code: error.code, message: hideKeys(error.message).slice(0, 300) };
  if (status === 401 || status === 403) {
    alarms.raise(
      "credentials",
      "The gateway refuses the API key: check gateway.apiKey, its plan and its scopes.",
      facts,
    );
    return { outcome: "unavailable", message };
  }
  if (status === 409) return { outcome: "used" };
  if (status === 400 && error.code === "INVALID_PAYMENT_PROOF") {
    const { code } = faultOf(error);
    if (code === "payment_already_used") return { outcome: "used" };
    return { outcome: "refused", code, reason: reasonOf(code, proof.version) };
  }
  if (status === 400) {
    alarms.raise("requirement", "The gateway builds no transaction for these terms; no buyer can mend that.", facts);
    return { outcome: "unavailable", message };
  }
  return silent(alarms, message);
}

function silent(alarms: Alarms, message: string): Built {
  alarms.raise("unreachable", "The gateway gives no transaction: payments wait.", { message });
  return { outcome: "unavailable", message };
}

function readTransaction(reply: HttpAnswer, proof: BoundProof, alarms: Alarms): Built {
  const parsed = builtSchema.safeParse(reply.body);
  const problem = parsed.success ? findMismatch(parsed.data, proof) : "expected a transaction, got another answer";
  const bytes = parsed.success && parsed.data.transaction !== null ? fromBase64(parsed.data.transaction) : undefined;
  if (problem === undefined && parsed.data?.transaction === null) return { outcome: "used" };
  if (problem === undefined && bytes) return { outcome: "transaction", bytes };
  const message = problem ?? "expected the base64 of a transaction, got another text";
  distrust(alarms, proof, message);
  return { outcome: "unavailable", message: `/transaction/receive: ${message}` };
}

/** What a positive answer says that contradicts the sale. */
function findMismatch(
  { network, recipient, signatureRequired, transaction }: z.infer<typeof builtSchema>,
  { requirement }: BoundProof,
): string | undefined {
  if (network !== requirement.network) return `expected network ${requirement.network}, got another one`;
  const spell = network.startsWith("eip155:") ? (text: string) => text.toLowerCase() : (text: string) => text;
  if (spell(recipient) !== spell(requirement.payTo))
    return `expected the recipient ${requirement.payTo}, got another one`;
  // The buyer's own transaction is complete; every other one waits for our signature.
  if (transaction === null || signatureRequired === (requirement.method !== "transaction")) return undefined;
  return `expected signatureRequired: ${!signatureRequired}`;
}
