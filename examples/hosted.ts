// A seller that holds no settling key and asks no chain: a tollgate gateway verifies and settles. Its key has the scope
// `receive` alone, so whoever steals it can send nothing. Start a gateway with `npx tollgate gateway`, and make the key with
// `npx tollgate keys create --name shop --scopes receive`; it stands in TOLLGATE_API_KEY, the gateway in TOLLGATE_GATEWAY_URL.
import express from "express";
import { hosted } from "tollgate";
import { createPaywall } from "tollgate/express";

const { TOLLGATE_GATEWAY_URL: baseUrl = "http://127.0.0.1:4020", TOLLGATE_API_KEY: apiKey = "" } = process.env;
const { PORT: port = 3000 } = process.env;
const app = express();

const pay = createPaywall({
  payTo: "0x000000000000000000000000000000000000dEaD", // your address
  network: "base-sepolia",
  receive: hosted({ baseUrl, apiKey }),
});

app.get("/report", pay("$0.01"), (req, res) => {
  res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
});
app.get("/archive", pay("0.001 ETH"), (req, res) => {
  res.json({ reports: ["Sales went up by 4 %."], transaction: req.payment?.transaction });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
