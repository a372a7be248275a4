// One priced route on Express. Without an RPC URL in the environment, a test network uses the public test facilitator.
import express from "express";
import { paywall } from "tollgate/express";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = process.env.PORT ?? 3000;
const app = express();

app.get("/", (_req, res) => {
  res.send("The report costs one cent: GET /report\n");
});

app.get("/report", paywall("$0.01", { payTo, network: "base-sepolia" }), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
