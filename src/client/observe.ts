// Tells the caller's observers what happens. One that throws, rejects or is slow changes nothing.
import type { BuyerEvent } from "./events.js";
import type { Purchase } from "./purchase.js";
import type { BuyerSettings } from "./settings.js";

export interface Observer {
  event(event: BuyerEvent): void;
  /** Money moved. */
  paid(purchase: Purchase): void;
}

export function createObserver({ onEvent, onPayment }: Pick<BuyerSettings, "onEvent" | "onPayment">): Observer {
  return {
    event: (event) => tell(onEvent, event),
    paid(purchase) {
      tell(onEvent, { type: "paid", purchase });
      tell(onPayment, purchase);
    },
  };
}

function tell<T>(observer: ((about: T) => unknown) | undefined, about: T): void {
  try {
    const told = observer?.(about);
    if (told instanceof Promise) told.catch(() => {});
  } catch {
    // Its own affair.
  }
}
