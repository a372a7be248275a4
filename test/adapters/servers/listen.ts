// A node:http server on a port of its own, for the frameworks that the HTTP cases run on.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunningSite } from "../../../src/testing/index.js";

export interface Paywall {
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Listens, and closes the paywall with the server. */
export async function listen(server: Server, pay: Paywall): Promise<RunningSite> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    ready: () => pay.ready(),
    async close() {
      await pay.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
