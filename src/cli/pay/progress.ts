// What happens while a payment is on its way: told in lines where somebody sits at a terminal, and remembered for the end.
import type { BuyerEvent } from "../../client/events.js";
import type { Purchase } from "../../client/purchase.js";
import type { Io } from "../io.js";
import { printable } from "../print.js";
import { paidOf } from "./purchase-words.js";

export interface Progress {
  onEvent(event: BuyerEvent): void;
  /** The latest of what this run has tried to buy. */
  readonly purchase: Purchase | undefined;
  /** Has a proof left for this purchase? */
  isSent(id: string): boolean;
  /** It was signed by an earlier run. */
  readonly isOld: boolean;
}

export function createProgress(io: Io): Progress {
  const say = (line: string) => void (io.stderr.isTTY && io.stderr.write(`${printable(line)}\n`));
  const sent = new Set<string>();
  let purchase: Purchase | undefined;
  let isOld = false;
  return {
    get purchase() {
      return purchase;
    },
    get isOld() {
      return isOld;
    },
    isSent: (id) => sent.has(id),
    onEvent(event) {
      if (event.type === "stopped") return;
      purchase = event.purchase;
      if (event.type === "signed") say(`Signed ${paidOf(purchase)} to ${purchase.payTo}`);
      if (event.type === "sent") {
        if (!sent.has(purchase.id)) isOld = event.again;
        say(event.again ? "Sending the same payment again" : "Sending the payment");
        sent.add(purchase.id);
      }
      if (event.type === "waiting") {
        const said = event.status === undefined ? "No answer came" : `The seller answered ${event.status}`;
        say(`${said}: the same payment goes out again in ${Math.ceil(event.delayMs / 1000)} s`);
      }
    },
  };
}
