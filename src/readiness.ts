// Start-up: the receiver's checks against the live chain, once for every kind of requirement (network, asset, payee, domain).
// Until they are done proofs wait, then get 503; a mismatch closes the paywall and logs both values, and is looked at anew when
// a request comes that it would refuse; a network failure is tried again, for ever.
import { readyBy } from "./answered.js";
import type { Clock } from "./clock.js";
import { PaywallConfigError, PaywallError } from "./errors.js";
import type { Readiness, Receiver } from "./receive/receiver.js";
import { checkKeyOf as keyOf, type Requirement } from "./requirement.js";
import type { Logger } from "./settings.js";

export type StartState = "starting" | "ready" | "misconfigured";

export interface ReadinessGate {
  /** Adds requirements that the checks must cover, and begins checking. */
  cover(requirements: readonly Requirement[]): void;
  /** The state for these requirements, after at most five seconds; ten where a problem was mended and something else is unchecked. */
  settled(requirements: readonly Requirement[]): Promise<StartState>;
  /** Is one of their networks known to be configured wrongly? Only `settled` finds out that it is no more. */
  isMisconfigured(requirements: readonly Requirement[]): boolean;
  /** Resolves when everything covered so far is checked; rejects with the mismatches. */
  ready(): Promise<void>;
  close(): void;
}

const WAIT_MS = 5000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;
const CHECK_TIMEOUT_MS = 10_000;
/** How long a problem is held against the network before it is looked at anew. */
const STANDS_MS = {
  /** Another state of the chain mends it, such as gas for a settler: a request waits for the new look. */
  passing: 10_000,
  /** As a rule only another configuration mends it, but one odd answer of a node or a service looks the same: no request waits. */
  mismatch: 60_000,
  /** Receiver or store say themselves that no asking changes it. */
  final: Number.POSITIVE_INFINITY,
};
/** How long what requests alone have asked for keeps shut what else is sold there, once nobody asks for it any more. */
const LEFT_MS = 300_000;
/** Beyond the time that a step may take, so that a step that lives is not taken for dead. */
const MARGIN_MS = 1000;

const HOLD_MS = 60_000;

/** Who waits for the start has nothing else to do, and Node ends a process in which nothing but idle timers is left (exit code 13). */
function holdProcess(): () => void {
  try {
    const timer = setInterval(() => {}, HOLD_MS);
    return () => clearInterval(timer);
  } catch {
    // A runtime that allows no timer yet has no process to hold either.
    return () => {};
  }
}

/** What is asked whether it is ready; a PaywallConfigError that it rejects with closes the paywall for good. */
type Checked = Pick<Receiver, "ready">;

/** One network that cannot be reached, or is configured wrongly, says nothing about the others. */
export function createReadiness(receiver: Checked, clock: Clock, logger: Logger): ReadinessGate {
  const gates = new Map<string, NetworkGate>();
  const gateOf = (network: string) => {
    const gate = gates.get(network) ?? createNetworkGate(receiver, clock, logger);
    gates.set(network, gate);
    return gate;
  };
  const byNetwork = (requirements: readonly Requirement[]) => {
    const networks = new Set(requirements.map(({ network }) => network));
    return [...networks].map((network) => ({
      gate: gateOf(network),
      own: requirements.filter((requirement) => requirement.network === network),
    }));
  };
  return {
    cover(requirements) {
      for (const { gate, own } of byNetwork(requirements)) gate.cover(own);
    },
    async settled(requirements) {
      const [only] = requirements;
      if (only && requirements.length === 1) return gateOf(only.network).settled(requirements);
      const states = await Promise.all(byNetwork(requirements).map(({ gate, own }) => gate.settled(own)));
      return states.find((state) => state !== "ready") ?? "ready";
    },
    isMisconfigured: (requirements) => requirements.some((one) => gates.get(one.network)?.isMisconfigured(one)),
    async ready() {
      // A paywall with nothing to check yet (a price function) still finds out whether its receiver answers.
      if (gates.size === 0) gateOf("");
      await Promise.all([...gates.values()].map((gate) => gate.ready()));
    },
    close() {
      for (const gate of gates.values()) gate.close();
    },
  };
}

/** Only another configuration would help. */
interface Refused {
  readonly state: "refused";
  readonly error: PaywallConfigError;
}

