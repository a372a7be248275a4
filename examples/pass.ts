// Passes: one payment opens the same thing again, for a day or for ten times. The buyer keeps the Payment-Pass of the paid
// answer and sends it in the place of a payment.
import express from "express";
import { createPaywall } from "tollgate/express";

const port = process.env.PORT ?? 3000;
const app = express();

const pay = createPaywall({
  payTo: "0x000000000000000000000000000000000000dEaD", // your address
  network: "base-sepolia",
});

app.use(
  pay.routes({
    // A line of a table is one thing: the pass opens every file.
    "GET /files/*": { price: "$0.05", access: { for: "1d" } },
    "GET /convert": { price: "$0.02", access: { uses: 10, for: "1d" } },
  }),
);

app.get("/files/:name", (req, res) => {
  res.type("text/plain").send(`The content of ${req.params.name}.\n`);
});
app.get("/convert", (req, res) => {
  // Undefined on the paid request itself, which is the first of the ten uses.
  res.json({ converted: true, usesLeft: req.payment?.pass?.usesLeft ?? 9 });
});

app.listen(port, () => console.log(`http://localhost:${port}/convert`));
