// A route handler of Next.js. In an app this is `app/report/route.ts`, from `const sell` to `OPTIONS`; the rest serves it here.
import { serve } from "@hono/node-server";
import { paywall } from "tollgate/next";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);

const sell = paywall("$0.01", { payTo, network: "base-sepolia" });

export const GET = sell((_request, { payment }) =>
  Response.json({ report: "Sales went up by 4 %.", paidBy: payment?.payer }),
);
export const OPTIONS = GET;

function fetch(request: Request) {
  if (new URL(request.url).pathname === "/report") return GET(request, {});
  return new Response("The report costs one cent: GET /report\n");
}

serve({ fetch, port }, () => console.log(`http://localhost:${port}/report`));
