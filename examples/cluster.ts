// One shop in four processes on one port. They remember payments together, so that what is shown to all of them buys once; and what
// one of them leaves unfinished when it is killed, the others bring to its end. Needs `npm install kysely libsql`; PAYMENTS_FILE is
// where the payments are kept. On several machines: redisStore or PostgreSQL in the place of the file.
import cluster from "node:cluster";
import express from "express";
import { createPaywall } from "tollgate/express";
import { sqlStore } from "tollgate/store/sql";

const port = Number(process.env.PORT ?? 3000);
const PROCESSES = 4;

if (cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", () => {
    listening += 1;
    if (listening === PROCESSES) console.log(`http://localhost:${port}/report`);
  });
  cluster.on("exit", (_worker, code, signal) => {
    // Another one takes the place of who was killed. Who ended by himself cannot work, and the next one could not either.
    if (signal) cluster.fork();
    else process.exit(code || 1);
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
  // Rejects where only another set-up would help, such as a package that is missing: that ends the shop, with the reason.
  await pay.ready();
  app.listen(port);
}
