// Prices in one table, apart from the routes. The first matching line wins; paths that no line names are open.
import express from "express";
import { paywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();

app.use(
  paywall({
    payTo: "0x000000000000000000000000000000000000dEaD", // your address
    network: "base-sepolia",
    routes: {
      "GET /health": "free",
      "GET /weather": "$0.001",
      "POST /render/:kind": { price: "$0.05", description: "One rendered page" },
      "/files/*": "$0.002",
    },
  }),
);

app.get("/health", (_req, res) => {
  res.send("ok\n");
});
app.get("/weather", (_req, res) => {
  res.json({ celsius: 21 });
});
app.post("/render/:kind", (req, res) => {
  res.type("text/plain").send(`One ${req.params.kind} page.\n`);
});
app.get("/files/:name", (req, res) => {
  res.type("text/plain").send(`The content of ${req.params.name}.\n`);
});

app.listen(port, () => console.log(`http://localhost:${port}/weather`));
