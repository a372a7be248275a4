// The engine of the service, put together from its functions.

import { createWalletProofs } from "./admin/wallet-proof.js";
import { createBuildReceive } from "./build/receive.js";
import { createBuildSend } from "./build/send.js";
import type { Engine } from "./engine.js";
import type { GatewayParts } from "./parts.js";
import { createFacilitatorEndpoints } from "./receive/facilitator.js";
import { createReceive } from "./receive/receive.js";
import { createRecords } from "./records.js";
import { createSend } from "./send/send.js";
import { createTransactions } from "./transactions.js";

export const createEngine = (parts: GatewayParts): Engine => ({
  send: createSend(parts),
  receive: createReceive(parts),
  buildSend: createBuildSend(parts),
  buildReceive: createBuildReceive(parts),
  transaction: createTransactions(parts),
  ...createRecords(parts),
  ...createFacilitatorEndpoints(parts),
  ...createWalletProofs(parts),
});
