// Payments are checked and settled by an x402 facilitator: no key and no chain access of your own.
// createPaywall reads the shared settings once, for as many routes as you like.
import express from "express";
import { facilitator } from "tollgate";
import { createPaywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();

const pay = createPaywall({
  payTo: "0x000000000000000000000000000000000000dEaD", // your address
  network: "base-sepolia",
  receive: facilitator({ url: process.env.FACILITATOR_URL ?? "https://x402.org/facilitator" }),
});

app.get("/report", pay("$0.01"), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});
app.get("/archive", pay("$0.05", { description: "Every report so far" }), (_req, res) => {
  res.json({ reports: ["Sales went up by 4 %."] });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
