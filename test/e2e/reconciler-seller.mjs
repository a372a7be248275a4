// A process of a seller that can be killed while it settles, for tests: it prints its port. `/events` tells what its background
// lookups have found, `/runs` how often its handler has run.
import express from "express";
import { local } from "tollgate";
import { createPaywall } from "tollgate/express";

const { RPC_URL: rpcUrl, SETTLER_KEY: settler, PAY_TO: payTo } = process.env;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const receive = local({ networks: { "base-sepolia": { rpcUrl, settler, settleMs: 3000 } } });
// The store comes from TOLLGATE_STORE_URL.
const pay = createPaywall({ payTo, network: "base-sepolia", receive, logger: silent, handlerTimeoutMs: 5000 });
const told = [];
pay.on("reconciled", ({ outcome, how }) => told.push({ outcome, how }));
const app = express();
let runs = 0;
app.get("/report", pay("$0.01"), (_req, res) => {
  runs += 1;
  res.type("text/plain").send(`the goods of ${process.pid}`);
});
app.get("/runs", (_req, res) => res.json(runs));
app.get("/events", (_req, res) => res.json(told));
await pay.ready();
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
