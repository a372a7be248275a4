// The operator's API under /admin: accounts, keys and hosted wallets, as the command line has them. Every change is one line of
// the log, with who it is about and without anything secret.
import { Hono } from "hono";
import { fault } from "../errors.js";
import type { GatewayEnv } from "../http/context.js";
import { createAccountRequest, createKeyRequest } from "../schemas/admin.js";
import { createKey } from "./create-key.js";
import { operatorOnly } from "./operator.js";
import { toAccountRecord, toKeyRecord } from "./records.js";
import { type AdminApp, type AdminParts, type Audit, NO_ACCOUNT, route, withBody, without } from "./route.js";
import { routeWallets } from "./wallets.js";

/**
 * Mounted under /admin. Needs `Authorization: Bearer TOLLGATE_ADMIN_TOKEN`; without that setting every path is a 404.
 *
 * @example app.route("/admin", createAdmin(parts));
 */
export function createAdmin(parts: AdminParts): AdminApp {
  const app: AdminApp = new Hono<GatewayEnv>();
  const { logger } = parts;
  const audit: Audit = ({ requestId }, change, facts) => logger.info({ requestId, change, ...facts }, "operator");
  app.use("*", operatorOnly(parts.settings.adminToken));
  routeAccounts(app, parts, audit);
  routeKeys(app, parts, audit);
  routeWallets(app, parts, audit);
  return app;
}

function routeAccounts(app: AdminApp, { database }: AdminParts, audit: Audit): void {
  route(
    app,
    "/accounts",
    without("get", async () => {
      const accounts = await database.accounts.list();
      return { ok: true, value: { accounts: accounts.map(toAccountRecord) } };
    }),
    withBody("post", createAccountRequest, async (call) => {
      const account = await database.accounts.create(call.body.name);
      audit(call, "account made", { account: account.id });
      return { ok: true, value: { account: toAccountRecord(account) } };
    }),
  );
}

function routeKeys(app: AdminApp, { settings, database }: AdminParts, audit: Audit): void {
  route(
    app,
    "/accounts/:account/keys",
    without("get", async ({ params: { account = "" } }) => {
      if (!(await database.accounts.get(account))) return NO_ACCOUNT;
      const keys = await database.keys.list(account);
      return { ok: true, value: { keys: keys.map(toKeyRecord) } };
    }),
    withBody("post", createKeyRequest, async (call) => {
      const created = await createKey({ settings, database }, call.params.account ?? "", call.body);
      if (!created.ok) return created;
      const { key, secret } = created.value;
      const { id, account, prefix, mode, scopes, wallets } = key;
      audit(call, "key made", { account, keyId: id, key: prefix, mode, scopes, wallets });
      return { ok: true, value: { key: toKeyRecord(key), secret } };
    }),
  );
  route(
    app,
    "/accounts/:account/keys/:key",
    without("delete", async (call) => {
      const { account = "", key: id = "" } = call.params;
      const found = await database.keys.get(id);
      if (!found || found.account !== account) return fault("NOT_FOUND", "this account has no such key");
      // Revoked twice is revoked: the same answer.
      if (await database.keys.revoke(account, id))
        audit(call, "key revoked", { account, keyId: id, key: found.prefix });
      return { ok: true, value: { key: toKeyRecord((await database.keys.get(id)) ?? found) } };
    }),
  );
}
