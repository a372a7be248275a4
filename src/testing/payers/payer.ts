// What a test buyer pays with. Each way in which money moves is one payer; the buyer puts what it signed into the envelope of
// either protocol version and knows nothing else of it.
import type { Offer } from "../challenge.js";

/** Pays offers of one kind. `Signed`: what a test may want to know of the signature beside the payload. */
export interface Payer<Signed extends object = object> {
  takes(offer: Offer): boolean;
  sign(offer: Offer, version: 1 | 2): Promise<Made<Signed>>;
}

export interface Made<Signed extends object> {
  /** The scheme's own part of the payment, as it goes over the wire. */
  readonly payload: object;
  readonly signed: Signed;
}

/** How the buyer is to move the money: a signature, or a transaction of his own. */
export const isTransactionOffer = ({ extra }: Offer): boolean => extra?.assetTransferMethod === "transaction";

/**
 * Several wallets as one payer: whatever any of them can pay.
 * @example
 * await pay(url, {}, { payer: anyOf(eip3009Payer(account), splPayer(wallet, { rpcUrl })), version: 2 });
 */
export function anyOf(...payers: readonly Payer[]): Payer {
  return {
    takes: (offer) => payers.some((payer) => payer.takes(offer)),
    async sign(offer, version) {
      const payer = payers.find((one) => one.takes(offer));
      if (payer === undefined) throw new Error(`None of the payers can pay ${offer.asset} on ${offer.network}`);
      return payer.sign(offer, version);
    },
  };
}