type NetworkGate = Omit<ReadinessGate, "isMisconfigured"> & { isMisconfigured(requirement: Requirement): boolean };

function createNetworkGate(receiver: Checked, clock: Clock, logger: Logger): NetworkGate {
  const checked = new Set<string>();
  /** Those that were found checked before: a fixed price has the same objects every time. */
  const known = new WeakSet<Requirement>();
  const pending = new Map<string, { readonly requirement: Requirement; readonly until: number }>();
  /** What is shut by itself until its check is passed: it was part of a problem that nobody has asked for since. */
  const left = new Set<string>();
  const waiting = new Set<() => void>();
  let started = false;
  // On Workers whatever a request began dies with that request, without a word, and nothing can be begun outside of one.
  // So a run of checks is believed in until its next step is overdue, and the first request that waits for the checks
  // begins them anew, because it lives as long as it waits.
  let run = 0;
  let stepDueAt = 0;
  let begunByRequest = false;
  let giveUp = () => {};
  let problem: PaywallConfigError | undefined;
  let stands: keyof typeof STANDS_MS = "final";
  let lapsesAt = Number.POSITIVE_INFINITY;
  /** Is a problem that has lapsed being looked at anew? It stands until the receiver has answered. */
  let rechecking = false;
  /** What was logged as failed. */
  let logged = "";
  let closed = false;

  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const isDone = () => closed || (problem === undefined ? started && pending.size === 0 : !rechecking);

  /** @param failing what is told once: looked at again and again, a shop that stays shut would fill the log */
  const refuseBy = (error: PaywallConfigError, kind: keyof typeof STANDS_MS, failing: string) => {
    problem = error;
    stands = kind;
    lapsesAt = clock.now() + STANDS_MS[kind];
    rechecking = false;
    if (failing !== logged) logger.error(error.message);
    logged = failing;
  };

  /**
   * Makes the checks anew where a problem has lapsed: no timer does it, so what a request waits for holds on Workers.
   * Invariant: until they are passed nothing is offered, because a buyer would pay what nobody takes.
   */
  const recheck = (asked?: readonly Requirement[]): void => {
    if (problem === undefined) return;
    const now = clock.now();
    const isDue = now >= lapsesAt;
    // What a request asks for is looked at with the rest: the problem may be the network's, and found by what is left below.
    for (const one of asked ?? []) if (isDue || pending.has(keyOf(one))) owe(one, now + LEFT_MS);
    if (!isDue) return;
    // Nobody waits for this look, so it may die unheard (Workers): it counts as one all the same.
    if (stands === "mismatch") lapsesAt = clock.now() + STANDS_MS.mismatch;
    if (asked && stands === "mismatch") leave(now);
    rechecking = true;
    start(asked !== undefined);
  };

  const owe = (requirement: Requirement, until: number) => {
    const key = keyOf(requirement);
    pending.set(key, { requirement, until: Math.max(until, pending.get(key)?.until ?? 0) });
  };

  /** Invariant: what is left is sold and offered again only once its own check is passed. */
  const leave = (now: number) => {
    for (const [key, { until }] of pending) {
      if (until > now) continue;
      pending.delete(key);
      checked.delete(key);
      left.add(key);
    }
  };
  const isShut = (requirement: Requirement) => problem !== undefined || (left.size > 0 && left.has(keyOf(requirement)));

  async function attempt(requirements: readonly Requirement[], superseded: AbortSignal): Promise<Readiness | Refused> {
    try {
      const signal = AbortSignal.any([superseded, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
      return await readyBy(receiver, requirements, signal);
    } catch (error) {
      if (error instanceof PaywallConfigError) return { state: "refused", error };
      return { state: "unreachable", message: String(error) };
    }
  }

  async function check(own: number, superseded: AbortSignal): Promise<void> {
    let delay = FIRST_RETRY_MS;
    while (!isDone() && own === run) {
      const round = [...pending];
      stepDueAt = clock.now() + CHECK_TIMEOUT_MS + MARGIN_MS;
      const result = await attempt(
        round.map(([, { requirement }]) => requirement),
        superseded,
      );
      // Invariant: a receiver that takes no notice of the signal answers for a state of the chain that another run has looked at since.
      if (own !== run) break;
      if (result.state === "ready") {
        for (const [key] of round) {
          pending.delete(key);
          left.delete(key);
          checked.add(key);
        }
        started = true;
        problem = undefined;
        rechecking = false;
        if (logged !== "") logger.info("the start-up checks are passed now");
        logged = "";
      } else if (result.state === "misconfigured") {
        const lapses = result.problems.every(({ passing }) => passing);
        refuseBy(toError(result), lapses ? "passing" : "mismatch", wordsOf(result));
      } else if (result.state === "refused") {
        refuseBy(result.error, "final", result.error.message);
      } else {
        logger.warn("the start-up checks could not be made and will be tried again", { message: result.message });
        // Nobody waits for it: the next request that it would refuse has it looked at anew, and no timer runs until then.
        if (stands === "mismatch") rechecking = false;
        if (isDone()) break;
        stepDueAt = clock.now() + delay + MARGIN_MS;
        if (!(await pause(delay))) break;
        delay = Math.min(delay * 2, MAX_RETRY_MS);
      }
    }
    if (own === run) stepDueAt = 0;
    if (isDone()) wake();
  }

  /** False where the runtime allows no timer yet: the next request begins again. */
  async function pause(ms: number): Promise<boolean> {
    try {
      await new Promise<void>((resolve) => clock.after(ms, resolve));
      return true;
    } catch (error) {
      logger.debug("the start-up checks wait for the first payment", { reason: String(error) });
      return false;
    }
  }

  const start = (byRequest = false) => {
    const alive = clock.now() < stepDueAt;
    if (isDone() || (alive && (begunByRequest || !byRequest))) return;
    giveUp();
    const superseded = new AbortController();
    giveUp = () => superseded.abort();
    begunByRequest = byRequest;
    run += 1;
    void check(run, superseded.signal);
  };
  const wait = (ms?: number) =>
    new Promise<void>((resolve) => {
      if (isDone()) return resolve();
      waiting.add(resolve);
      if (ms === undefined) return;
      const cancel = clock.after(ms, () => {
        waiting.delete(resolve);
        waiting.delete(cancel);
        resolve();
      });
      waiting.add(cancel);
    });

  const cover = (requirements: readonly Requirement[], byRequest = false) => {
    const until = byRequest ? clock.now() + LEFT_MS : Number.POSITIVE_INFINITY;
    for (const one of requirements) if (!checked.has(keyOf(one))) owe(one, until);
    start(byRequest);
  };

  return {
    cover: (requirements) => cover(requirements),
    async settled(requirements) {
      if (problem) {
        recheck(requirements);
        if (!rechecking || stands === "mismatch") return "misconfigured";
        await wait(WAIT_MS);
        if (problem) return "misconfigured";
      }
      if (requirements.every((one) => known.has(one) && !isShut(one))) return "ready";
      if (!requirements.every((requirement) => checked.has(keyOf(requirement)))) {
        cover(requirements, true);
        await wait(WAIT_MS);
      }
      if (requirements.some(isShut)) return "misconfigured";
      if (!requirements.every((requirement) => checked.has(keyOf(requirement)))) return "starting";
      for (const requirement of requirements) known.add(requirement);
      return "ready";
    },
    isMisconfigured: isShut,
    async ready() {
      const release = holdProcess();
      try {
        recheck();
        start();
        await wait();
      } finally {
        release();
      }
      if (problem) throw problem;
      if (!started || pending.size > 0)
        throw new PaywallError("not_ready", { got: "closed before the checks were done" });
    },
    close() {
      closed = true;
      wake();
    },
  };
}

/** Without the figures of what the chain mends: the price of gas in them changes each time. */
const wordsOf = ({ problems }: Extract<Readiness, { state: "misconfigured" }>): string =>
  problems.map(({ check, expected, got, passing }) => (passing ? check : `${check}: ${expected}, ${got}`)).join("|");

function toError({ problems }: Extract<Readiness, { state: "misconfigured" }>): PaywallConfigError {
  return new PaywallConfigError(
    problems.map(({ check, expected, got, remedy }) => ({
      path: check,
      code: "invalid",
      message: `expected ${expected}, got ${got}. ${remedy}`,
    })),
  );
}
