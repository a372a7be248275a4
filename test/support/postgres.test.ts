// The Postgres of the tests: each schema is one asker's own, also where many ask at once.
import { expect, it, onTestFinished } from "vitest";
import { noPostgres, startPostgres } from "./postgres.js";

it.skipIf(noPostgres())("gives each of many that ask at once a schema of its own", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const urls = await Promise.all(Array.from({ length: 8 }, () => server.newSchema()));
  expect(new Set(urls).size).toBe(8);
  for (const url of urls) await server.query("create table own (id integer)", url);
});
