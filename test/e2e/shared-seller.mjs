// One process of a seller whose payments are remembered in a shared store, for tests: it prints its port. `/runs` tells how often
// its handler has run.
import express from "express";
import { local } from "tollgate";
import { createPaywall } from "tollgate/express";

const { RPC_URL: rpcUrl, SETTLER_KEY: settler, PAY_TO: payTo } = process.env;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const receive = local({ networks: { "base-sepolia": { rpcUrl, settler } } });
// The store comes from TOLLGATE_STORE_URL.
const pay = createPaywall({ payTo, network: "base-sepolia", receive, logger: silent });
const app = express();
let runs = 0;
app.get("/report", pay("$0.01"), (_req, res) => {
  runs += 1;
  res.type("text/plain").send(`the goods of ${process.pid}`);
});
app.get("/runs", (_req, res) => res.json(runs));
await pay.ready();
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
