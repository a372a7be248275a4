// Follows a gateway live: one on a local chain pays from a hosted wallet, and every event of that payment is printed until it is
// on the chain. In a program of yours the last lines stand alone, with a key of the scope `events`; it keeps the last cursor.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { gatewayClient, operatorClient } from "tollgate/client";
import { createGateway, serve } from "tollgate/gateway";
import { createSandbox } from "tollgate/testing";

const chain = await createSandbox(); // Anvil in place of Base Sepolia
const folder = mkdtempSync(`${tmpdir()}/tollgate-events-`);
const token = crypto.randomUUID();
const gateway = await createGateway({
  database: { file: `${folder}/tollgate.db` },
  networks: { "base-sepolia": { rpcUrl: chain.rpcUrl, settler: chain.settlerKey } },
  adminToken: token,
  passphrase: crypto.randomUUID(), // yours must stay the same
});
gateway.start();
const { url, close } = await serve(gateway, { port: 0 });

const operator = operatorClient({ baseUrl: url, token });
const { account } = await operator.createAccount({ name: "shop" });
const limits = [{ network: "base-sepolia", asset: "ETH", perPayment: "0.01", perDay: "0.02" }];
const { wallet } = await operator.createWallet(account.id, { name: "till", mode: "test", family: "evm", limits });
await chain.native.setBalances([wallet.address as `0x${string}`], 10n ** 18n);
const scopes = ["send" as const, "events" as const];
const key = await operator.createKey(account.id, { name: "till", mode: "test", scopes, wallets: [wallet.id] });

const client = gatewayClient({ baseUrl: url, apiKey: key.secret });
const recipientAddress = "0x000000000000000000000000000000000000dEaD";
await client.send({ walletAddress: wallet.address, recipientAddress, amount: 0.001 });
for await (const { cursor, type, data } of client.events({ keys: ["payments"], since: 0 })) {
  console.log(cursor, type, data.status, data.amount, data.asset);
  if (data.status === "confirmed") break;
}
await close();
await chain.close();
rmSync(folder, { recursive: true });
