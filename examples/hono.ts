// One priced route on Hono; the same call as on Express.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { type PaymentVariables, paywall } from "tollgate/hono";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);
const app = new Hono<{ Variables: PaymentVariables }>();

app.get("/", (c) => c.text("The report costs one cent: GET /report\n"));

app.get("/report", paywall("$0.01", { payTo, network: "base-sepolia" }), (c) =>
  c.json({ report: "Sales went up by 4 %.", paidBy: c.get("payment")?.payer }),
);

serve({ fetch: app.fetch, port }, () => console.log(`http://localhost:${port}/report`));
