// The published clients of a facilitator (@x402/core 2.x and x402 1.x), as published servers use them:
// `node facilitator-clients.mjs URL`, the bearer in API_KEY, on standard input [{ version, paymentPayload, paymentRequirements }].
// Prints { supported, results: [{ verify, settle }] }.
import { text } from "node:stream/consumers";
import { HTTPFacilitatorClient } from "@x402/core/http";
import { useFacilitator } from "x402/verify";

const url = process.argv[2];
const authorization = { Authorization: `Bearer ${process.env.API_KEY}` };
const createAuthHeaders = async () => ({ verify: authorization, settle: authorization, supported: {} });
const clients = {
  1: useFacilitator({ url, createAuthHeaders }),
  2: new HTTPFacilitatorClient({ url, createAuthHeaders }),
};

const results = [];
for (const { version, paymentPayload, paymentRequirements } of JSON.parse(await text(process.stdin))) {
  const client = clients[version];
  const verify = await client.verify(paymentPayload, paymentRequirements);
  const settle = await client.settle(paymentPayload, paymentRequirements);
  results.push({ verify, settle });
}
const supported = { 1: await clients[1].supported(), 2: await clients[2].getSupported() };
console.log(JSON.stringify({ supported, results }));
