// The very first start makes an account and a key, so that a new gateway can be tried at once.
import { type ApiKey, SCOPES } from "./caller.js";
import type { GatewayDatabase } from "./database/database.js";
import type { GatewaySettings } from "./settings.js";

/** Undefined where there is an account already. A test key, or a live one where only main networks are served. */
export async function createFirstKey(
  { accounts, keys }: Pick<GatewayDatabase, "accounts" | "keys">,
  { networks }: Pick<GatewaySettings, "networks">,
): Promise<{ readonly key: ApiKey; readonly secret: string } | undefined> {
  if ((await accounts.list()).length > 0) return undefined;
  const account = await accounts.createFirst("default");
  if (!account) return undefined;
  const onlyMain = networks.length > 0 && networks.every(({ network }) => !network.testnet);
  const mode = onlyMain ? "live" : "test";
  return keys.create({ account: account.id, name: "first", mode, plan: "standard", scopes: SCOPES });
}
