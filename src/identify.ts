// Which payment a transaction is: its receiver reads the bytes (or asks the chain for them), and the offer for what it moves
// is chosen. Equal transactions become one proof, whatever form they came in; nothing is verified here.
import type { Context } from "./context.js";
import type { ErrorCode, ErrorFacts } from "./errors.js";
import {
  bindTransaction,
  type DecodedProof,
  type Inner,
  MAX_TRANSACTION_AGE_MS,
  type TransactionProof,
} from "./proof.js";
import type { Identified, Identity } from "./receive/receiver.js";
import type { Requirement, SplRequirement, TransactionRequirement } from "./requirement.js";
import { createTimeLimit } from "./time-limit.js";

type Decoded<Kind extends Inner["kind"]> = DecodedProof & { readonly inner: Inner & { readonly kind: Kind } };

export const isTransaction = (proof: DecodedProof): proof is Decoded<"transaction"> =>
  proof.inner.kind === "transaction";
export const isAuthorization = (proof: DecodedProof): proof is Decoded<"authorization"> =>
  proof.inner.kind === "authorization";

export type IdentifiedProof =
  | { readonly ok: true; readonly proof: TransactionProof }
  | ({ readonly ok: false; readonly code: ErrorCode } & ErrorFacts);

/** The chain is asked for the bytes behind a mere id for so long. */
const IDENTIFY_MS = 5_000;
/** Ids cost nothing to invent and a call each: so many are looked for at once, for all buyers together. */
const MOST_AT_ONCE = 32;
/** Looks by network that may still go on: on Workers some never end, so none counts for longer than it may take. */
const looks = new Map<string, Set<{ readonly endsAt: number }>>();
/** A signature in base58 has at most 88 characters, and the smallest transaction has more. */
const LONGEST_ID = 90;

/** What identifying takes of its surroundings. */
interface Surroundings extends Pick<Context, "clock"> {
  readonly receiver: Pick<Context["receiver"], "identify">;
  readonly logger: Pick<Context["logger"], "warn">;
}

/** Binds a transaction to the one of these offers, all on one network, that is for what it moves. */
export async function identifyProof(
  context: Surroundings,
  proof: Decoded<"transaction">,
  offers: readonly [Requirement, ...Requirement[]],
): Promise<IdentifiedProof> {
  const [{ network }] = offers;
  const identity = await identify(context, proof.inner, network);
  if (!identity.ok) return identity;
  const requirement = choose(offers.filter(takesTransactions), identity);
  if (!requirement) return { ok: false, code: "offer_mismatch", expected: "an authorization", got: "a transaction" };
  // Upper bound: however it came, it stays remembered for longer than it could be shown as new.
  const validBefore = Math.ceil((context.clock.now() + MAX_TRANSACTION_AGE_MS) / 1000);
  return { ok: true, proof: await bindTransaction(proof, requirement, identity, validBefore) };
}

type Taken = SplRequirement | TransactionRequirement;
const takesTransactions = (offer: Requirement): offer is Taken => offer.method !== "eip3009";

/** A v1 proof names no asset. Where none of the offers is for what is moved, the first one says why not. */
function choose(offers: readonly Taken[], { asset }: Identity): Taken | undefined {
  return offers.find((offer) => offer.asset === asset) ?? offers[0];
}

async function identify(
  { receiver, clock, logger }: Surroundings,
  inner: Decoded<"transaction">["inner"],
  network: string,
): Promise<Identified> {
  const { transaction, secret } = inner;
  if (!receiver.identify) {
    return { ok: false, code: "unsupported_scheme", expected: "a signed authorization", got: "a transaction" };
  }
  const end = isId(transaction) ? beginLook(network, clock.now()) : () => {};
  if (!end) {
    return { ok: false, code: "receiver_unreachable", got: "too many transactions are being looked for at once" };
  }
  const limit = createTimeLimit(clock, IDENTIFY_MS);
  try {
    return await receiver.identify({ transaction, secret }, network, limit.signal());
  } catch (error) {
    logger.warn("a transaction could not be read", { network, error: String(error) });
    return { ok: false, code: "receiver_unreachable" };
  } finally {
    end();
    limit.cancel();
  }
}

const isId = (transaction: string): boolean => transaction.startsWith("0x") || transaction.length <= LONGEST_ID;

/** Counts one look; undefined where too many go on already. Bytes cost no call, so they are never shut out. */
function beginLook(network: string, now: number): (() => void) | undefined {
  const own = looks.get(network) ?? new Set();
  looks.set(network, own);
  for (const look of own) if (look.endsAt <= now) own.delete(look);
  if (own.size >= MOST_AT_ONCE) return undefined;
  const look = { endsAt: now + IDENTIFY_MS };
  own.add(look);
  return () => own.delete(look);
}
