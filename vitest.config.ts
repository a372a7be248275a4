import { fileURLToPath } from "node:url";
import { defaultExclude, defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** They measure the memory of their own process or put something in the place of a module, so they have one to themselves. */
const ALONE = [
  "test/memory-return.test.ts",
  "test/adapters/stream-memory.test.ts",
  "test/faults/load.test.ts",
  "test/gateway/http-flood.test.ts",
  "test/gateway/memory.test.ts",
  "test/rig/many.test.ts",
  "test/gateway/http-authentication.test.ts",
  "test/receive/local.test.ts",
  "test/chains/solana/ed25519.test.ts",
  "test/wire/header.test.ts",
  "test/client/inspect-authorization.test.ts",
];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^tollgate$/, replacement: at("./src/index.ts") },
      { find: /^tollgate\/(express|hono|node|web|fastify|next)$/, replacement: at("./adapters/$1.ts") },
      { find: /^tollgate\/(evm|solana|metrics|payments)$/, replacement: at("./src/$1.ts") },
      { find: /^tollgate\/gateway$/, replacement: at("./src/gateway/index.ts") },
      { find: /^tollgate\/store\/(redis|sql)$/, replacement: at("./src/store/$1.ts") },
      { find: /^tollgate\/testing$/, replacement: at("./src/testing/index.ts") },
    ],
  },
  test: {
    pool: "forks",
    maxWorkers: 2,
    setupFiles: [at("./test/setup.ts")],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A second is too little on a busy machine; what comes at once takes no longer for it.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      // Files share a process and with it the modules that were loaded: to load them anew for each took a third of the time.
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...defaultExclude, ...ALONE],
        },
      },
      { extends: true, test: { name: "alone", include: ALONE } },
    ],
  },
});
