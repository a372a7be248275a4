// One priced route as a fetch handler: `export default { fetch }` is all that Workers and Bun need, Deno.serve(fetch) Deno.
import { serve } from "@hono/node-server";
import { paywall } from "tollgate/web";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);

const sell = paywall("$0.01", { payTo, network: "base-sepolia" });
const report = sell((_request, payment) => Response.json({ report: "Sales went up by 4 %.", paidBy: payment?.payer }));

function fetch(request: Request) {
  if (new URL(request.url).pathname === "/report") return report(request);
  return new Response("The report costs one cent: GET /report\n");
}

// On Node a fetch handler needs a server around it.
serve({ fetch, port }, () => console.log(`http://localhost:${port}/report`));
