// A guard that gives the verdict a test wrote, and a capture that records what the adapter tells it.
import { createPayment, type Payment } from "../../src/payment.js";
import type { Answer, Capture, Delivery, Head, Outcome, PaywallRequest, Verdict } from "../../src/request.js";

export const PAYMENT: Payment = createPayment({
  payer: "0x00000000000000000000000000000000000000aa",
  amount: 10_000n,
  asset: "0x00000000000000000000000000000000000000bb",
  network: "eip155:84532",
  scheme: "exact",
  proofId: "proof",
  run: 1,
});

export const REFUSAL: Answer = {
  status: 402,
  headers: [
    ["Content-Type", "application/json"],
    ["PAYMENT-REQUIRED", "offer"],
    ["Access-Control-Expose-Headers", "PAYMENT-REQUIRED, PAYMENT-RESPONSE"],
    ["Vary", "X-PAYMENT"],
  ],
  body: '{"error":"refused"}',
};

/** A promise that a test settles. */
export interface Latch<T> {
  readonly promise: Promise<T>;
  open(value: T): void;
}

export function latch<T = void>(): Latch<T> {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export interface Script {
  readonly guard: (request: PaywallRequest) => Verdict | Promise<Verdict>;
  readonly capture: Capture;
  readonly delivery: Delivery;
  /** Everything the adapter said, in order: `answered 200`, `streaming 200`, `flushed`, `failed`, `ended`, `delivered`, `lost`. */
  readonly log: string[];
  readonly requests: PaywallRequest[];
  readonly timeout: Latch<Outcome>;
  held: Answer | undefined;
  /** The head of an answer that turned out to be a stream. */
  streamed: Head | undefined;
  heldBytes: number;
  /** Adds an entry of the test's own. */
  say(entry: string): void;
  /** Resolves when the log has the entry. */
  until(entry: string): Promise<void>;
}

export interface ScriptOptions {
  readonly verdict?: (script: Script, request: PaywallRequest) => Verdict | Promise<Verdict>;
  readonly outcome?: (script: Script, head: Head) => Outcome | Promise<Outcome>;
  readonly limit?: number;
}

export const FAILED: Answer = {
  status: 500,
  headers: [["Content-Type", "application/json"]],
  body: '{"error":"failed"}',
};
export const TIMED_OUT: Answer = { status: 504, headers: [["X-Late", "yes"]], body: "timeout" };

export const deliver = (script: Script): Outcome => ({
  kind: "deliver",
  headers: [
    ["PAYMENT-RESPONSE", "receipt"],
    ["Vary", "X-PAYMENT"],
    ["Access-Control-Expose-Headers", "PAYMENT-RESPONSE"],
  ],
  delivery: script.delivery,
});

export const replace = (script: Script, answer: Answer = REFUSAL): Outcome => ({
  kind: "replace",
  answer,
  delivery: script.delivery,
});

/** By default every request is admitted and its answer is delivered. */
export function createScript(options: ScriptOptions = {}): Script {
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const say = (entry: string) => {
    log.push(entry);
    for (const check of [...waiting]) check();
  };
  const timeout = latch<Outcome>();
  const script: Script = {
    log,
    say,
    requests: [],
    timeout,
    held: undefined,
    streamed: undefined,
    heldBytes: 0,
    guard(request) {
      script.requests.push(request);
      return options.verdict?.(script, request) ?? { kind: "admit", payment: PAYMENT, capture: script.capture };
    },
    delivery: {
      async delivered() {
        say("delivered");
      },
      async lost() {
        say("lost");
      },
    },
    capture: {
      timedOut: timeout.promise,
      hold(bytes) {
        script.heldBytes += bytes;
        return script.heldBytes <= (options.limit ?? 1024 * 1024);
      },
      async answered(held) {
        script.held = held;
        say(`answered ${held.status}`);
        return options.outcome ? options.outcome(script, held) : deliver(script);
      },
      async streaming(head) {
        script.streamed = head;
        say(`streaming ${head.status}`);
        return options.outcome ? options.outcome(script, head) : deliver(script);
      },
      flushed: () => say("flushed"),
      async failed() {
        say("failed");
        return replace(script, FAILED);
      },
      ended: () => say("ended"),
    },
    until: (entry) =>
      new Promise((resolve) => {
        const check = () => {
          if (!log.includes(entry)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
  return script;
}
