// Prices in the chain's own currency: the buyer sends a transaction of his own, and the money is there before the handler
// runs. Needs your own node: TOLLGATE_RPC_URL_BASE_SEPOLIA and TOLLGATE_SETTLER_KEY_EVM.
import express from "express";
import { createPaywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();
const pay = createPaywall({
  payTo: "0x000000000000000000000000000000000000dEaD", // your address
  network: "base-sepolia",
});

app.get("/report", pay("0.0002 ETH"), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", transaction: req.payment?.transaction });
});
// A dearer one waits until three blocks stand on the payment.
app.get("/archive", pay("0.01 ETH", { confirmations: 3 }), (_req, res) => {
  res.json({ reports: ["Sales went up by 4 %."] });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
