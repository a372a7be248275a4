// The gateway of the demo: the payment service on its SQLite default, in a folder that is removed at the end. One of the sellers
// holds nothing but a key of it with the scope `receive`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, type GatewayLogger, type GatewayOptions, serve } from "tollgate/gateway";

export interface DemoGateway {
  readonly url: string;
  /** For the seller: it can receive, and read no history. */
  readonly receiveKey: string;
  /** Where it is, in lines. */
  readonly lines: readonly string[];
  /** Signs in to its dashboard, once. */
  loginLink(): Promise<string>;
  /** Payments of a wallet, each with the status that the gateway has written down. */
  historyOf(wallet: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

const silent = () => {};
/** What goes wrong is told; a line for each request is not. */
const logger: GatewayLogger = {
  ...{ debug: silent, info: silent, warn: console.error, error: console.error },
  child: () => logger,
};

export async function startGateway(networks: GatewayOptions["networks"]): Promise<DemoGateway> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-demo-"));
  const gateway = await createGateway(
    { networks, database: { file: join(folder, "tollgate.db") } },
    { env: {}, logger },
  );
  if (!gateway.firstKey) throw new Error("A new database has made no first key");
  const { key, secret: readKey } = gateway.firstKey;
  const { account, mode, plan } = key;
  const { secret: receiveKey } = await gateway.database.keys.create({
    ...{ account, mode, plan, name: "the seller on Hono", scopes: ["receive"] },
  });
  gateway.start();
  const { url, close } = await serve(gateway, { port: 0 });
  return {
    url,
    receiveKey,
    lines: [
      `A gateway runs at ${url}, on one SQLite file; its API is explained at ${url}/docs`,
      "The seller on Hono receives through it, with a key that can do nothing else.",
    ],
    loginLink: () => gateway.loginLink(account, url),
    async historyOf(wallet) {
      const headers = { authorization: `Bearer ${readKey}` };
      const answer = await fetch(`${url}/payment/history/${wallet}?type=received`, { headers });
      const { payments } = (await answer.json()) as { payments: { status: string }[] };
      return payments.map(({ status }) => status);
    },
    async close() {
      await close();
      await rm(folder, { recursive: true });
    },
  };
}
