// The gateway's database in a real Postgres, whose clock is moved on the server.
import { afterAll, beforeAll, describe } from "vitest";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { describeDatabase } from "./all.js";
import { postgresGround } from "./ground.js";

let server: PostgresServer;

describe.skipIf(noPostgres())("on PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  describeDatabase(
    "PostgreSQL",
    postgresGround(() => server),
  );
});
