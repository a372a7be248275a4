// One priced route on Fastify. As `onRequest` the paywall stands before the body is parsed.
import fastify from "fastify";
import { paywall } from "tollgate/fastify";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);
const app = fastify();

app.get("/", async () => "The report costs one cent: GET /report\n");

app.get("/report", { onRequest: paywall("$0.01", { payTo, network: "base-sepolia" }) }, async (request) => ({
  report: "Sales went up by 4 %.",
  paidBy: request.payment?.payer,
}));

await app.listen({ port });
console.log(`http://localhost:${port}/report`);
