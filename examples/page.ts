// The page that a person pays at: open http://localhost:3000/report in a browser with a wallet. Programs get JSON, as ever.
import express from "express";
import { createPaywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();

const pay = createPaywall({
  payTo: "0x000000000000000000000000000000000000dEaD", // your address
  network: "base-sepolia",
  page: { name: "The Weekly Ledger", color: "#7c3aed" },
});

app.use(
  pay.routes({
    "GET /report": { price: "$0.01", description: "The sales of this week" },
    // A page of your own around the payment card. Escape whatever else of the facts you print.
    "GET /essay": {
      price: "$0.02",
      page: ({ card }) => `<!doctype html><html lang="en"><title>An essay</title><main>${card}</main></html>`,
    },
    "GET /feed": { price: "$0.001", page: false },
  }),
);

app.get("/report", (_req, res) => {
  res.send("<!doctype html><title>Report</title><h1>Sales went up by 4 %.</h1>");
});
app.get("/essay", (_req, res) => {
  res.send("<!doctype html><title>Essay</title><h1>On paying for things</h1>");
});
app.get("/feed", (_req, res) => {
  res.json({ items: [] });
});

app.listen(port, () => console.log(`http://localhost:${port}/report`));
