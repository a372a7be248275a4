// The store on Redis: arguments and answers of the scripts.
import { PaywallConfigError } from "../../errors.js";
import { decodeValue, encodeValue } from "../codec.js";
import type { Backend } from "../shared-store.js";
import type { CommitResult, Page, Snapshot, Transaction, Write } from "../store.js";
import type { Run } from "./client.js";
import { EVICTS, type Scripts } from "./scripts.js";

export interface RedisBackendOptions {
  readonly run: Run;
  readonly scripts: Scripts;
  /** In front of every key, with a hash tag. */
  readonly prefix: string;
  readonly maxKeptBytes: number;
  close(): Promise<void>;
}

const RESULTS: readonly CommitResult[] = ["ok", "conflict", "full", "too_many", "over_sum"];

export function createRedisBackend({ run, scripts, prefix, maxKeptBytes, close }: RedisBackendOptions): Backend {
  const ask = async (script: string, args: readonly string[]): Promise<unknown> => {
    try {
      return await run(script, `${prefix}meta`, args);
    } catch (error) {
      throw evicts(error) ?? error;
    }
  };
  return {
    async read(keys, ledgers) {
      const reply = texts(await ask(scripts.read, [...counted(keys), ...counted(ledgers)]));
      if (reply.length !== 2 + 2 * keys.length + ledgers.length)
        throw new Error("Redis gave an answer of another length");
      return toSnapshot(reply, keys.length);
    },
    async commit(transaction) {
      const reply = await ask(scripts.commit, toArguments(transaction, maxKeptBytes));
      const result = RESULTS.find((known) => known === reply);
      if (!result) throw new Error("Redis gave an answer that is none of the store's");
      return result;
    },
    due: async (limit, skip) => texts(await ask(scripts.due, [String(limit), String(skip)])),
    list: async (cursor = "", limit) => toPage(texts(await ask(scripts.list, [cursor, String(limit)]))),
    async ready() {
      await ask(scripts.ready, []);
    },
    isGone: () => false,
    close,
  };
}

const counted = (names: readonly string[]): readonly string[] => [String(names.length), ...names];

function toSnapshot(reply: readonly string[], keys: number): Snapshot {
  const [now, since, ...rest] = reply;
  return {
    now: Number(now),
    since: Number(since),
    entries: Array.from({ length: keys }, (_, at) => {
      const [version = "0", value = ""] = rest.slice(2 * at);
      return version === "0" ? undefined : { version: Number(version), value: decodeValue(value) };
    }),
    members: rest.slice(2 * keys).map(Number),
  };
}

function toPage([now, next, ...rest]: readonly string[]): Page {
  const entries = Array.from({ length: rest.length / 2 }, (_, at) => {
    const [key = "", value = ""] = rest.slice(2 * at);
    return { key, value: decodeValue(value) };
  });
  return { now: Number(now), entries, next: next || undefined };
}

function toArguments({ since, writes, reserve = [], release = [] }: Transaction, maxKeptBytes: number): string[] {
  return [
    since === undefined ? "" : String(since),
    String(maxKeptBytes),
    String(writes.length),
    ...writes.flatMap((write) => [
      write.key,
      String(write.version),
      operationOf(write),
      write.value === null ? "" : encodeValue(write.value),
      String(write.expiresAt),
      write.value === null || write.dueAt === undefined ? "" : String(write.dueAt),
      write.value !== null && write.listed && !write.evictable ? "1" : "",
    ]),
    String(reserve.length),
    ...reserve.flatMap(({ ledger, member, amount, maxMembers, maxSum, expiresAt }) => [
      ledger,
      member,
      amount,
      String(maxMembers),
      maxSum ?? "",
      String(expiresAt),
    ]),
    String(release.length),
    ...release.flatMap(({ ledger, member }) => [ledger, member]),
  ];
}

function operationOf({ value, evictable, always }: Write): string {
  if (value === null) return "delete";
  if (evictable) return "keep";
  return always ? "always" : "put";
}

function texts(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((one) => typeof one === "string"))
    throw new Error("Redis gave an answer that is no list of text");
  return reply;
}

/** A Redis that may drop a record would let its payment be used again. */
function evicts(error: unknown): PaywallConfigError | undefined {
  if (!(error instanceof Error) || !error.message.includes(EVICTS)) return undefined;
  const [, policy = "another"] = error.message.split(`${EVICTS} `);
  const message =
    `expected a Redis that never drops an entry (maxmemory-policy noeviction), got ${policy}: a payment that was ` +
    "dropped could be used again. Set maxmemory-policy noeviction";
  return new PaywallConfigError([{ path: "store", code: "unsafe", message }]);
}
