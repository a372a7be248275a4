// `POST /transaction/receive`: verifies a proof and builds what collects it, for the seller to sign and send. Keys never leave him;
// the proof is recorded once, globally, and the gateway watches the money arrive. Source: gateway-spec, design §7.
import type { SplProof } from "../../chains/solana/judge.js";
import type { BoundProof } from "../../proof.js";
import type { Caller } from "../caller.js";
import type { Engine } from "../engine.js";
import type { Fault, Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { openForeign } from "../receive/foreign.js";
import { memoryOf, readBoundProof, readWanted } from "../receive/prepare.js";
import type { Wanted } from "../receive/requirement.js";
import { permitUrl, type Resolve } from "../receive/safe-url.js";
import { refuseVerdict, verifyProof } from "../receive/verify.js";
import type { BuildAnswer, BuildReceiveRequest } from "../schemas/index.js";
import { readAmount } from "../terms.js";
import { type Collecting, type Collection, refuse } from "./collect.js";
import { collectAuthorization } from "./collect-evm.js";
import { collectTokens } from "./collect-solana.js";
import { collectTransfer } from "./collect-transaction.js";
import { findHolder, PAID, recordBuilt, toAnswer } from "./receive-record.js";

/** The specification's default time for a verification. */
const VERIFY_MS = 30_000;

export interface BuildReceiveOptions {
  /** In place of the system's resolver, for the names of foreign facilitators. */
  readonly resolve?: Resolve;
}

/** @example const engine = { ...others, buildReceive: createBuildReceive(parts) }; */
export const createBuildReceive =
  (parts: GatewayParts, options: BuildReceiveOptions = {}): Engine["buildReceive"] =>
  async (caller, request) => {
    const deadlineAt = parts.now() + VERIFY_MS;
    const read = await readBuild(parts, caller, request);
    return read.ok ? build(parts, options, { caller, request, ...read.value, deadlineAt }) : read;
  };

/** One request, read; its proof is for what is wanted. */
interface Building extends Pick<Collecting, "wanted" | "proof" | "priorityFee" | "deadlineAt"> {
  readonly caller: Caller;
  readonly request: BuildReceiveRequest;
}

async function readBuild(
  parts: GatewayParts,
  caller: Caller,
  request: BuildReceiveRequest,
): Promise<Outcome<Pick<Building, "wanted" | "proof" | "priorityFee">>> {
  const wanted = await readWanted(parts, caller, request);
  if (!wanted.ok) return wanted;
  const priorityFee = readPriorityFee(wanted.value, request);
  if (!priorityFee.ok) return priorityFee;
  // On Solana the wallet itself pays the network fee: nobody else's signature is missing.
  const bound = await readBoundProof(wanted.value, request, { logger: parts.logger, feePayer: wanted.value.payTo });
  if (!bound.ok) return bound;
  if (bound.value.requirement.method !== "eip3009" && request.priorityFee !== undefined) {
    return refuse("priorityFee", "the buyer has signed this transaction, its fee included: leave it out");
  }
  return { ok: true, value: { wanted: wanted.value, proof: bound.value, priorityFee: priorityFee.value } };
}

async function build(
  parts: GatewayParts,
  options: BuildReceiveOptions,
  building: Building,
): Promise<Outcome<BuildAnswer>> {
  const { caller, request, ...common } = building;
  const { wanted, proof } = common;
  const holder = await findHolder(parts, caller, proof);
  if (holder?.outcome === "refused") return holder.fault;
  if (holder?.outcome === "paid") return toAnswer(wanted, holder.payment, PAID);
  const doubted = await askForeign(parts, options, building);
  if (doubted) return doubted;
  const since = await memoryOf(parts.database, caller.key.account);
  const collecting = { ...common, parts, since, signal: caller.signal };
  const collected = await collect(collecting);
  if (!collected.ok) return collected;
  const recorded = await recordBuilt(parts, caller, request, collecting, collected.value, holder?.payment);
  return "ok" in recorded ? recorded : toAnswer(wanted, recorded, collected.value);
}

/** A hundredth of the native currency, on every endpoint. Source: design §7. */
function readPriorityFee({ network }: Wanted, { priorityFee }: BuildReceiveRequest): Outcome<bigint | undefined> {
  if (priorityFee === undefined) return { ok: true, value: undefined };
  const [native] = network.assets;
  const read = readAmount("priorityFee", priorityFee, native);
  if (!read.ok || read.value * 100n <= 10n ** BigInt(native.decimals)) return read;
  return refuse("priorityFee", `expected at most 0.01 ${native.symbol}`);
}

/** A foreign facilitator is asked before we judge; it can only refuse, because our own verification follows. */
async function askForeign(
  { settings, logger, now }: GatewayParts,
  options: BuildReceiveOptions,
  asked: Building,
): Promise<Fault | undefined> {
  const { caller, request, proof, deadlineAt } = asked;
  if (request.facilitatorUrl === undefined) return undefined;
  const url = permitUrl(request.facilitatorUrl, settings.facilitatorUrls);
  if (!url.ok) return url;
  if (proof.requirement.method !== "eip3009") {
    return refuse("facilitatorUrl", "no facilitator pays for this transaction, so none can judge it: leave it out");
  }
  const foreign = await openForeign(url.value, proof, { ...options, logger, now, deadlineAt });
  if (!foreign.ok) return foreign;
  try {
    const { receiver } = foreign.value;
    const { signal } = caller;
    const verdict = await verifyProof(proof, {
      receiver,
      now,
      deadlineAt,
      since: 0,
      resource: request.resource,
      signal,
      logger,
    });
    return verdict.outcome === "valid" ? undefined : refuseVerdict(verdict, now() >= deadlineAt);
  } finally {
    await foreign.value.close();
  }
}

function collect(collecting: Collecting): Promise<Outcome<Collection>> {
  const { proof } = collecting;
  if (proof.kind === "authorization") return collectAuthorization(collecting, proof);
  return isSpl(proof) ? collectTokens(collecting, proof) : collectTransfer(collecting, proof);
}

const isSpl = (proof: BoundProof): proof is SplProof => proof.requirement.method === "spl";
