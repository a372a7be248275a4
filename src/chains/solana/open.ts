// One Solana cluster as `local()` works on it: the fee payers and the RPC behind the verbs of a receiver. Its parts need no
// package beyond this one: the few bytes of a payment are read, signed and sent here.
// `local()` loads this file when a cluster is first needed.
import { systemClock } from "../../clock.js";
import type { BoundProof } from "../../proof.js";
import type { LocalOptions, LocalSolanaNetwork } from "../../receive/local-options.js";
import type { OpenedChain } from "../chain.js";
import type { GasWatch } from "../gas.js";
import { type SolanaChain, systemNow } from "./chain.js";
import { draftPayment } from "./draft.js";
import { createFailureLog } from "./failures.js";
import { finalityOnSolana } from "./finality.js";
import { identifyTransaction } from "./identity.js";
import type { SplProof } from "./judge.js";
import { lookupOnSolana } from "./lookup.js";
import type { NativeProof } from "./native-judge.js";
import { settleNative } from "./native-settle.js";
import { verifyNative } from "./native-verify.js";
import { checkReadiness } from "./ready.js";
import { createSolanaRpc } from "./rpc.js";
import { settleOnSolana } from "./settle.js";
import { toSolanaAccount } from "./settlers.js";
import { createStatusWatch } from "./statuses.js";
import { DEFAULT_CAPS } from "./terms.js";
import { verifyOnSolana } from "./verify.js";

export interface SolanaParts {
  /** Who is told what the settlers hold. */
  readonly gas?: GasWatch;
}

/** Rejects with a sentence for the seller, without a key, where a key is none. */
export async function openSolanaChain(
  one: LocalSolanaNetwork,
  all: LocalOptions,
  parts: SolanaParts = {},
): Promise<OpenedChain> {
  const chain = createChain(one, all, parts);
  const [settler = ""] = chain.settlers.keys();
  return {
    settler,
    ready: (requirements, signal) => checkReadiness(chain, requirements, signal),
    identify: ({ transaction }, _network, signal) => identifyTransaction({ transaction }, { rpc: chain.rpc, signal }),
    draft: (requirement, payer, signal) => draftPayment(chain, requirement, payer, signal),
    async verify(proof, context) {
      if (isSpl(proof)) return verifyOnSolana(chain, proof, context);
      if (isNative(proof)) return verifyNative(chain, proof, context);
      return {
        outcome: "unavailable",
        code: "misconfigured",
        message: `not taken on this network: ${proof.requirement.method}`,
      };
    },
    async settle(proof, context) {
      if (isSpl(proof)) return settleOnSolana(chain, proof, context);
      if (isNative(proof)) return settleNative(chain, proof, context);
      return { outcome: "unavailable", message: `not taken on this network: ${proof.requirement.method}` };
    },
    lookup: (trace, signal) => lookupOnSolana(chain, trace, signal),
    finality: (trace, signal) => finalityOnSolana(chain, trace, signal),
    close() {
      chain.statuses.close();
      chain.failures.close();
      chain.rpc.close();
    },
  };
}

const isSpl = (proof: BoundProof): proof is SplProof =>
  proof.kind === "transaction" && proof.requirement.method === "spl";

const isNative = (proof: BoundProof): proof is NativeProof =>
  proof.kind === "transaction" && proof.requirement.method === "transaction";

function createChain(
  { network, urls, settlers, options }: LocalSolanaNetwork,
  { timeoutMs, logger }: LocalOptions,
  { gas }: SolanaParts,
): SolanaChain {
  const { maxComputeUnits, maxUnitPrice, maxTotalFeeLamports, tokens = [] } = options;
  const accounts = settlers.map(toSolanaAccount);
  if (accounts.length === 0) throw new RangeError("a network needs at least one settler");
  const rpc = createSolanaRpc({ urls, network: network.id, ...(timeoutMs !== undefined && { timeoutMs }) });
  return {
    network: network.id,
    rpc,
    statuses: createStatusWatch(rpc, systemNow),
    failures: createFailureLog(network.id, logger, systemClock),
    settlers: new Map(accounts.map((account) => [account.address, account])),
    caps: {
      maxComputeUnits: maxComputeUnits ?? DEFAULT_CAPS.maxComputeUnits,
      maxUnitPrice: maxUnitPrice ?? DEFAULT_CAPS.maxUnitPrice,
      maxTotalFeeLamports: maxTotalFeeLamports ?? DEFAULT_CAPS.maxTotalFeeLamports,
    },
    allowed: new Map(tokens.map(({ address, allow = [] }) => [address, allow])),
    ...(gas && { gas }),
    logger,
    now: systemNow,
  };
}
