// A gateway's database on a file of its own, for one test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { openDatabase } from "../../../src/gateway/database/open.js";
import type { NewHostedWallet } from "../../../src/gateway/parts.js";

export const PASSPHRASE = "seven sober sailors sew sails";

export interface OwnDatabase {
  readonly file: string;
  readonly database: GatewayDatabase;
  /** The same file once more, as after a restart or in another process. */
  again(): Promise<GatewayDatabase>;
  close(): Promise<void>;
}

export async function openOwnDatabase(): Promise<OwnDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-wallets-"));
  const file = join(folder, "gateway.db");
  const opened: GatewayDatabase[] = [];
  const again = async () => {
    const database = await openDatabase({ file });
    opened.push(database);
    return database;
  };
  return {
    file,
    database: await again(),
    again,
    async close() {
      for (const database of opened) await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A wallet as it is asked for. */
export const wanted = (account: string, family: "evm" | "solana" = "evm"): NewHostedWallet => ({
  account,
  mode: "test",
  family,
  name: "till",
  limits: [],
});
