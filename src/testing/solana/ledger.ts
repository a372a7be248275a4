// The chain around the machine: one block a slot with a blockhash of its own, transactions that land once or never, and
// what each commitment level sees. A transaction runs when it arrives, in the open slot; that slot closes soon after.
//
//   open slot S      processed    the transaction has run
//   slot S closed    confirmed    its block has a hash
//   S + 32 open      finalized
//
// Blockhashes live for 150 blocks. Block heights are lower than slots, so that code which confuses them fails here.
import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type AccountKeys, accountKeysOf } from "./account-keys.js";
import { toBase58 } from "./encoding.js";
import { SYSTEM_PROGRAM } from "./programs.js";
import type { AccountState, Execution, Svm } from "./svm.js";
import { isFullySigned, type WireTransaction } from "./wire.js";

export const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;
export type Commitment = (typeof COMMITMENTS)[number];

const FINALITY_SLOTS = 32n;
/** Blocks for which a blockhash is accepted. */
export const BLOCKHASH_LIFE = 150n;
/** Slots without a block before the sandbox began: the difference of slot and block height. */
const SKIPPED_SLOTS = 200n;
const FIRST_SLOT = 1_000n;
/** Blocks remembered whether or not anything is in them. */
const REMEMBERED = 512n;

const NO_ACCOUNT: AccountState = { lamports: 0n, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false };

export interface Block {
  readonly slot: bigint;
  readonly height: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly time: bigint;
  readonly landed: readonly Landed[];
}

/** A transaction that is in a block, successful or not. */
export interface Landed {
  readonly transaction: WireTransaction;
  readonly slot: bigint;
  readonly time: bigint;
  readonly keys: AccountKeys;
  readonly execution: Execution;
  /** In the order of `keys.all`. */
  readonly before: readonly (AccountState | null)[];
  readonly after: readonly (AccountState | null)[];
}

/** Why a transaction that the node accepted is in no block. */
export type LossReason =
  | "dropped"
  | "signature_false"
  | "blockhash_unknown"
  | "already_processed"
  | "fee_not_paid"
  | "forked";

export interface Ledger {
  readonly slot: (commitment: Commitment) => bigint;
  readonly height: (commitment: Commitment) => bigint;
  /** The newest block that the commitment level knows. */
  readonly latest: (commitment: Commitment) => Block;
  /** Block of a slot, where it is remembered. */
  readonly block: (slot: bigint) => Block | undefined;
  /** Whether the blockhash may be used in the block that the commitment level would build next. */
  readonly accepts: (blockhash: string, commitment: Commitment) => boolean;
  readonly landed: (id: string) => Landed | undefined;
  readonly hasRun: (transaction: WireTransaction) => boolean;
  /** Transactions that name the address, newest first. */
  readonly history: (address: string) => readonly Landed[];
  readonly commitmentOf: (slot: bigint) => Commitment;
  readonly account: (address: string, commitment: Commitment) => AccountState | null;
  readonly transactionCount: () => bigint;
  /** Takes a transaction in; it lands, waits (paused) or is lost, which nobody is told, as on the real network. */
  submit(transaction: WireTransaction): void;
  /** Why an accepted transaction never landed. */
  readonly lost: (id: string) => LossReason | undefined;
  closeSlots(count: number): void;
  /** As `SolanaNode.reorg`. */
  reorg(depth: number): void;
  setTime(unixSeconds: bigint): void;
  now(): bigint;
  dropNext(count: number): void;
  pause(): void;
  resume(): void;
  readonly paused: () => boolean;
  /** Forgets earlier states of an account that was written past the chain. */
  forgetHistory(address: string): void;
  /** Runs after each landing and each closed slot; returns what ends it. */
  watch(listener: (event: "landed" | "closed") => void): () => void;
}

