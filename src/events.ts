// What happened to payments, for observers. An observer can neither delay nor decide anything: it runs after the fact,
// nobody waits for it, and what it throws goes to the log. Only one that computes without a pause holds up what it shares the
// thread with, as all code does. Events hold no signature, nonce, secret or key.
import type { ErrorCode } from "./errors.js";
import type { Logger } from "./settings.js";

/** Facts common to the events of one proof. */
export interface PaymentFacts {
  readonly proofId: string;
  readonly payer: string;
  readonly payTo: string;
  readonly network: string;
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** A settler that will soon be able to settle no more. */
export interface LowGas {
  /** CAIP-2. */
  readonly network: string;
  /** The address to send native currency to. */
  readonly settler: string;
  /** Smallest unit of the chain's currency; what settlements under way may take is counted off. */
  readonly balance: bigint;
  /** What some settlements may cost. */
  readonly needed: bigint;
}

export interface Reconciled {
  /** `final`: it was settled before, and stays. */
  readonly outcome: "settled" | "final" | "expired";
  /** Who asked: a buyer, or nobody; `sent_again`: after a reorganisation. */
  readonly how: "request" | "background" | "sent_again";
  readonly transaction: string | undefined;
}

/** Every event by name, with what it carries. Each also goes to the diagnostics channel `tollgate:<name>`. */
export interface PaywallEvents {
  /** A 402 without a proof was answered. */
  challenge: { readonly target: string };
  /** A request was refused with this code. */
  refusal: { readonly code: ErrorCode; readonly target: string };
  verified: PaymentFacts;
  /** The handler may run: `run` counts from 1. */
  claimed: PaymentFacts & { readonly run: number };
  /** The claim was given back uncharged. */
  released: PaymentFacts & { readonly why: string };
  settled: PaymentFacts & { readonly transaction: string };
  refused: PaymentFacts & { readonly reason: string };
  unknown: PaymentFacts & { readonly transaction: string | undefined; readonly message: string };
  delivered: PaymentFacts;
  undelivered: PaymentFacts;
  /** A kept answer went out again. */
  replayed: PaymentFacts;
  /** It was found out what became of a payment after its sale was over. */
  reconciled: PaymentFacts & Reconciled;
  /** It can never be taken (any more). `delivered`: the goods had gone out, so that this is a loss. */
  expired: PaymentFacts & { readonly delivered: boolean };
  /** The chain has taken this settlement back; it is sent again. */
  reorganised: PaymentFacts & { readonly transaction: string | undefined };
  /** Told by `local` at its start and as it settles, once a minute for each settler. */
  low_gas: LowGas;
}

export type EventName = keyof PaywallEvents;
export type Listener<Name extends EventName> = (event: PaywallEvents[Name]) => void;

export interface Events {
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  emit<Name extends EventName>(name: Name, event: PaywallEvents[Name]): void;
}

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}
interface DiagnosticsChannel {
  channel(name: string): Channel;
}

export function createEvents(logger: Logger): Events {
  const listeners = new Map<EventName, Set<(event: never) => void>>();
  const channels = new Map<EventName, Channel>();
  const diagnostics = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel") as
    | DiagnosticsChannel
    | undefined;

  const channelOf = (name: EventName): Channel | undefined => {
    let channel = channels.get(name);
    if (!channel && diagnostics) {
      channel = diagnostics.channel(`tollgate:${name}`);
      channels.set(name, channel);
    }
    return channel;
  };
  const tell = (name: EventName, task: () => unknown) =>
    queueMicrotask(async () => {
      try {
        // A listener may be asynchronous without saying so: its rejection must not end the process.
        await task();
      } catch (error) {
        complain(logger, name, error);
      }
    });

  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(listener as (event: never) => void);
      return () => set.delete(listener as (event: never) => void);
    },
    emit(name, event) {
      const channel = channelOf(name);
      const own = listeners.get(name);
      if (!own && !channel?.hasSubscribers) return;
      // What one observer changes, another one would see.
      Object.freeze(event);
      for (const listener of own ?? []) tell(name, () => listener(event as never));
      if (channel?.hasSubscribers) tell(name, () => channel.publish(event));
    },
  };
}

function complain(logger: Logger, event: EventName, error: unknown): void {
  try {
    logger.error("an event listener threw", { event, error: String(error) });
  } catch {
    // Safe because nothing depends on it: what was thrown has no text, or the logger fails itself.
  }
}
