// Which of the offers a wallet can pay for now. A balance that cannot be known does not stand in the way: signing will tell.
import type { Offer } from "./offer.js";
import { formatAmount, formatPrice } from "./price-text.js";
import type { Cost } from "./settings.js";
import type { Wallet } from "./wallet.js";

interface Payable {
  readonly offer: Offer;
  readonly wallets: readonly Wallet[];
  readonly cost: Cost;
}

export type Funded =
  | { readonly ok: true; readonly offer: Offer; readonly wallet: Wallet; readonly cost: Cost }
  /** Of the best offer: what would be needed where, and what is there. */
  | { readonly ok: false; readonly needed: string; readonly held: string };

/**
 * The first offer, in this order, that one of its wallets holds enough for or cannot tell; undefined where there is no offer.
 * `drop` hears of those for which no wallet holds enough. Rejects only with the reason of an aborted signal.
 */
export async function findFunded(
  offers: readonly Payable[],
  signal: AbortSignal | undefined,
  drop: (offer: Offer, why: string) => void,
): Promise<Funded | undefined> {
  const balanceOf = rememberBalances(signal);
  let best: Funded | undefined;
  for (const { offer, wallets, cost } of offers) {
    for (const wallet of wallets) {
      const balance = await balanceOf(wallet, offer);
      if (balance === undefined || balance >= offer.amount) return { ok: true, offer, wallet, cost };
      const held = formatAmount(offer, balance);
      drop(offer, `${wallet.address} holds ${held}`);
      const needed = `${formatPrice(offer)} in ${wallet.address} on ${offer.network.name}`;
      best ??= { ok: false, needed, held };
    }
  }
  return best;
}

/** A seller may name one asset a hundred times: each is asked for once. */
function rememberBalances(signal: AbortSignal | undefined) {
  const known = new Map<Wallet, Map<string, bigint | undefined>>();
  return async (wallet: Wallet, offer: Offer): Promise<bigint | undefined> => {
    signal?.throwIfAborted();
    const own = known.get(wallet) ?? new Map<string, bigint | undefined>();
    known.set(wallet, own);
    const name = `${offer.network.id} ${offer.asset}`;
    if (own.has(name)) return own.get(name);
    const balance = await wallet.balance?.(offer, signal).catch(() => undefined);
    signal?.throwIfAborted();
    own.set(name, balance);
    return balance;
  };
}
