// The store in a real Postgres, whose clock is moved on the server.
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { createSharedStore } from "../../src/store/shared-store.js";
import { openSqlBackend } from "../../src/store/sql/backend.js";
import { openPostgres } from "../../src/store/sql/postgres.js";
import { noPostgres, type PostgresServer, startPostgres } from "../support/postgres.js";
import { describeStore } from "./contract.js";
import { describeListing } from "./contract-list.js";
import { describeExactness, describeSharing } from "./contract-more.js";
import { describePasses } from "./contract-passes.js";

let server: PostgresServer;

describe.skipIf(noPostgres())("on PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  async function make() {
    const url = await server.newSchema();
    await server.query("create table ahead (ms bigint); insert into ahead values (0)", url);
    const ahead = "(select ms from ahead)";
    const open = async () => openSqlBackend(await openPostgres({ url, timeoutMs: 10_000, ahead }));
    const connect = () => {
      const store = createSharedStore({ name: "postgres", timeoutMs: 10_000, open });
      onTestFinished(() => store.close());
      return store;
    };
    const advance = async (ms: number) => void (await server.query(`update ahead set ms = ms + ${ms}`, url));
    return { store: connect(), advance, another: async () => connect() };
  }

  describeStore("postgres", make);
  describeExactness("postgres", make);
  describeListing("postgres", make);
  describePasses("postgres", make);
  describeSharing("postgres", make);
});
