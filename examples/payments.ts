// Sells a report, and shows its operator the events of all payments as counters of Prometheus and the payments as CSV. The
// operator's port is for this machine alone: what it shows is nobody else's business.
import { pipeline } from "node:stream/promises";
import express from "express";
import { register } from "prom-client";
import { createPaywall } from "tollgate/express";
import { collectMetrics } from "tollgate/metrics";
import { toCsv } from "tollgate/payments";

const { PORT = 3000, OPERATOR_PORT = 3001 } = process.env;
const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const pay = createPaywall({ payTo, network: "base-sepolia" });
await collectMetrics(pay);
pay.on("low_gas", ({ settler, network }) => console.error(`send ${settler} gas on ${network}`));

const app = express();
app.get("/report", pay("$0.01"), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});
app.listen(PORT, () => console.log(`http://localhost:${PORT}/report`));

const operator = express();
operator.get("/metrics", async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
});
operator.get("/payments.csv", async (_req, res) => {
  await pipeline(toCsv(pay.payments({ since: Date.now() - 3_600_000 })), res.type("csv"));
});
operator.listen(Number(OPERATOR_PORT), "127.0.0.1");
