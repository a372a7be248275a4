// One shop in four processes on one port. They remember payments together, so that what is shown to all of them buys once; and what
// one of them leaves unfinished when it dies, the others bring to its end. Needs `npm install kysely libsql`. On several machines:
// redisStore or PostgreSQL in the place of the file.
import cluster from "node:cluster";
import express from "express";
import { createPaywall } from "tollgate/express";
import { sqlStore } from "tollgate/store/sql";

const port = process.env.PORT ?? 3000;
const PROCESSES = 4;

if (cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", (worker) => {
    // Who has never listened would fail again, so only the others are replaced.
    worker.once("exit", () => cluster.fork());
    listening += 1;
    if (listening === PROCESSES) console.log(`http://localhost:${port}/report`);
  });
  for (let count = 0; count < PROCESSES; count += 1) cluster.fork();
} else {
  const app = express();
  const pay = createPaywall({
    payTo: "0x000000000000000000000000000000000000dEaD", // your address
    network: "base-sepolia",
    store: sqlStore({ file: process.env.PAYMENTS_FILE ?? "payments.db" }),
  });

  app.get("/report", pay("$0.01"), (req, res) => {
    res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer, servedBy: process.pid });
  });

  app.listen(port);
}
