// Account nonces of a settler whose key several processes send with: a ledger that they share (a database) hands them out, one
// holder each. What a process leaves behind when it dies is taken back by whoever has to wait for it: see gap.ts.
import { checksumAddress } from "../../address.js";
import type { Logger } from "../../settings.js";
import type { NonceSource } from "./nonces.js";

/** The ledger. Networks by CAIP-2 id, addresses checksummed: whoever else sends with the key must spell them the same. */
export interface NonceLedger {
  /** Nobody else gets it. `next`: what the node counts at its latest block, transactions that wait included. */
  take(network: string, address: string, next: number, block?: bigint): Promise<number>;
  /** Not sent: the next one to ask gets it. */
  giveBack(network: string, address: string, nonce: number): Promise<void>;
  /** Used on the chain, in this block where it is known. */
  done(network: string, address: string, nonce: number, block?: bigint): Promise<void>;
  /** Sent, and its holder waits no more; absent = it counts as held until the chain's count tells otherwise. */
  left?(network: string, address: string, nonce: number): Promise<void>;
  /** Free, and a later one is taken. */
  gaps(network: string, address: string): Promise<readonly number[]>;
}

/**
 * The nonces of one account out of a ledger. `take` rejects where the ledger cannot be asked: then nothing is sent. Everything
 * else only tidies up after a transaction and so never rejects: a ledger that has missed a word finds out by the chain's count.
 */
export function createSharedNonces(
  ledger: NonceLedger,
  network: string,
  anyCase: string,
  logger?: Pick<Logger, "warn">,
): NonceSource {
  const address = checksumAddress(anyCase);
  const tell = async <T>(what: string, write: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await write();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger?.warn(`the nonces of a settler cannot be ${what}`, { network, settler: address, reason });
      return otherwise;
    }
  };
  const hasGap = async () => (await ledger.gaps(network, address)).length > 0;
  return {
    // Views of several processes have no common order; the ledger never gives one nonce to two of them all the same.
    mark: () => 0,
    take: ({ count, block }) => ledger.take(network, address, count, block),
    done: (nonce, block) => tell("counted", () => ledger.done(network, address, nonce, block), undefined),
    giveBack: (nonce) =>
      tell(
        "given back",
        async () => {
          await ledger.giveBack(network, address, nonce);
          return hasGap();
        },
        false,
      ),
    hasGap: () => tell("read", hasGap, false),
    // It may still be mined: the chain's count tells.
    forget: (nonce) => tell("counted", async () => ledger.left?.(network, address, nonce), undefined),
    takeBack: (nonce) => tell("taken back", () => ledger.giveBack(network, address, nonce), undefined),
  };
}
