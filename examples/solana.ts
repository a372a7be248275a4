// One priced route, paid in USDC on Solana. To settle in your own process set TOLLGATE_RPC_URL_SOLANA_DEVNET and
// TOLLGATE_SETTLER_KEY_SOLANA (a key with some SOL: it pays the network fee and holds none of the money).
import express from "express";
import { paywall } from "tollgate/express";

const payTo = "YourSoLanaAddressHere1111111111111111111112"; // your address; it must have a token account for USDC
const port = process.env.PORT ?? 3000;
const app = express();

app.get("/report", paywall("$0.01", { payTo, network: "solana-devnet" }), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
