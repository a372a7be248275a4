// `tollgate gateway`: runs the payment service until it is told to stop.

import { formatBanner, formatFirstKey, formatLogin } from "./banner.js";
import { defineCommand, type OptionSpecs } from "./command.js";
import { CliError, type Io } from "./io.js";
import { requirePeers } from "./peers.js";
import { DATABASE_OPTIONS, overlay, readSettings } from "./settings.js";

const options = {
  port: { type: "string", value: "N", description: "4020 by default; 0 = any free one", env: "TOLLGATE_PORT" },
  host: { type: "string", value: "HOST", description: "127.0.0.1 by default: this machine only", env: "TOLLGATE_HOST" },
  "public-url": {
    type: "string",
    value: "URL",
    description: "Under which callers reach it",
    env: "TOLLGATE_PUBLIC_URL",
  },
  ...DATABASE_OPTIONS,
  "redis-url": { type: "string", value: "URL", description: "Joins several instances", env: "REDIS_URL" },
  networks: {
    type: "string",
    value: "A,B",
    description: "Networks to serve; by default those that have a TOLLGATE_RPC_URL_<NETWORK>",
    env: "TOLLGATE_NETWORKS",
  },
  assets: {
    type: "string",
    value: "A,B",
    description: "Tokens that may be moved; by default those of the built-in table",
    env: "TOLLGATE_ASSETS",
  },
  plans: {
    type: "string",
    value: "JSON",
    description: "Plans beside standard, premium and enterprise",
    env: "TOLLGATE_PLANS",
  },
  "facilitator-urls": {
    type: "string",
    value: "A,B",
    description: "Facilitators that callers may name",
    env: "TOLLGATE_FACILITATOR_URLS",
  },
  "event-origins": {
    type: "string",
    value: "A,B",
    description: "Web origins whose pages may open an event socket",
    env: "TOLLGATE_EVENT_ORIGINS",
  },
  "sponsored-per-account": {
    type: "string",
    value: "N",
    description: "Settlements a day that the gateway pays for, 10000 by default",
    env: "TOLLGATE_SPONSORED_PER_ACCOUNT",
  },
  "sponsored-per-payer": {
    type: "string",
    value: "N",
    description: "The same for one payer, 1000 by default",
    env: "TOLLGATE_SPONSORED_PER_PAYER",
  },
  "trust-proxy": {
    type: "string",
    value: "N",
    description: "Proxies in front, whose X-Forwarded-For is believed",
    env: "TOLLGATE_TRUST_PROXY",
  },
  "shutdown-ms": {
    type: "string",
    value: "MS",
    description: "How long a shutdown waits for requests under way, 10000 by default",
    env: "TOLLGATE_SHUTDOWN_MS",
  },
} as const satisfies OptionSpecs;

export const gateway = defineCommand({
  name: "gateway",
  summary: "Run the payment service",
  details: [
    "For each network it needs a node: TOLLGATE_RPC_URL_<NETWORK>, for example TOLLGATE_RPC_URL_BASE_SEPOLIA.",
    "Secrets come from the environment or the file of --config, never from the arguments:",
    "  TOLLGATE_SETTLER_KEY_EVM, TOLLGATE_SETTLER_KEY_SOLANA, TOLLGATE_SETTLER_KEY_<NETWORK>: pay for settlements",
    "  TOLLGATE_WALLET_PASSPHRASE, or TOLLGATE_WALLET_PASSPHRASE_FILE: opens hosted wallets",
    "  TOLLGATE_ADMIN_TOKEN: opens the operator's API under /admin;  TOLLGATE_METRICS_TOKEN: opens /metrics beyond loopback",
    "Further: TOLLGATE_CONFIRMATIONS_<NETWORK>, blocks that confirm a payment on EVM.",
    "TOLLGATE_DASHBOARD=off takes the page for people at /dashboard away; `tollgate gateway login` prints a link to it.",
    "The very first start makes an account and its first key, and prints it once. SIGTERM and SIGINT end it gracefully.",
    "Log lines are JSON on standard output; words for people go to standard error.",
  ],
  options,
  examples: [
    "TOLLGATE_RPC_URL_BASE_SEPOLIA=https://sepolia.base.org tollgate gateway",
    "DATABASE_URL=postgres://… REDIS_URL=redis://… tollgate gateway --host 0.0.0.0 --config gateway.json",
  ],
  async run(values, io) {
    const settings = readSettings(io.env, values, options, { networks: "required" });
    await requirePeers("gateway", settings);
    // Loaded only now, because all of their packages are optional.
    const [{ openGateway }, { serve }, { gatewayWarnings }] = await Promise.all([
      import("../gateway/gateway.js"),
      import("../gateway/serve.js"),
      import("../gateway/options.js"),
    ]);
    const opened = await openGateway(settings);
    // Said before anything else can fail: it is kept nowhere.
    if (opened.firstKey) say(io, formatFirstKey(opened.firstKey, settings));
    const stopped = whenStopped(io);
    try {
      const running = await serve(opened).catch((error: unknown) => {
        throw explainListening(error, settings);
      });
      opened.start();
      say(io, await formatBanner(opened, running.url, gatewayWarnings(settings, overlay(io.env, values, options))));
      if (io.stderr.isTTY) say(io, await formatLogin(opened, running.url));
      say(io, [`Stopping (${await stopped.signal}); requests under way get ${settings.shutdownMs} ms.`]);
      await running.close();
    } catch (error) {
      await opened.close();
      throw error;
    } finally {
      stopped.forget();
    }
  },
});

const say = (io: Io, lines: readonly string[]): void => void io.stderr.write(`${lines.join("\n")}\n`);

/** Resolves at the first SIGINT or SIGTERM; the next one ends the process at once, as the system does by itself. */
function whenStopped(io: Io): { readonly signal: Promise<string>; forget(): void } {
  let forget = () => {};
  const signal = new Promise<string>((resolve) => {
    forget = io.onStop((name) => {
      forget();
      resolve(name);
    });
  });
  return { signal, forget: () => forget() };
}

function explainListening(error: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return new CliError(`Port ${port} of ${host} is taken: choose another one with --port`);
  if (code === "EACCES")
    return new CliError(`Port ${port} needs more rights than this process has: choose one from 1024`);
  if (code === "EADDRNOTAVAIL") return new CliError(`${host} is no address of this machine: set --host`);
  return error;
}
