// What is no mistake but may surprise: said once at start, for the operator.
import type { Environment } from "../../environment.js";
import type { GatewaySettings } from "../settings.js";

/** Sentences, each with what to do. Empty where there is nothing to say. */
export function gatewayWarnings(settings: GatewaySettings, env: Environment = process.env): readonly string[] {
  const { database, redisUrl, networks, publicUrl, host, trustProxy, sponsored } = settings;
  const warnings: string[] = [];
  const say = (applies: boolean, sentence: string) => void (applies && warnings.push(sentence));
  const inFile = "file" in database;
  // Set by process managers that start one process for each core.
  const isOneOfMany = env.NODE_APP_INSTANCE !== undefined || env.NODE_UNIQUE_ID !== undefined;
  say(
    inFile && isOneOfMany,
    "This process is one of several on a SQLite file: they share payments, but each counts limits on its own. Set DATABASE_URL to a Postgres and REDIS_URL to a Redis.",
  );
  say(
    inFile && redisUrl !== undefined,
    "REDIS_URL joins several instances, but a SQLite file serves one machine only: set DATABASE_URL=postgres://… as well, or leave Redis out.",
  );
  say(
    !inFile && redisUrl === undefined,
    "Several instances on this Postgres each count limits on their own: set REDIS_URL if there is more than one.",
  );
  say(
    isPublic(host) && publicUrl === undefined,
    "Callers reach this gateway under a name that it does not know: set TOLLGATE_PUBLIC_URL, which messages to sign are bound to.",
  );
  say(
    publicUrl?.startsWith("http:") === true && !isLoopback(new URL(publicUrl).hostname),
    "API keys travel in the clear over http: set TOLLGATE_PUBLIC_URL to https and let a proxy hold the certificate.",
  );
  say(
    publicUrl?.startsWith("https:") === true && trustProxy === 0,
    "A proxy holds the certificate, but its X-Forwarded-For is not believed, so all strangers count as one: set TOLLGATE_TRUST_PROXY to the number of proxies.",
  );
  say(
    sponsored.perPayer > sponsored.perAccount,
    "One payer may use up an account's whole budget of sponsored settlements: set TOLLGATE_SPONSORED_PER_PAYER below TOLLGATE_SPONSORED_PER_ACCOUNT.",
  );
  for (const { network, options } of networks) {
    say(
      [options.rpcUrl].flat().length === 1 && !network.testnet,
      `${network.name} has one node only: give rpcUrl a list in the options or the file, so that another one answers when it fails.`,
    );
  }
  return warnings;
}

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i.test(host);
const isPublic = (host: string): boolean => !isLoopback(host);
