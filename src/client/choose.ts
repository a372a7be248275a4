// Which offer of a 402 is paid, and from which wallet. What may not or cannot be paid drops out first, each with a sentence; of
// the rest the best one is taken whose wallet holds enough. A seller's descriptions play no part (faults A58).
import type { BuyerErrorCode, BuyerErrorFacts } from "./errors.js";
import { type Funded, findFunded } from "./funds.js";
import { sameHost } from "./host-name.js";
import type { Challenge, Offer } from "./offer.js";
import { formatPrice } from "./price-text.js";
import { cheapestOf, rank } from "./rank.js";
import type { BuyerSettings, Cost } from "./settings.js";
import type { Wallet } from "./wallet.js";

export interface ChoiceRequest {
  readonly url: string;
  /** As `URL.host` has it. */
  readonly host: string;
  readonly signal: AbortSignal | undefined;
}

export type Choice =
  | { readonly ok: true; readonly offer: Offer; readonly wallet: Wallet; readonly cost: Cost }
  | { readonly ok: false; readonly code: BuyerErrorCode; readonly facts: BuyerErrorFacts };

/** What choosing takes of the settings. */
export type ChoiceSettings = Pick<BuyerSettings, "networks" | "payTo" | "wallets" | "budget" | "preferred">;

interface Candidate {
  readonly offer: Offer;
}
interface Signable extends Candidate {
  /** Those that can pay it, in the caller's order. */
  readonly wallets: readonly Wallet[];
}
interface Capped extends Signable {
  readonly cost: Cost;
  readonly cap: bigint;
}

/** What every 402 says by its status. */
const NO_REASON = /^(?:payment required|[\w-]+ header is required)\.?$/i;

/**
 * Chooses one offer, or says why none. Asks wallets what they hold, best offer first. Rejects only with the reason of an aborted
 * signal.
 */
export async function chooseOffer(
  settings: ChoiceSettings,
  challenge: Challenge,
  { url, host, signal }: ChoiceRequest,
): Promise<Choice> {
  const sieve = createSieve(challenge);
  const refuse = (code: BuyerErrorCode, facts: BuyerErrorFacts = {}): Choice => {
    const words = challenge.error === undefined || NO_REASON.test(challenge.error) ? {} : { reason: challenge.error };
    return { ok: false, code, facts: { url, ...words, ...facts, offers: sieve.sentences() } };
  };
  const offers = challenge.offers.map((offer) => ({ offer }));
  const allowed = sieve.pass(offers, (one) => judgeNetwork(one, settings.networks));

  const pins = settings.payTo.get(sameHost(host));
  const pinned = sieve.pass(allowed, (one) => judgePayee(one, pins));
  if (pins && allowed[0] && pinned.length === 0) {
    return refuse("payee_not_pinned", { expected: [...pins].join(" or "), got: allowed[0].offer.payTo });
  }

  const signable = sieve.pass(pinned, (one) => findWallets(one, settings.wallets));
  const capped = sieve.pass(signable, (one) => findCap(one, settings.budget.costOf(one.offer, host)));
  const affordable = sieve.pass(capped, judgePrice);
  const cheapest = cheapestOf(capped);
  if (cheapest && affordable.length === 0) {
    const { cost, cap, offer } = cheapest;
    return refuse("over_cap", { expected: `at most ${cost.format(cap)}`, got: formatPrice(offer) });
  }

  const funded = await findFunded(rank(affordable, settings.preferred), signal, sieve.drop);
  if (!funded) return refuse("no_payable_offer");
  return funded.ok ? funded : refuse("insufficient_funds", toFacts(funded));
}

const toFacts = ({ needed, held }: Funded & { readonly ok: false }): BuyerErrorFacts => ({
  expected: needed,
  got: held,
});

/** Lets offers through and keeps a sentence for each that drops out, in the seller's order. */
function createSieve({ unpayable, offers }: Challenge) {
  const dropped = new Map<number, string>(
    unpayable.map(({ index, reason }) => [index, `offer ${index + 1}: ${reason}`]),
  );
  const drop = (offer: Offer, why: string) => {
    dropped.set(offer.index, `offer ${offer.index + 1}, ${formatPrice(offer)} on ${offer.network.name}: ${why}`);
  };
  return {
    drop,
    /** `judge` gives what is known of the offer now, or why it drops out. */
    pass<From extends Candidate, To extends object>(from: readonly From[], judge: (one: From) => To | string): To[] {
      return from.flatMap((one) => {
        const judged = judge(one);
        if (typeof judged !== "string") return [judged];
        drop(one.offer, judged);
        return [];
      });
    },
    sentences(): readonly string[] {
      if (unpayable.length + offers.length === 0) return ["the seller offers no way to pay"];
      return [...dropped].sort(([a], [b]) => a - b).map(([, sentence]) => sentence);
    },
  };
}

const judgeNetwork = (one: Candidate, networks: ReadonlySet<string> | undefined): Candidate | string =>
  !networks || networks.has(one.offer.network.id) ? one : "its network is not among those that may be paid on";

/** Invariant: a pinned host is paid at its pinned addresses and nowhere else, on every chain. */
const judgePayee = (one: Candidate, pins: ReadonlySet<string> | undefined): Candidate | string =>
  !pins || [...pins].some((pin) => isSameAddress(pin, one.offer)) ? one : `${one.offer.payTo} is not the pinned payee`;

const isSameAddress = (pin: string, { payTo, network }: Offer): boolean =>
  network.family === "evm" ? pin.toLowerCase() === payTo.toLowerCase() : pin === payTo;

function findWallets(one: Candidate, wallets: readonly Wallet[]): Signable | string {
  const reasons = new Set<string>();
  const taking = wallets.filter((wallet) => {
    const answer = ask(wallet, one.offer);
    if (answer !== true) reasons.add(String(answer));
    return answer === true;
  });
  if (taking.length > 0) return { ...one, wallets: taking };
  return reasons.size > 0 ? [...reasons].join("; ") : "there is no wallet";
}

/** A wallet that somebody else made may throw: then it does not take the offer. */
function ask(wallet: Wallet, offer: Offer): true | string {
  try {
    return wallet.takes(offer);
  } catch (error) {
    return `the wallet ${wallet.address} cannot tell: ${String(error)}`;
  }
}

const findCap = (one: Signable, cost: Cost): Capped | string =>
  cost.cap === undefined
    ? "no cap says how much of this asset may be paid: name one in budget.perRequest (--max of tollgate pay)"
    : { ...one, cost, cap: cost.cap };

/**
 * Invariant: what is signed later is this very offer, and its own amount is what is held against the cap, never that of a
 * neighbour (faults F108).
 */
const judgePrice = (one: Capped): Capped | string =>
  one.cost.amount <= one.cap ? one : `it is above the cap of ${one.cost.format(one.cap)}`;
