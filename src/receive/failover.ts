// The `failover` receiver: several receivers in order, each behind a circuit breaker. The next one verifies where one does not
// answer; it settles only where nothing of the settlement has left for the one before.
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.js";
import { consoleLogger, harmless } from "../logger.js";
import type { TransactionPayload } from "../wire/payload.js";
import { finalityByAll, lookupByAll } from "./failover-lookup.js";
import { createMember, type Member } from "./failover-member.js";
import { FAILOVER, type FailoverOptions, readFailoverOptions } from "./failover-options.js";
import { checkMembers } from "./failover-ready.js";
import { settleByOne, staysPut } from "./failover-settle.js";
import { offeredFeePayer, ownersOf } from "./failover-solana.js";
import { verifyByFirst } from "./failover-verify.js";
import { identityOfAll } from "./identity.js";
import type { Identified, Receiver } from "./receiver.js";

export type { FailoverOptions } from "./failover-options.js";

const DEFAULT_FAILURES = 3;
const DEFAULT_PAUSE_MS = 10_000;
/** Settlements whose receiver is remembered. */
const MAX_ASKED = 10_000;

/**
 * Receives through the first of several receivers that works. A payment that one of them may have taken is never given to
 * another one; what became of it is asked of all of them, so this survives a restart with the same list. A receiver is left out
 * for `pauseMs` after `failures` failures in a row. Settling may take as long as all of them together.
 *
 * @throws PaywallConfigError with every problem.
 * @example
 * const receive = failover([facilitator({ url, rpcUrl }), local({ networks: { base: { rpcUrl, settler } } })]);
 * const pay = createPaywall({ payTo: "0x…", network: "base", receive });
 */
export function failover(receivers: readonly Receiver[], options: FailoverOptions = {}): Receiver {
  return createFailover(receivers, options, systemClock);
}

/** `failover()` with its clock given. */
export function createFailover(list: readonly Receiver[], input: FailoverOptions, clock: Clock): Receiver {
  const options = readFailoverOptions(list, input);
  const { receivers, verifyMs } = options;
  const logger = harmless(options.logger ?? consoleLogger);
  const { failures = DEFAULT_FAILURES, pauseMs = DEFAULT_PAUSE_MS } = options;
  const members = receivers.map((one, at) => createMember(one, at, { clock, logger, failures, pauseMs }));
  const networks = receivers.every((one) => one.networks) && receivers.flatMap((one) => one.networks ?? []);
  const askedFor = new LRUCache<string, Member>({ max: MAX_ASKED });

  return {
    name: FAILOVER,
    identity: identityOfAll(FAILOVER, receivers),
    ...(receivers.every(({ evidence }) => evidence === "chain") && { evidence: "chain" as const }),
    ...(networks && { networks: [...new Set(networks)] }),
    methods: [...new Set(receivers.flatMap(({ methods = ["eip3009"] }) => methods))],
    feePayer: (network) => offeredFeePayer(members, network),
    identify: (payload, network, signal) => identifyByFirst(receivers, payload, network, signal),
    settleMs(network) {
      const each = receivers
        .filter((one) => one.networks?.includes(network) ?? true)
        .map((one) => one.settleMs(network));
      return staysPut(network) ? Math.max(0, ...each) : each.reduce((sum, one) => sum + one, 0);
    },
    ready: (requirements, signal) => checkMembers(members, requirements, signal),
    async verify(given, context) {
      const { members: able, proof } = await ownersOf(members, given);
      return verifyByFirst(able, proof, context, { clock, verifyMs });
    },
    async settle(given, context) {
      const { members: able, proof, isOwned } = await ownersOf(members, given);
      const asking = (member: Member) => void askedFor.set(context.settlementId, member);
      return settleByOne(isOwned ? able : [], proof, context, { clock, logger, asking });
    },
    async lookup(trace, signal, again) {
      const own = again && { ...again, proof: (await ownersOf(members, again.proof)).proof };
      // Invariant: only who was asked to settle it may be sent it once more; after a restart nobody is known to be that one.
      const asked = again && askedFor.get(again.settlementId);
      return lookupByAll(members, trace, { clock, signal }, (member) => (member === asked ? own : undefined));
    },
    ...(receivers.some((one) => one.finality) && {
      finality: (trace, signal) => finalityByAll(members, trace, { clock, signal }),
    }),
    share(store) {
      for (const one of receivers) one.share?.(store);
    },
    observe(tell) {
      const ends = receivers.map((one) => one.observe?.(tell));
      return () => {
        for (const end of ends) end?.();
      };
    },
    async close() {
      const closed = await Promise.allSettled(receivers.map((one) => one.close()));
      for (const one of closed) if (one.status === "rejected") throw one.reason;
    },
  };
}

/** Bytes are the same for everyone who can read them; behind a mere id stands what the first finds who knows it. */
async function identifyByFirst(
  receivers: readonly Receiver[],
  payload: TransactionPayload,
  network: string,
  signal: AbortSignal,
): Promise<Identified> {
  let last: Identified = { ok: false, code: "unsupported_scheme" };
  for (const one of receivers) {
    if (one.networks?.includes(network) === false) continue;
    const found = await one.identify?.(payload, network, signal);
    if (found?.ok) return found;
    if (found && found.code !== "unsupported_scheme") last = found;
  }
  return last;
}
