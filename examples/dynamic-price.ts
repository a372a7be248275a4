// A price that depends on the request: so much a page. `times` multiplies exactly, where 0.002 * 3 would not.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { times } from "tollgate";
import { paywall } from "tollgate/hono";

const payTo = "0x000000000000000000000000000000000000dEaD"; // your address
const port = Number(process.env.PORT ?? 3000);
const app = new Hono();

/** An error with a 4xx status is the buyer's: it is answered as it stands and nothing is asked for. */
function countPages(target: string): number {
  const pages = Number(new URL(target, "http://localhost").searchParams.get("pages"));
  if (Number.isInteger(pages) && pages >= 1 && pages <= 100) return pages;
  throw Object.assign(new Error("Say how many pages you want: ?pages=1 to ?pages=100"), { status: 400 });
}

const pricePerPage = paywall((request) => times("$0.002", countPages(request.target)), {
  payTo,
  network: "base-sepolia",
});

app.get("/book", pricePerPage, (c) => c.json({ pages: countPages(c.req.url) }));

serve({ fetch: app.fetch, port }, () => console.log(`http://localhost:${port}/book?pages=3`));
