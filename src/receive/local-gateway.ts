// `local()` with a gateway: the service's Local mode. The gateway verifies and builds the transaction that collects a payment;
// it is checked here, signed with the seller's own wallet and broadcast over the seller's own RPC. No key leaves, and what the
// gateway answers can keep a payment from being collected but can never move money elsewhere. Source: gateway-spec, design §6.
import { systemClock } from "../clock.js";
import { consoleLogger, harmless } from "../logger.js";
import { createAlarms } from "./alarms.js";
import { collectBuilt } from "./collect-built.js";
import { createCollector } from "./collector.js";
import { createHostedApi } from "./hosted-api.js";
import { createHttpClient } from "./http.js";
import { readLocalGatewayOptions } from "./local-gateway-options.js";
import { checkGateway } from "./local-gateway-ready.js";
import type { LocalGatewayOptions } from "./local-gateway-schema.js";
import { createLocalReceiver } from "./local-receiver.js";
import type { Receiver } from "./receiver.js";

/** Throws PaywallConfigError with every problem of the options. */
export function localOverGateway(input: LocalGatewayOptions): Receiver {
  const { options, gatewayMs, networks, find } = readLocalGatewayOptions(input);
  const { gateway, tokens = [], timeoutMs } = options;
  const logger = harmless(options.logger ?? consoleLogger);
  const http = createHttpClient();
  const api = createHostedApi({ ...gateway, tokens }, http, gatewayMs);
  const alarms = createAlarms(logger, systemClock);
  const builder = createCollector({ api, alarms, now: systemClock.now, timeoutMs: gatewayMs });
  const missing = (network: string) =>
    `local() has no way to ${network}: add its URL to rpcUrl and its key to wallet, { evm, solana }`;
  const own = createLocalReceiver(
    { ...(networks && { networks }), ...(timeoutMs !== undefined && { timeoutMs }), logger, find, missing },
    { builder },
  );

  return {
    ...own,
    ready: (requirements, signal) => checkGateway({ own, api, tokens, gatewayMs, networks }, requirements, signal),
    settle: collectBuilt(own, builder),
    async close() {
      http.close();
      await own.close();
    },
  };
}
