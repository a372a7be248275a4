// Settings and wallets for tests of the choice: a cap for each unit, wallets that say what they take and hold, and remember what
// they were asked.
import { type Choice, type ChoiceSettings, chooseOffer } from "../../src/client/choose.js";
import type { Challenge, Offer } from "../../src/client/offer.js";
import type { Cost } from "../../src/client/settings.js";
import type { Wallet } from "../../src/client/wallet.js";

export interface TestWallet extends Wallet {
  /** Offers whose balance it was asked for, by their place. */
  readonly asked: number[];
}

/** Holds what `holds` says, everything where it is absent. */
export function wallet(
  address: string,
  takes: (offer: Offer) => true | string = () => true,
  holds?: (offer: Offer) => bigint | undefined | Promise<bigint | undefined>,
): TestWallet {
  const asked: number[] = [];
  return {
    address,
    asked,
    takes,
    async balance(offer) {
      asked.push(offer.index);
      return holds ? holds(offer) : 2n ** 200n;
    },
    sign: () => Promise.reject(new Error("choosing signs nothing")),
  };
}

/** Dollars for tokens of the table, a unit of its own for everything else. Caps by unit. */
export const costWith =
  (caps: Readonly<Record<string, bigint>>) =>
  (offer: Offer): Cost => {
    const unit = offer.token ? "usd" : `${offer.network.id}/${offer.asset}`;
    return { unit, amount: offer.amount, cap: caps[unit], format: (amount) => `${amount} of ${unit}` };
  };

export interface Choosing extends Partial<Omit<ChoiceSettings, "budget">> {
  readonly caps?: Readonly<Record<string, bigint>>;
  readonly host?: string;
  readonly signal?: AbortSignal;
}

export function choose(challenge: Challenge, options: Choosing = {}): Promise<Choice> {
  const { caps = { usd: 100_000n }, host = "shop.example", signal, ...given } = options;
  const settings: ChoiceSettings = {
    networks: undefined,
    payTo: new Map(),
    wallets: [wallet("0xA")],
    preferred: [],
    budget: { costOf: costWith(caps), limitsOf: () => [] },
    ...given,
  };
  return chooseOffer(settings, challenge, { url: `https://${host}/report`, host, signal });
}

/** The place of the offer that was chosen, or the code. */
export async function chosen(challenge: Challenge, options: Choosing = {}): Promise<number | string> {
  const choice = await choose(challenge, options);
  return choice.ok ? choice.offer.index : choice.code;
}
