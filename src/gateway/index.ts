// Public names of `tollgate/gateway`: the payment service. Its packages are optional, so what is missing is said in one
// sentence before anything is loaded.
import type { Gateway, GatewayContext } from "./gateway.js";
import type { GatewayOptions } from "./options.js";
import { requireGatewayPeers } from "./peers.js";
import type { RunningGateway, ServeOptions } from "./serve.js";

export { PaywallConfigError } from "../errors.js";
export type { ApiKey, Scope } from "./caller.js";
export type { ErrorDetail, GatewayErrorCode } from "./errors.js";
export type { Gateway, GatewayContext } from "./gateway.js";
export type { GatewayEvmOptions, GatewayOptions, GatewaySolanaOptions } from "./options.js";
export type { GatewayLogger } from "./parts.js";
export type { PaymentStatus } from "./payment.js";
export type { RunningGateway, ServeOptions } from "./serve.js";
export type { Endpoint, GatewaySettings, Plan } from "./settings.js";

/**
 * Opens a gateway. The environment fills what the options leave out.
 *
 * @throws PaywallConfigError with every problem, or with the packages to install.
 * @example
 * const gateway = await createGateway({ networks: { "base-sepolia": { rpcUrl, settler } } });
 * gateway.start();
 * await serve(gateway, { port: 4020 });
 */
export async function createGateway(options: GatewayOptions = {}, context: GatewayContext = {}): Promise<Gateway> {
  await requireGatewayPeers();
  const { createGateway: create } = await import("./gateway.js");
  return create(options, context);
}

/** Listens on a port of this machine. */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<RunningGateway> {
  const { serve: listen } = await import("./serve.js");
  return listen(gateway, options);
}
