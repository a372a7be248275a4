// A published server with one priced route for each chain, `/evm` and `/solana`, for every method:
// `node server.mjs PACKAGE TERMS`, where TERMS is JSON { facilitatorUrl, evm, solana }, each chain its payee, and the
// facilitator's bearer is in API_KEY. Prints its URL when it listens. `GET /runs` tells how often the handlers ran.
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware as createV2, x402ResourceServer } from "@x402/express";
import { ExactSvmScheme } from "@x402/svm/exact/server";
import express from "express";
import { paymentMiddleware as createV1 } from "x402-express";

const [name, terms] = process.argv.slice(2);
const { facilitatorUrl: url, evm, solana } = JSON.parse(terms);
const authorization = { Authorization: `Bearer ${process.env.API_KEY}` };
/** The list of what is supported needs no key. */
const createAuthHeaders = async () => ({ verify: authorization, settle: authorization, supported: {} });
const price = "$0.01";

const paywalls = {
  "x402-express"() {
    const facilitator = { url, createAuthHeaders };
    return [
      createV1(evm, { "/evm": { price, network: "base-sepolia" } }, facilitator),
      createV1(solana, { "/solana": { price, network: "solana-devnet" } }, facilitator),
    ];
  },
  "@x402/express"() {
    const [base, devnet] = ["eip155:84532", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"];
    const server = new x402ResourceServer(new HTTPFacilitatorClient({ url, createAuthHeaders }))
      .register(base, new ExactEvmScheme())
      .register(devnet, new ExactSvmScheme());
    const accept = (network, payTo) => ({ accepts: { scheme: "exact", price, network, payTo }, description: "goods" });
    return [createV2({ "/evm": accept(base, evm), "/solana": accept(devnet, solana) }, server)];
  },
};

let runs = 0;
const app = express();
app.use(express.json(), ...paywalls[name]());
app.get("/runs", (_req, res) => res.json(runs));
app.all(["/evm", "/solana"], (req, res) => {
  runs += 1;
  res.json({ method: req.method, body: req.body ?? null });
});
const listening = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listening.address().port}`));
