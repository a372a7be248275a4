// The store in a SQLite file, on two connections as two processes have them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createSharedStore } from "../../src/store/shared-store.js";
import { openSqlBackend } from "../../src/store/sql/backend.js";
import { openSqlite } from "../../src/store/sql/sqlite.js";
import { createFakeClock } from "../support/fake-clock.js";
import { describeStore } from "./contract.js";
import { describeListing } from "./contract-list.js";
import { describeExactness, describeSharing } from "./contract-more.js";
import { describePasses } from "./contract-passes.js";

async function make() {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
  const clock = createFakeClock();
  const open = async () => openSqlBackend(await openSqlite({ file: join(folder, "shop.db"), busyMs: 5000, clock }));
  const connect = () => {
    const store = createSharedStore({ name: "sqlite", timeoutMs: 10_000, open });
    onTestFinished(() => store.close());
    return store;
  };
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { store: connect(), advance: clock.advance, another: async () => connect() };
}

describeStore("sqlite", make);
describeExactness("sqlite", make);
describeListing("sqlite", make);
describePasses("sqlite", make);
describeSharing("sqlite", make);
