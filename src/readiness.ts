// Start-up: the receiver's checks against the live chain, once for every kind of requirement (network, asset, payee, domain).
// Until they are done proofs wait, then get 503; a mismatch closes the paywall for good and logs both values; a network
// failure is tried again, for ever.
import type { Clock } from "./clock.js";
import { PaywallConfigError } from "./errors.js";
import type { Readiness, Receiver } from "./receive/receiver.js";
import type { Requirement } from "./requirement.js";
import type { Logger } from "./settings.js";

export type StartState = "starting" | "ready" | "misconfigured";

export interface ReadinessGate {
  /** Adds requirements that the checks must cover, and begins checking. */
  cover(requirements: readonly Requirement[]): void;
  /** The state for these requirements, after at most five seconds. */
  settled(requirements: readonly Requirement[]): Promise<StartState>;
  isMisconfigured(): boolean;
  /** Resolves when everything covered so far is checked; rejects with the mismatches. */
  ready(): Promise<void>;
  close(): void;
}

const WAIT_MS = 5000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;
const CHECK_TIMEOUT_MS = 10_000;

const keyOf = ({ network, asset, payTo, extra }: Requirement): string =>
  [network, asset, payTo, extra.name, extra.version].join("|");

export function createReadiness(receiver: Receiver, clock: Clock, logger: Logger): ReadinessGate {
  const checked = new Set<string>();
  const pending = new Map<string, Requirement>();
  const waiting = new Set<() => void>();
  let started = false;
  let running = false;
  let problem: PaywallConfigError | undefined;
  let closed = false;

  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const isDone = () => problem !== undefined || closed || (started && pending.size === 0);

  async function attempt(requirements: readonly Requirement[]): Promise<Readiness> {
    try {
      return await receiver.ready(requirements, AbortSignal.timeout(CHECK_TIMEOUT_MS));
    } catch (error) {
      return { state: "unreachable", message: String(error) };
    }
  }

  async function check(): Promise<void> {
    let delay = FIRST_RETRY_MS;
    while (!isDone()) {
      const round = [...pending];
      const result = await attempt(round.map(([, requirement]) => requirement));
      if (result.state === "ready") {
        for (const [key] of round) {
          pending.delete(key);
          checked.add(key);
        }
        started = true;
      } else if (result.state === "misconfigured") {
        problem = toError(result);
        logger.error(problem.message);
      } else {
        logger.warn("the start-up checks could not be made and will be tried again", { message: result.message });
        await new Promise<void>((resolve) => clock.after(delay, resolve));
        delay = Math.min(delay * 2, MAX_RETRY_MS);
      }
    }
    running = false;
    wake();
  }

  const start = () => {
    if (running || isDone()) return;
    running = true;
    void check();
  };
  const wait = (ms?: number) =>
    new Promise<void>((resolve) => {
      if (isDone()) return resolve();
      waiting.add(resolve);
      if (ms === undefined) return;
      const cancel = clock.after(ms, () => {
        waiting.delete(resolve);
        resolve();
      });
      waiting.add(cancel);
    });

  const cover = (requirements: readonly Requirement[]) => {
    for (const requirement of requirements) {
      const key = keyOf(requirement);
      if (!checked.has(key)) pending.set(key, requirement);
    }
    start();
  };

  return {
    cover,
    async settled(requirements) {
      if (problem) return "misconfigured";
      if (!requirements.every((requirement) => checked.has(keyOf(requirement)))) {
        cover(requirements);
        await wait(WAIT_MS);
      }
      if (problem) return "misconfigured";
      return requirements.every((requirement) => checked.has(keyOf(requirement))) ? "ready" : "starting";
    },
    isMisconfigured: () => problem !== undefined,
    async ready() {
      start();
      await wait();
      if (problem) throw problem;
    },
    close() {
      closed = true;
      wake();
    },
  };
}

function toError({ problems }: Extract<Readiness, { state: "misconfigured" }>): PaywallConfigError {
  return new PaywallConfigError(
    problems.map(({ check, expected, got, remedy }) => ({
      path: check,
      code: "invalid",
      message: `expected ${expected}, got ${got}. ${remedy}`,
    })),
  );
}
