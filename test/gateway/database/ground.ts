// A database of a gateway for one test: in a SQLite file of its own, or in a schema of a real Postgres, whose time the test moves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import { createFakeClock } from "../../support/fake-clock.js";
import type { PostgresServer } from "../../support/postgres.js";

export interface Ground {
  readonly database: GatewayDatabase;
  /** The same database as another process has it. */
  another(): Promise<GatewayDatabase>;
  /** Moves the database's time on. */
  advance(ms: number): Promise<void>;
}
export type MakeGround = () => Promise<Ground>;

export function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "gateway.db");
}

export async function sqliteGround(): Promise<Ground> {
  const file = newFile();
  const clock = createFakeClock();
  const another = () => closed(openDatabase({ file }, { clock }));
  return { database: await another(), another, advance: clock.advance };
}

export const postgresGround =
  (server: () => PostgresServer): MakeGround =>
  async () => {
    const url = await server().newSchema();
    await server().query("create table ahead (ms bigint); insert into ahead values (0)", url);
    const another = () => closed(openDatabase({ url }, { ahead: "(select ms from ahead)" }));
    const advance = async (ms: number) => void (await server().query(`update ahead set ms = ms + ${ms}`, url));
    return { database: await another(), another, advance };
  };

/** Closed when the test ends. */
async function closed(opening: Promise<GatewayDatabase>): Promise<GatewayDatabase> {
  const database = await opening;
  onTestFinished(() => database.close());
  return database;
}
