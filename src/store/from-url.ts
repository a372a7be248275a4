// A shared store by its URL. Its code is loaded when the store is first used, and one URL is one store in a process, however many
// paywalls name it.
import { createSharedStore, type SharedStoreOptions, TIMEOUT_MS } from "./shared-store.js";
import type { Store } from "./store.js";

/** What a URL of a store looks like, for messages. */
export const STORE_URLS =
  "expected sqlite:///absolute/path/to/file.db, postgres://user:password@host/database, redis://host:6379 or rediss://host:6379";

const STORES = Symbol.for("tollgate.stores-by-url");

/** The store, or undefined where the URL is none of a store. Nothing is opened yet. */
export function storeFromUrl(url: string): Store | undefined {
  const opener = openerOf(url);
  if (!opener) return undefined;
  const place = globalThis as { [STORES]?: Map<string, Store> };
  place[STORES] ??= new Map();
  const store = place[STORES].get(url) ?? createSharedStore({ ...opener, timeoutMs: TIMEOUT_MS });
  place[STORES].set(url, store);
  return store;
}

function openerOf(url: string): Pick<SharedStoreOptions, "name" | "open"> | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, pathname, host, search } = new URL(url);
  switch (protocol) {
    case "sqlite:": {
      if (!/^sqlite:\/\/\/.*[^/]$/i.test(url) || host !== "" || search !== "") return undefined;
      const file = decodeURIComponent(pathname);
      return { name: "sqlite", open: async () => (await import("./sql/open.js")).openFile({ file }) };
    }
    case "postgres:":
    case "postgresql:":
      return { name: "postgres", open: async () => (await import("./sql/open.js")).openServer({ url }) };
    case "redis:":
    case "rediss:":
      if (host === "") return undefined;
      return { name: "redis", open: async () => (await import("./redis/open.js")).openRedis({ url }) };
    default:
      return undefined;
  }
}
