// Settings that are shared by all routes of a paywall and belong to none: public URL, limits, store.
import { type Problems, show } from "./config-problems.js";
import { type Environment, textOf } from "./environment.js";
import { isPublicUrl, type PaywallOptions } from "./option-schema.js";
import type { Limits } from "./settings.js";
import { STORE_URLS, storeFromUrl } from "./store/from-url.js";
import { defaultStore, isSingleProcess } from "./store/memory.js";
import type { Store } from "./store/store.js";

const DEFAULT_LIMITS: Limits = Object.freeze({
  openClaimsPerPayer: 256,
  unchargedRunsPerProof: 3,
  unchargedRunsPerPayer: 100,
  leaseMs: 15_000,
});

/** The public URL without a slash at its end, from the options or TOLLGATE_PUBLIC_URL. */
export function readPublicUrl(given: string | undefined, env: Environment, problems: Problems): string | undefined {
  const url = given ?? textOf(env, "TOLLGATE_PUBLIC_URL");
  if (url === undefined) return undefined;
  if (isPublicUrl(url)) return new URL(url).href.replace(/\/+$/, "");
  problems.add(
    "TOLLGATE_PUBLIC_URL",
    "invalid",
    `expected https://host[:port][/path] without credentials, query or fragment; got ${show(url)}`,
  );
  return undefined;
}

/** The limits with their defaults. */
export function readLimits(given: PaywallOptions["limits"]): Limits {
  return Object.freeze({
    openClaimsPerPayer: given?.openClaimsPerPayer ?? DEFAULT_LIMITS.openClaimsPerPayer,
    unchargedRunsPerProof: given?.unchargedRunsPerProof ?? DEFAULT_LIMITS.unchargedRunsPerProof,
    unchargedRunsPerPayer: given?.unchargedRunsPerPayer ?? DEFAULT_LIMITS.unchargedRunsPerPayer,
    leaseMs: given?.leaseMs ?? DEFAULT_LIMITS.leaseMs,
  });
}

/** The store; one in memory is refused where this process can be seen to be one of several. */
export function readStore(given: Store | undefined, env: Environment, problems: Problems): Store {
  const url = given ? undefined : textOf(env, "TOLLGATE_STORE_URL");
  const named = url === undefined ? undefined : storeFromUrl(url);
  // The URL of a store often holds a password, so it is not shown.
  if (url !== undefined && !named)
    problems.add("TOLLGATE_STORE_URL", "invalid", `${STORE_URLS} (what came is not shown)`);
  const store = given ?? named ?? defaultStore();
  const cluster = globalThis.process?.getBuiltinModule?.("node:cluster");
  const clustered =
    (cluster !== undefined && Reflect.get(cluster, "isWorker") === true) ||
    textOf(env, "NODE_APP_INSTANCE") !== undefined;
  if (url === undefined && store.name === "memory" && clustered && !isSingleProcess(store)) {
    const why =
      "this process is one of a cluster, and a proof that one of them remembers could be used again at another";
    problems.add(
      "store",
      "unsafe",
      `${why}: name a store that they share (TOLLGATE_STORE_URL, sqlStore, redisStore), run one process, or say store: ` +
        "memoryStore({ singleProcess: true }) if it is the only one",
    );
  }
  return store;
}
