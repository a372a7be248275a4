// What stands around a paywall or a gateway: the store that remembers payments, Redis, the public URL.
import { PaywallConfigError } from "../../errors.js";
import { connect } from "../../store/redis/connect.js";
import type { Store } from "../../store/store.js";
import { wordsOf } from "../words-of.js";
import { isLoopback } from "./nodes.js";
import type { Row } from "./rows.js";
import { within } from "./within.js";

const REDIS_MS = 3_000;

/** Can the store be used? Memory can, for one process. */
export async function checkStore(store: Store): Promise<Row> {
  const row = { part: "store", check: store.name };
  if (!store.shared) {
    const found = "one process remembers what was paid, until it ends";
    const remedy = "With several processes, or to survive a restart, set TOLLGATE_STORE_URL to a database or a Redis.";
    return { ...row, state: "note", found, remedy };
  }
  try {
    await store.ready?.();
    return { ...row, state: "ok", found: "answers" };
  } catch (error) {
    if (error instanceof PaywallConfigError) {
      return { ...row, state: "wrong", found: error.problems.map(({ message }) => message).join("; ") };
    }
    const found = wordsOf(error);
    return { ...row, state: "unreachable", found, remedy: "Check TOLLGATE_STORE_URL, and whether the server runs." };
  }
}

/** `mustKeep`: what it drops lets a payment be used twice. */
export async function checkRedis(url: string, part: string, mustKeep: boolean): Promise<Row> {
  const row = { part, check: "Redis keeps all it is given" };
  try {
    const { run, close } = await connect(url, REDIS_MS);
    try {
      // By a script, because that is how the store itself asks.
      const info = String(await within(run("return redis.call('INFO', 'memory')", "tollgate:doctor", []), REDIS_MS));
      const policy = /maxmemory_policy:([\w-]+)/.exec(info)?.[1] ?? "unknown";
      if (policy === "noeviction") return { ...row, state: "ok", found: "maxmemory-policy noeviction" };
      const found = `expected maxmemory-policy noeviction, got ${policy}`;
      const remedy = mustKeep
        ? "Run CONFIG SET maxmemory-policy noeviction and write it to the server's file: a payment that is dropped could be used again."
        : "Run CONFIG SET maxmemory-policy noeviction: counters of limits that are dropped begin anew.";
      return { ...row, state: mustKeep ? "wrong" : "note", found, remedy };
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof PaywallConfigError) throw error;
    const remedy = "Check the URL of the Redis, and whether the server runs.";
    return { ...row, check: "Redis", state: "unreachable", found: wordsOf(error), remedy };
  }
}

/** Buyers and callers send what is worth money to it. */
export function checkPublicUrl(url: string | undefined, name: string, without: string): Row {
  const row = { part: "public URL", check: name };
  if (url === undefined) return { ...row, state: "note", found: `not set: ${without}` };
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname)) return { ...row, state: "ok", found: url };
  const remedy = `Set ${name} to https and let a proxy hold the certificate: over http whoever listens can take what is sent.`;
  return { ...row, state: "wrong", found: `expected https, got ${url}`, remedy };
}
