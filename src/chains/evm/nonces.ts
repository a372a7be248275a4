// Account nonces of one settler on one chain, for any number of settlements at once. The chain's own count is the truth
// between settlements; while some are under way this allocator counts on, because the chain cannot know them yet. It knows this
// process only: where several share a key, shared-nonces.ts stands in its place.

/** What the chain said about the settler, read in one batch. */
export interface NonceView {
  /** `eth_getTransactionCount(settler, "pending")`. */
  readonly count: number;
  /** Number of the latest block of the node that said so. */
  readonly block: bigint;
}

/** Where a settler's nonces come from: this process (`Nonces`), or a ledger that several share, which has to be asked. */
export interface NonceSource {
  mark(): number;
  /** Rejects where it cannot be had: then nothing may be sent. */
  take(view: NonceView, mark: number, now: number): number | Promise<number>;
  done(nonce: number, block: bigint | undefined, now: number): void | Promise<void>;
  giveBack(nonce: number): boolean | Promise<boolean>;
  hasGap(): boolean | Promise<boolean>;
  forget(nonce: number): void | Promise<void>;
  /** Where others take nonces too: frees one whose holder lets it lie, for whoever asks next. */
  takeBack?(nonce: number): Promise<void>;
}

/** Of one process; nothing has to be waited for. See `NonceSource`. */
export interface Nonces extends NonceSource {
  /** Call before the view is read, and give the result to `take`. */
  mark(): number;
  /** A nonce nobody else in this process has. */
  take(view: NonceView, mark: number, now: number): number;
  /** Used on the chain, at this block where it is known. */
  done(nonce: number, block: bigint | undefined, now: number): void;
  /** Provably not sent: the next `take` gets it. True = a later nonce is under way and waits for this one. */
  giveBack(nonce: number): boolean;
  /** Does a nonce that was given back stand before one that is under way? */
  hasGap(): boolean;
  /** Sent, and nobody waits any more. */
  forget(nonce: number): void;
}

/** How long a node may lag behind a block that another one has shown. */
export const LAG_MS = 15_000;
const MAX_BLOCK = BigInt(Number.MAX_SAFE_INTEGER);

/** What was last seen of nonces in a block. */
export interface Seen {
  /** All below were used. */
  readonly used: number;
  readonly block: bigint;
  /** Milliseconds, as `now`. */
  readonly at: number;
}

/**
 * Has a reorganisation taken nonces back that were used? A node says so that knows a later block than the one in which they were
 * seen, and yet counts fewer. Should it be wrong, a used nonce is tried once more, and the node that takes the transaction refuses it.
 */
export const isTakenBack = ({ count, block }: NonceView, seen: Seen, now: number): boolean =>
  count < seen.used && (block > seen.block || now - seen.at >= LAG_MS);

/**
 * What is seen once a nonce is used in this block; undefined = nothing new. A lower block counts too once the one that was heard of
 * is old: that one was a false word, or the network was founded anew. All before it are used no further than it says itself.
 */
export function withUsed(seen: Seen, nonce: number, block: bigint | undefined, now: number): Seen | undefined {
  // No chain is as high, and it is kept as a number.
  if (block === undefined || block > MAX_BLOCK) return undefined;
  if (block >= seen.block) return { used: Math.max(seen.used, nonce + 1), block, at: now };
  return now - seen.at >= LAG_MS ? { used: nonce + 1, block, at: now } : undefined;
}

export function createNonces(): Nonces {
  /** The next nonce never handed out. */
  let next = 0;
  /** Every nonce below is used on the chain. */
  let floor = 0;
  let seen: Seen = { used: 0, block: -1n, at: 0 };
  /** Grows with every change, so that a view read before one is known to be old. */
  let epoch = 0;
  const underWay = new Set<number>();
  const free = new Set<number>();

  function trust({ count, block }: NonceView, mark: number, now: number): void {
    const quiet = underWay.size === 0 && mark === epoch;
    const lagging = block < seen.block && now - seen.at < LAG_MS;
    if (quiet && !lagging) {
      // Nothing of ours is under way: the chain alone decides, downwards too (a reorganisation, a lost transaction).
      next = floor = count;
      free.clear();
      return;
    }
    next = Math.max(next, count);
    if (isTakenBack({ count, block }, seen, now)) {
      // What waits with a later nonce is never mined unless these are used anew: the next settlements get them.
      for (let nonce = count; nonce < seen.used; nonce++) if (!underWay.has(nonce)) free.add(nonce);
      floor = count;
      seen = { ...seen, used: count };
    }
    for (const nonce of free) if (nonce < Math.max(floor, count)) free.delete(nonce);
  }

  return {
    mark: () => epoch,
    take(view, mark, now) {
      trust(view, mark, now);
      epoch++;
      // A hole that the node names and nobody fills (a transaction that got lost) blocks all later ones: fill it first.
      const hole = view.count >= floor && view.count < next && !underWay.has(view.count) && mark === epoch - 1;
      const nonce = hole ? view.count : lowest(free);
      if (nonce === undefined) {
        underWay.add(next);
        return next++;
      }
      free.delete(nonce);
      underWay.add(nonce);
      return nonce;
    },
    done(nonce, block, now) {
      epoch++;
      underWay.delete(nonce);
      free.delete(nonce);
      floor = Math.max(floor, nonce + 1);
      next = Math.max(next, floor);
      seen = withUsed(seen, nonce, block, now) ?? seen;
    },
    giveBack(nonce) {
      epoch++;
      if (!underWay.delete(nonce) || nonce < floor) return false;
      if (nonce === next - 1) {
        next = nonce;
        return false;
      }
      free.add(nonce);
      return true;
    },
    hasGap: () => [...free].some((nonce) => [...underWay].some((other) => other > nonce)),
    forget(nonce) {
      epoch++;
      underWay.delete(nonce);
    },
  };
}

function lowest(nonces: ReadonlySet<number>): number | undefined {
  return nonces.size === 0 ? undefined : Math.min(...nonces);
}
