// One route, several ways to pay: USDC on either chain, or the chains' own currencies. The buyer chooses; tokens come first.
// Needs your own nodes: TOLLGATE_RPC_URL_BASE_SEPOLIA with TOLLGATE_SETTLER_KEY_EVM, and TOLLGATE_RPC_URL_SOLANA_DEVNET with
// TOLLGATE_SETTLER_KEY_SOLANA.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createPaywall, type PaymentVariables } from "tollgate/hono";

const port = Number(process.env.PORT ?? 3000);
const app = new Hono<{ Variables: PaymentVariables }>();
const pay = createPaywall({
  payTo: {
    evm: "0x000000000000000000000000000000000000dEaD", // your addresses
    solana: "YourSoLanaAddressHere1111111111111111111112",
  },
  networks: ["base-sepolia", "solana-devnet"],
});

app.get("/report", pay(["$0.01", "0.001 SOL", "0.00001 ETH"]), (c) => {
  const payment = c.get("payment");
  return c.json({ report: "Sales went up by 4 %.", paidIn: payment?.asset, on: payment?.network });
});

serve({ fetch: app.fetch, port }, () => console.log(`http://localhost:${port}/report`));
