// A `facilitator` receiver over a scripted facilitator, with a clock turned by hand and a log that is kept.

import type { BoundProof } from "../../src/proof.js";
import { createFacilitator, type FacilitatorOptions, type FacilitatorParts } from "../../src/receive/facilitator.js";
import type { Receiver, SettleContext, Settlement, Verification } from "../../src/receive/receiver.js";
import type { Logger } from "../../src/settings.js";
import { RESOURCE } from "./bound-proof.js";
import { type HandClock, handClock } from "./hand-clock.js";
import {
  type Endpoint,
  type ReceivedRequest,
  type ScriptedFacilitator,
  type ScriptedFacilitatorOptions,
  startScriptedFacilitator,
} from "./scripted-facilitator.js";

/** The credential that every receiver of the world sends. */
export const SECRET = "Bearer sesame-open";
export const TRANSACTION = `0x${"7a".repeat(32)}`;

export interface FacilitatorWorld {
  readonly service: ScriptedFacilitator;
  readonly clock: HandClock;
  /** `level: message facts`. */
  readonly log: readonly string[];
  readonly receiver: Receiver;
  /** A new one each time. */
  readonly signal: AbortSignal;
  /** Another receiver over the same facilitator. */
  open(options?: Partial<FacilitatorOptions>, parts?: Partial<FacilitatorParts>): Receiver;
  verify(proof: BoundProof, by?: Receiver): Promise<Verification>;
  settle(proof: BoundProof, more?: Partial<SettleContext>, by?: Receiver): Promise<Settlement>;
  sentTo(endpoint: Endpoint): ReceivedRequest[];
  close(): Promise<void>;
}

export async function startFacilitatorWorld(scripted: ScriptedFacilitatorOptions = {}): Promise<FacilitatorWorld> {
  const service = await startScriptedFacilitator(scripted);
  const clock = handClock(Date.now());
  const log: string[] = [];
  const line = (level: string) => (message: string, facts?: object) =>
    void log.push(`${level}: ${message} ${JSON.stringify(facts ?? {})}`);
  const logger: Logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  const signal = () => AbortSignal.timeout(60_000);
  const opened: Receiver[] = [];

  const open: FacilitatorWorld["open"] = (options = {}, parts = {}) => {
    const given = { url: service.url, headers: { authorization: SECRET }, timeoutMs: 9_000, logger, ...options };
    const receiver = createFacilitator(given, { clock, random: () => 0.5, ...parts });
    opened.push(receiver);
    return receiver;
  };
  const receiver = open();

  return {
    service,
    clock,
    log,
    receiver,
    get signal() {
      return signal();
    },
    open,
    verify: (proof, by = receiver) => by.verify(proof, { signatureKnown: false, resource: RESOURCE, signal: signal() }),
    settle: (proof, more = {}, by = receiver) =>
      by.settle(proof, {
        settlementId: "settlement-1",
        resource: RESOURCE,
        deadlineAt: clock.now() + 10_000,
        sending: async () => {},
        ...more,
      }),
    sentTo: (endpoint) => service.requests.filter((request) => request.endpoint === endpoint),
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await service.close();
    },
  };
}
