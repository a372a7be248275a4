import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

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
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
