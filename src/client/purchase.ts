// What was bought or tried: the record behind `receipts()`, `onPayment` and the errors. Holds no signature and no secret.

/**
 * `reserved`: counted, and no proof has left yet. `sent`: a proof left and what became of it is not known. `settled`: the seller
 * says that the money moved, or served. `refused`: the seller said no; the proof may still be settled until it expires.
 */
export type PurchaseStatus = "reserved" | "sent" | "settled" | "refused";

export interface Purchase {
  /** The retry key that the seller got. */
  readonly id: string;
  readonly status: PurchaseStatus;
  readonly method: string;
  /** Without user, password and fragment. */
  readonly url: string;
  readonly host: string;
  /** CAIP-2. */
  readonly network: string;
  /** `native`, or the token's address. */
  readonly asset: string;
  /** Where our own table knows it. */
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
  /** Atomic units. */
  readonly amount: bigint;
  /** The same for people: `0.01 USDC`. */
  readonly price: string;
  readonly payTo: string;
  readonly payer: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Id of the transaction, as the seller's receipt names it. */
  readonly transaction: string | undefined;
  /** HTTP status of the last answer. */
  readonly httpStatus: number | undefined;
  /** The goods came. */
  readonly served: boolean;
}
