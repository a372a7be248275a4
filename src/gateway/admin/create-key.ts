// What a new key must be: a plan that is configured, a rate where the plan asks for one, and hosted wallets only of its own
// account and mode, for a key that may send. The API and the command line both make keys here.
import type { ApiKey } from "../caller.js";
import type { GatewayDatabase } from "../database/database.js";
import { type Fault, fault, invalidField, type Outcome } from "../errors.js";
import type { CreateKeyRequest } from "../schemas/admin.js";
import type { GatewaySettings, Plan } from "../settings.js";

export interface KeyParts {
  readonly settings: Pick<GatewaySettings, "plans">;
  readonly database: Pick<GatewayDatabase, "accounts" | "keys" | "wallets" | "now">;
}

/** The secret is in this answer and nowhere else. */
export async function createKey(
  { settings, database }: KeyParts,
  account: string,
  request: CreateKeyRequest,
): Promise<Outcome<{ readonly key: ApiKey; readonly secret: string }>> {
  const { name, mode, plan, scopes, rateLimit, expiresAt } = request;
  if (!(await database.accounts.get(account))) return fault("NOT_FOUND", "there is no such account");
  const refused = planProblem(plan, rateLimit, settings.plans) ?? walletsProblem(request);
  if (refused) return refused;
  const wallets = await findWallets(request, account, database);
  if (!wallets.ok) return wallets;
  // Judged by the clock that will judge the key.
  if (expiresAt !== undefined && expiresAt * 1000 <= (await database.now())) {
    return invalidField("expiresAt", "expected a time that is still to come");
  }
  const created = await database.keys.create({
    account,
    name,
    mode,
    plan,
    scopes,
    wallets: wallets.value,
    ...(rateLimit !== undefined && { rateLimit }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt * 1000 }),
  });
  return { ok: true, value: created };
}

function planProblem(
  name: string,
  rateLimit: number | undefined,
  plans: Readonly<Record<string, Plan>>,
): Fault | undefined {
  const plan = Object.hasOwn(plans, name) ? plans[name] : undefined;
  if (!plan)
    return invalidField("plan", `expected one of ${Object.keys(plans).join(", ")}; got ${JSON.stringify(name)}`);
  if (plan.perMinute === "key" && rateLimit === undefined) {
    return invalidField("rateLimit", `the plan ${name} leaves the rate to the key: give its requests a minute`);
  }
  if (plan.perMinute !== "key" && rateLimit !== undefined) {
    return invalidField("rateLimit", `the plan ${name} sets the rate (${plan.perMinute} a minute): leave it out`);
  }
  return undefined;
}

function walletsProblem({ scopes, wallets = [] }: CreateKeyRequest): Fault | undefined {
  if (wallets.length > 0 && !scopes.includes("send")) {
    return invalidField("wallets", "only a key with the scope send opens hosted wallets: add send, or leave them out");
  }
  return undefined;
}

/** Ids of the wallets, which may be named by their address too. Another account's is as unknown as none. */
async function findWallets(
  { wallets = [], mode }: CreateKeyRequest,
  account: string,
  database: Pick<GatewayDatabase, "wallets">,
): Promise<Outcome<readonly string[]>> {
  if (wallets.length === 0) return { ok: true, value: [] };
  const own = await database.wallets.list(account);
  const ids = new Set<string>();
  for (const [index, name] of wallets.entries()) {
    const found = own.find((wallet) => isNamed(wallet, name) && wallet.mode === mode);
    if (!found) {
      return invalidField(`wallets.${index}`, `this account has no hosted ${mode} wallet ${JSON.stringify(name)}`);
    }
    ids.add(found.id);
  }
  return { ok: true, value: [...ids] };
}

const isNamed = ({ id, address }: { id: string; address: string }, name: string): boolean =>
  id === name || (address.startsWith("0x") ? address.toLowerCase() === name.toLowerCase() : address === name);
