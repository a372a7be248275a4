// Transfers that a gateway was asked to send and of which nobody knows whether it did. Whoever orders the same again takes one of
// them up, under its key, before another one is made: within this process nothing is paid twice for an answer that got lost.
import { MAX_TRANSACTION_AGE_MS } from "../proof.js";
import type { SendRequest } from "./gateway-client-shapes.js";

export interface Sending {
  readonly body: SendRequest;
  readonly idempotencyKey: string;
}

export interface UnresolvedSends {
  keep(sending: Sending): void;
  /** The oldest that pays the same for the same resource; it is nobody else's from now on. */
  take(body: SendRequest): Sending | undefined;
}

/** Later no seller takes the proof any more, so nobody looks for it either. */
const KEPT_MS = MAX_TRANSACTION_AGE_MS;
/** A gateway that is silent for so many calls has been noticed. */
const MOST = 1_000;

/** @param now epoch milliseconds */
export function createUnresolvedSends(now: () => number): UnresolvedSends {
  /** In the order in which they were kept. */
  const kept = new Map<string, { readonly sending: Sending; readonly order: string; readonly until: number }>();
  const drop = (isOver: (one: { readonly until: number }, count: number) => boolean) => {
    for (const [key, one] of kept) if (isOver(one, kept.size)) kept.delete(key);
  };
  return {
    keep(sending) {
      const { idempotencyKey, body } = sending;
      kept.delete(idempotencyKey);
      kept.set(idempotencyKey, { sending, order: orderOf(body), until: now() + KEPT_MS });
      drop((_, count) => count > MOST);
    },
    take(body) {
      drop(({ until }) => until <= now());
      const wanted = orderOf(body);
      for (const [key, { order, sending }] of kept) {
        if (order !== wanted) continue;
        kept.delete(key);
        return sending;
      }
      return undefined;
    },
  };
}

const orderOf = ({ walletAddress, network, recipientAddress, amount, resource, requirements }: SendRequest): string =>
  JSON.stringify([walletAddress, network, recipientAddress, amount, resource, requirements?.asset]);