/** Begins a chain with enough closed blocks that something is finalized. */
export function createLedger(svm: Svm): Ledger {
  const salt = randomBytes(16);
  const blocks = new Map<bigint, Block>();
  const heights = new Map<string, bigint>();
  const byId = new Map<string, Landed>();
  const byMessage = new Set<string>();
  const byAddress = new Map<string, Landed[]>();
  const earlier = new Map<string, { slot: bigint; state: AccountState | null }[]>();
  const lost = new Map<string, LossReason>();
  const listeners = new Set<(event: "landed" | "closed") => void>();
  let waiting: WireTransaction[] = [];
  let current: Landed[] = [];
  let open = FIRST_SLOT;
  let forks = 0;
  let timeOffset = 0n;
  let dropping = 0;
  let paused = false;

  const now = () => BigInt(Math.floor(Date.now() / 1000)) + timeOffset;
  const blockhashOf = (slot: bigint) => toBase58(createHash("sha256").update(salt).update(`${slot}/${forks}`).digest());
  const tell = (event: "landed" | "closed") => {
    for (const listener of listeners) listener(event);
  };

  const slot: Ledger["slot"] = (commitment) => {
    if (commitment === "processed") return open;
    return commitment === "confirmed" ? open - 1n : open - FINALITY_SLOTS;
  };
  const heightOf = (of: bigint) => of - SKIPPED_SLOTS;

  function closeSlot(): void {
    const blockhash = blockhashOf(open);
    const block: Block = {
      slot: open,
      height: heightOf(open),
      blockhash,
      previousBlockhash: blocks.get(open - 1n)?.blockhash ?? blockhashOf(open - 1n),
      time: now(),
      landed: current,
    };
    blocks.set(open, block);
    heights.set(blockhash, block.height);
    const old = blocks.get(open - REMEMBERED);
    if (old !== undefined) {
      heights.delete(old.blockhash);
      if (old.landed.length === 0) blocks.delete(old.slot);
    }
    current = [];
    open += 1n;
    svm.setClock(open, now());
    tell("closed");
  }

  function accepts(blockhash: string, commitment: Commitment): boolean {
    const height = heights.get(blockhash);
    // The open slot has no hash yet; at the other levels the block of the level itself is the newest known.
    const tip = heightOf(slot(commitment));
    return height !== undefined && height <= tip && tip - height <= BLOCKHASH_LIFE;
  }

  function land(transaction: WireTransaction): void {
    const reason = include(transaction);
    if (reason === undefined) lost.delete(transaction.id);
    else lost.set(transaction.id, reason);
  }

  /** Puts the transaction into the open block, or says why it cannot be in one. */
  function include(transaction: WireTransaction): LossReason | undefined {
    if (!isFullySigned(transaction)) return "signature_false";
    // A client that sends again what has landed does not make it lost.
    if (byMessage.has(transaction.messageHash)) return byId.has(transaction.id) ? undefined : "already_processed";
    if (!accepts(transaction.message.recentBlockhash, "processed")) return "blockhash_unknown";
    const keys = accountKeysOf(transaction.message, (address) => svm.account(address));
    const before = keys.all.map((address) => svm.account(address));
    const execution = svm.execute(transaction);
    const after = keys.all.map((address) => svm.account(address));
    // A failure that costs no fee is no part of any block. The fee payer is the first account.
    if (execution.err !== null && after[0]?.lamports === before[0]?.lamports) return "fee_not_paid";

    const landed: Landed = { transaction, slot: open, time: now(), keys, execution, before, after };
    current.push(landed);
    byId.set(transaction.id, landed);
    byMessage.add(transaction.messageHash);
    keys.all.forEach((address, index) => {
      const named = byAddress.get(address);
      if (named === undefined) byAddress.set(address, [landed]);
      else named.push(landed);
      remember(address, before[index] ?? null);
    });
    tell("landed");
    return undefined;
  }

  function remember(address: string, state: AccountState | null): void {
    const states = (earlier.get(address) ?? []).filter((entry) => entry.slot > slot("finalized"));
    earlier.set(address, [...states, { slot: open, state }]);
  }

  function reorg(depth: number): void {
    const from = open - BigInt(depth);
    if (depth < 1 || from <= slot("finalized")) throw new RangeError("A fork begins after the finalized slot");
    const gone = [...byId.values()].filter((landed) => landed.slot >= from);
    // The last one first: each account ends as it was before the first of them.
    for (const landed of gone.reverse()) takeBack(landed);
    for (const [address, states] of earlier) {
      earlier.set(
        address,
        states.filter((entry) => entry.slot < from),
      );
    }
    for (let of = from; of < open; of += 1n) heights.delete(blocks.get(of)?.blockhash ?? "");
    forks += 1;
    current = [];
    for (open = from; open < from + BigInt(depth); ) closeSlot();
  }

  function takeBack(landed: Landed): void {
    const { transaction, keys, before, after } = landed;
    byId.delete(transaction.id);
    byMessage.delete(transaction.messageHash);
    lost.set(transaction.id, "forked");
    keys.all.forEach((address, index) => {
      byAddress.set(
        address,
        (byAddress.get(address) ?? []).filter((one) => one !== landed),
      );
      const was = before[index];
      // Programs and whatever else was only read stay untouched.
      if (!isDeepStrictEqual(was, after[index])) svm.setAccount(address, was ?? NO_ACCOUNT);
    });
  }

  for (let back = 0n; back < BLOCKHASH_LIFE; back += 1n) closeSlot();

  return {
    slot,
    height: (commitment) => heightOf(slot(commitment)),
    latest(commitment) {
      const block = blocks.get(commitment === "processed" ? open - 1n : slot(commitment));
      if (block === undefined) throw new Error("The newest block of the sandbox is missing");
      return block;
    },
    block: (of) => blocks.get(of),
    accepts,
    landed: (id) => byId.get(id),
    hasRun: (transaction) => byMessage.has(transaction.messageHash),
    history: (address) => [...(byAddress.get(address) ?? [])].reverse(),
    commitmentOf: (of) => (of <= slot("finalized") ? "finalized" : of < open ? "confirmed" : "processed"),
    account(address, commitment) {
      const seen = slot(commitment);
      const changed = earlier.get(address)?.find((entry) => entry.slot > seen);
      return changed === undefined ? svm.account(address) : changed.state;
    },
    transactionCount: () => BigInt(byId.size),
    submit(transaction) {
      if (dropping > 0) {
        dropping -= 1;
        lost.set(transaction.id, "dropped");
      } else if (paused) waiting.push(transaction);
      else land(transaction);
    },
    lost: (id) => lost.get(id),
    closeSlots(count) {
      for (let closed = 0; closed < count; closed++) closeSlot();
    },
    reorg,
    setTime(unixSeconds) {
      timeOffset += unixSeconds - now();
      svm.setClock(open, now());
    },
    now,
    dropNext(count) {
      dropping += count;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      const queue = waiting;
      waiting = [];
      for (const transaction of queue) land(transaction);
      // A slot that was held open with something in it closes soon as well.
      if (current.length > 0) tell("landed");
    },
    paused: () => paused,
    forgetHistory: (address) => void earlier.delete(address),
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
