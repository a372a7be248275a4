// What the handler sees of the payment that admitted its request.

/** `req.payment` on Express, `c.get("payment")` on Hono. Safe to pass to `res.json`. */
export interface Payment {
  readonly payer: string;
  /** Atomic units of the asset; 0 where a pass admitted: nothing was paid now. */
  readonly amount: bigint;
  readonly asset: string;
  /** CAIP-2. */
  readonly network: string;
  readonly scheme: "exact";
  /** Canonical identity of the proof, safe to log. */
  readonly proofId: string;
  /** 1 for the first run of the handler for this proof, then 2, 3, …; always 1 with a pass. */
  readonly run: number;
  /** Known before the handler runs only with `upfront` and on a redelivery. */
  readonly transaction?: string;
  /** Set where no payment but a pass admitted this request; the other facts are those of the payment that bought it. */
  readonly pass?: PaymentPass;
  toJSON(): PaymentJson;
}

export interface PaymentPass {
  /** Uses that are left after this one; null = as many as its time allows. */
  readonly usesLeft: number | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface PaymentJson {
  readonly payer: string;
  readonly amount: string;
  readonly asset: string;
  readonly network: string;
  readonly scheme: "exact";
  readonly proofId: string;
  readonly run: number;
  readonly transaction?: string;
  readonly pass?: PaymentPass;
}

/** Adds the JSON form: amounts as strings. */
export function createPayment(facts: Omit<Payment, "toJSON">): Payment {
  return Object.freeze({
    ...facts,
    toJSON: (): PaymentJson => ({ ...facts, amount: facts.amount.toString() }),
  });
}
