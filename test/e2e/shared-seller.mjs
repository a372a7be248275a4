// One process of a seller whose payments are remembered in a shared store, for tests: it prints its port. `/runs` tells how often
// its handler has run.
import express from "express";
import { local } from "tollgate";
import { createPaywall } from "tollgate/express";
import { redisStore } from "tollgate/store/redis";
import { sqlStore } from "tollgate/store/sql";

const { RPC_URL: rpcUrl, SETTLER_KEY: settler, PAY_TO: payTo, STORE_URL: url } = process.env;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const receive = local({ networks: { "base-sepolia": { rpcUrl, settler } } });
// Fifty at once wait for their turn at it, on a machine that has other things to do.
const timeoutMs = 20_000;
function openStore() {
  if (/^redis:/.test(url)) return redisStore({ url, timeoutMs });
  return sqlStore({ ...(/^sqlite:/.test(url) ? { file: new URL(url).pathname } : { url }), timeoutMs });
}
const pay = createPaywall({ payTo, network: "base-sepolia", receive, store: openStore(), logger: silent });
const app = express();
let runs = 0;
app.get("/report", pay("$0.01"), (_req, res) => {
  runs += 1;
  res.type("text/plain").send(`the goods of ${process.pid}`);
});
app.get("/runs", (_req, res) => res.json(runs));
await pay.ready();
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
