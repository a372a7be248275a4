// One priced route on plain node:http: `sell` goes around the handler of the route.
import { createServer } from "node:http";
import { paywall } from "tollgate/node";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);

const sell = paywall("$0.01", { payTo, network: "base-sepolia" });
const report = sell((req, res) => {
  res.setHeader("Content-Type", "application/json");
  res.end(JSON.stringify({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer }));
});

const server = createServer((req, res) => {
  if (req.url === "/report") report(req, res);
  else res.end("The report costs one cent: GET /report\n");
});

server.listen(port, () => console.log(`http://localhost:${port}/report`));
