// Whether the chain alone can tell that a settlement never came, whoever was to send it.
import type { Trace } from "./receive/receiver.js";

/**
 * An authorization has a nonce, and a Solana message a payer, by which the chain shows it wherever it was sent from. A buyer's whole
 * transaction that no record names is not found by looking: only who was asked knows that nothing was sent.
 */
export const isTraceable = ({ method, transaction }: Trace): boolean =>
  method !== "transaction" || transaction !== null;
