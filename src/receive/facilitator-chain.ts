// What the `facilitator` receiver finds out without its facilitator: the fate of a lost settlement over the seller's own
// RPC, and the signature of a plain account in this process. The chain code is loaded on first use only.

import type { ChainReader } from "../chains/evm/chain.js";
import { findNetwork } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { Requirement } from "../requirement.js";
import type { HttpClient } from "./http.js";
import type { Lookup, ReadinessProblem, Trace, Verification } from "./receiver.js";

export interface ChainLookups {
  /** Mismatches between the RPC URLs and the networks asked for. A node that is down is none: it is needed for lookups only. */
  findProblems(requirements: readonly Requirement[], signal: AbortSignal): Promise<ReadinessProblem[]>;
  /** Without an RPC URL for the network the outcome stays `unknown`. */
  lookup(trace: Trace, signal: AbortSignal): Promise<Lookup>;
}

/** @param rpcUrl one URL for the one network in use, or one by network name */
export function createChainLookups(
  rpcUrl: string | Readonly<Record<string, string>> | undefined,
  http: HttpClient,
): ChainLookups {
  const urls = new Map<string, string>();
  if (typeof rpcUrl === "object") {
    for (const [name, url] of Object.entries(rpcUrl)) {
      const network = findNetwork(name);
      if (network) urls.set(network.id, url);
    }
  }
  const readers = new Map<string, ChainReader>();

  async function readerOf(id: string): Promise<ChainReader | undefined> {
    const network = findNetwork(id);
    const url = typeof rpcUrl === "string" ? rpcUrl : urls.get(id);
    if (url === undefined || network?.family !== "evm" || network.chainId === undefined) return undefined;
    const { chainId, blockMs } = network;
    const { createRpc } = await import("../chains/evm/rpc.js");
    const reader = readers.get(id) ?? { rpc: createRpc({ urls: [url], chainId }, http), blockMs };
    readers.set(id, reader);
    return reader;
  }

  return {
    async findProblems(requirements, signal) {
      const networks = [...new Set(requirements.map(({ network }) => network))];
      if (typeof rpcUrl === "string" && networks.length > 1) return [oneUrlForMany(networks)];
      const problems = await Promise.all(
        networks.map(async (network) => {
          const reply = await (await readerOf(network))?.rpc.batch([], { signal });
          return reply?.ok === false && reply.chainId ? wrongChain(network, reply.chainId) : undefined;
        }),
      );
      return problems.filter((problem) => problem !== undefined);
    },
    async lookup(trace, signal) {
      const reader = await readerOf(trace.network);
      if (!reader)
        return { outcome: "unknown", message: "only the chain could tell, and no rpcUrl is configured for it" };
      const { lookupOnChain } = await import("../chains/evm/lookup.js");
      return lookupOnChain(reader, trace, signal);
    },
  };
}

const oneUrlForMany = (networks: readonly string[]): ReadinessProblem => ({
  check: "rpcUrl",
  expected: `one URL for each of ${networks.join(", ")}`,
  got: "one URL for all of them",
  remedy: 'Write "rpcUrl" of facilitator() as a map from network to URL.',
});

const wrongChain = (
  network: string,
  { expected, got }: { readonly expected: number; readonly got: string },
): ReadinessProblem => ({
  check: "rpcUrl",
  expected: `chain id ${expected} for ${network}`,
  got: `chain id ${got}`,
  remedy: 'Give "rpcUrl" of facilitator() the URL of a node of that network.',
});

/**
 * Judges fields and signature in this process. Undefined where that cannot be done here: a contract wallet answers for
 * itself on the chain, so its payment has to be shown to the facilitator. A balance is not looked at.
 */
export async function checkLocally(
  proof: BoundProof,
  signatureKnown: boolean,
  now: number,
): Promise<Verification | undefined> {
  const { authorization, requirement } = proof;
  const refused = checkFields(proof, BigInt(Math.floor(now / 1000)));
  if (refused) return refused;
  const valid: Verification = { outcome: "valid", payer: authorization.from };
  if (signatureKnown) return valid;
  const chainId = findNetwork(requirement.network)?.chainId;
  if (chainId === undefined) return undefined;
  const [{ readSignature, isSignedBy }, { loadBackend }] = await loadSignatures();
  const form = readSignature(proof.signature);
  if (form.form !== "ecdsa") return undefined;
  const { name, version } = requirement.extra;
  const domain = { name, version, chainId, asset: requirement.asset };
  if (await isSignedBy(await loadBackend(), domain, authorization, form)) return valid;
  return { outcome: "invalid", code: "signature_invalid", reason: "invalid_exact_evm_payload_signature" };
}

const importSignatures = () => Promise.all([import("../chains/evm/signature.js"), import("../chains/evm/backend.js")]);
let signatures: ReturnType<typeof importSignatures> | undefined;

/** Kept, because even of a loaded module `import()` takes a good part of what the check itself does. */
function loadSignatures(): ReturnType<typeof importSignatures> {
  signatures ??= importSignatures().catch((error: unknown) => {
    signatures = undefined;
    throw error;
  });
  return signatures;
}

/** The signed fields against our requirement and the clock: asked again here, because nobody asks after this. */
function checkFields({ authorization, requirement }: BoundProof, now: bigint): Verification | undefined {
  const { to, value, validAfter, validBefore } = authorization;
  if (to.toLowerCase() !== requirement.payTo.toLowerCase()) {
    return refuse("recipient_mismatch", "invalid_exact_evm_payload_recipient_mismatch", requirement.payTo, to);
  }
  if (value !== requirement.amount) {
    const reason = "invalid_exact_evm_payload_authorization_value_mismatch";
    return refuse("amount_mismatch", reason, `${requirement.amount}`, `${value}`);
  }
  if (validAfter > now) {
    const reason = "invalid_exact_evm_payload_authorization_valid_after";
    return refuse("payment_not_yet_valid", reason, `validAfter up to ${now}`, `${validAfter}`);
  }
  if (validBefore <= now) {
    const reason = "invalid_exact_evm_payload_authorization_valid_before";
    return refuse("payment_expired", reason, `validBefore after ${now}`, `${validBefore}`);
  }
  return undefined;
}

type Invalid = Extract<Verification, { outcome: "invalid" }>;

const refuse = (code: Invalid["code"], reason: string, expected: string, got: string): Invalid => ({
  outcome: "invalid",
  code,
  reason,
  expected,
  got,
});
