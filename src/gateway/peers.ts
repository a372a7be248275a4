// The packages that every gateway needs. They are optional peers, so a missing one is said in a sentence that installs them.
import { PaywallConfigError } from "../errors.js";

/** What is loaded whatever the settings: drivers of databases, chains and Redis are asked for where they are opened. */
export const GATEWAY_PEERS = [
  "hono",
  "@hono/zod-openapi",
  "@hono/node-server",
  "kysely",
  "pino",
  "prom-client",
  "rate-limiter-flexible",
  "ws",
] as const;

/** @throws PaywallConfigError with one line that installs what is missing. */
export async function requireGatewayPeers(
  resolve: (name: string) => string | Promise<string> = (name) => import.meta.resolve(name),
): Promise<void> {
  const found = await Promise.all(
    GATEWAY_PEERS.map(async (name) => ({ name, found: await canResolve(name, resolve) })),
  );
  const missing = found.filter((one) => !one.found).map(({ name }) => name);
  if (missing.length === 0) return;
  const message = `the gateway needs ${missing.join(", ")}: npm install ${missing.join(" ")}`;
  throw new PaywallConfigError([{ path: "gateway", code: "missing_package", message }], "gateway");
}

async function canResolve(name: string, resolve: (name: string) => string | Promise<string>): Promise<boolean> {
  try {
    await resolve(name);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_MODULE_NOT_FOUND") return false;
    // It is there; what it exports is found out when it is loaded.
    if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return true;
    throw error;
  }
}
