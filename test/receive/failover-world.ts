// Several receivers behind one `failover()`: facilitators that can be scripted, and stand-ins for what no socket can be brought to
// do. The clock is turned by hand.
import type { BoundProof } from "../../src/proof.js";
import { createFacilitator, type FacilitatorOptions } from "../../src/receive/facilitator.js";
import { createFailover, type FailoverOptions } from "../../src/receive/failover.js";
import type { Receiver, SettleContext, Settlement, Verification } from "../../src/receive/receiver.js";
import type { Logger } from "../../src/settings.js";
import { RESOURCE } from "../support/bound-proof.js";
import { type HandClock, handClock } from "../support/hand-clock.js";
import {
  type Endpoint,
  type ScriptedFacilitator,
  type ScriptedFacilitatorOptions,
  startScriptedFacilitator,
} from "../support/scripted-facilitator.js";

export interface FailoverWorld {
  readonly clock: HandClock;
  /** `level: message facts`. */
  readonly log: readonly string[];
  /** A facilitator, and the receiver over it. */
  start(scripted?: ScriptedFacilitatorOptions, options?: Partial<FacilitatorOptions>): Promise<Place>;
  open(receivers: readonly Receiver[], options?: FailoverOptions): Receiver;
  close(): Promise<void>;
}

export interface Place {
  readonly service: ScriptedFacilitator;
  readonly receiver: Receiver;
  /** How many requests have come to an endpoint. */
  count(endpoint: Endpoint): number;
}

export function createFailoverWorld(): FailoverWorld {
  const clock = handClock(Date.now());
  const log: string[] = [];
  const line = (level: string) => (message: string, facts?: object) =>
    void log.push(`${level}: ${message} ${JSON.stringify(facts ?? {})}`);
  const logger: Logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  const opened: { close(): Promise<void> }[] = [];
  return {
    clock,
    log,
    async start(scripted, options) {
      const service = await startScriptedFacilitator(scripted);
      const given = { url: service.url, timeoutMs: 3_000, logger, ...options };
      const receiver = createFacilitator(given, { clock, random: () => 0.5 });
      opened.push(receiver, service);
      const count = (endpoint: Endpoint) => service.requests.filter((one) => one.endpoint === endpoint).length;
      return { service, receiver, count };
    },
    open: (receivers, options) => createFailover(receivers, { logger, ...options }, clock),
    async close() {
      for (const one of opened) await one.close();
    },
  };
}

const TRANSACTION = `0x${"5e".repeat(32)}`;

/** A receiver that does at once what it is told, and else what is best. */
export function standIn(own: Partial<Receiver> = {}): Receiver {
  return {
    name: "stand-in",
    settleMs: () => 10_000,
    ready: async () => ({ state: "ready" }),
    verify: async (proof) => ({ outcome: "valid", payer: proof.payer }),
    settle: async (proof) => ({ outcome: "settled", transaction: TRANSACTION, payer: proof.payer }),
    lookup: async () => ({ outcome: "unknown", message: "nobody knows" }),
    close: async () => {},
    ...own,
  };
}

export const signal = () => AbortSignal.timeout(60_000);

export const verifyBy = (receiver: Receiver, proof: BoundProof): Promise<Verification> =>
  receiver.verify(proof, { signatureKnown: false, resource: RESOURCE, signal: signal() });

export const settleBy = (
  receiver: Receiver,
  proof: BoundProof,
  clock: { now(): number },
  more: Partial<SettleContext> = {},
): Promise<Settlement> =>
  receiver.settle(proof, {
    settlementId: "settlement-1",
    resource: RESOURCE,
    deadlineAt: clock.now() + receiver.settleMs(proof.requirement.network),
    sending: async () => {},
    ...more,
  });
