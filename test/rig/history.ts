// What the rig records of each payment, by its payer, who pays nothing else: what every request with it was told, how often a handler
// ran for it, and what the chain took for it in the end.

export interface Told {
  /** `stranger`: the proof without the retry key, as anyone can send it who has seen it. */
  readonly by: "buyer" | "stranger";
  /** Who was asked, and the Unix milliseconds of the question and the answer: to be read beside the mishaps of that time. */
  readonly of?: { readonly url: string; readonly asked: number; readonly answered: number };
  /** Undefined where the connection ended before there was one. */
  readonly status: number | undefined;
  /** The error code of an answer that is none of the goods. */
  readonly code: string | undefined;
  /** Was another payment asked for? */
  readonly bill: boolean;
  readonly body: string;
  /** Did all of the body arrive? */
  readonly complete: boolean;
  /** `Payment-Replayed`: a kept answer, once more. */
  readonly replayed: boolean;
}

export interface Paid {
  /** Atomic units. */
  readonly amount: bigint;
  readonly transaction: string;
}

export interface Purchase {
  readonly payer: string;
  /** Has its buyer a retry key? Without one nothing is given twice. */
  readonly keyed: boolean;
  /** In the order in which the answers came. */
  readonly told: readonly Told[];
  /** Runs of a handler, by the name that its goods carry. */
  readonly runs: readonly string[];
  /** From the payer to the seller, in the chain as it stands in the end. */
  readonly debits: readonly Paid[];
  /** Atomic units that the payer has less than at first. */
  readonly spent: bigint;
}

export interface History {
  readonly purchases: readonly Purchase[];
  /** Atomic units of one sale. */
  readonly price: bigint;
  /** Atomic units that the seller holds. */
  readonly received: bigint;
  /** Payers of debits that belong to no purchase. */
  readonly foreign: readonly string[];
}

/** The goods arrived whole, and not as a kept answer. */
export const isGrant = ({ status, complete, replayed }: Told): boolean => isGoods(status) && complete && !replayed;

/** Every time that the goods arrived whole, but for a kept answer that its buyer has the key to ask for again. */
export const grantsOf = ({ told, keyed }: Purchase): readonly Told[] =>
  keyed ? told.filter(isGrant) : told.filter(({ status, complete }) => isGoods(status) && complete);

export const isGoods = (status: number | undefined): boolean => status !== undefined && status >= 200 && status < 300;
