// Everything from the environment: TOLLGATE_PAY_TO, TOLLGATE_NETWORKS, TOLLGATE_PRICE and one way to receive.
import express from "express";
import { paywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();

app.use(paywall());

app.get("/report", (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
