// Passes: what a paid answer opens beside itself, for whom, how often, and what it never opens.
import { fresh, type HttpCase, inShop } from "./case.js";
import type { Got } from "./client.js";
import { equal, GOODS, RETRY_KEY } from "./shop.js";

const showing = (token: string | undefined) => ({ headers: { "Payment-Pass": token ?? "" } });
const said = ({ status, json }: Got) => [status, json.code];
const offersOf = ({ headers }: Got) => headers["payment-required"] !== undefined;

export const PASS_CASES: readonly HttpCase[] = [
  inShop("a paid answer brings a pass that admits without a payment, for its time", {}, async (shop) => {
    const bought = await shop.buy(await shop.sign({ path: "/hour" }), "/hour");
    const token = bought.headers["payment-pass"];
    equal([bought.status, /^[\w-]{43}$/.test(token ?? "")], [200, true]);
    equal(bought.headers["cache-control"], "private, no-store");
    for (let use = 0; use < 5; use += 1) {
      const got = await shop.ask("/hour?again", showing(token));
      equal([got.status, got.text, got.headers["payment-pass"]], [200, GOODS, undefined]);
      equal(/private/.test(got.headers["cache-control"] ?? ""), true);
    }
    const pass = shop.runs[1]?.payment?.toJSON();
    equal([pass?.amount, pass?.pass?.usesLeft, pass?.payer], ["0", null, shop.runs[0]?.payment?.payer]);
    equal(shop.runs[0]?.payment?.pass, undefined);
    await shop.counted({ runs: 6, debits: 1, bodies: 1 });
  }),

  inShop(
    "a pass of three uses runs the handler three times, the paid one among them, then asks for money",
    {},
    async (shop) => {
      const bought = await shop.buy(await shop.sign({ path: "/three" }), "/three");
      const pass = showing(bought.headers["payment-pass"]);
      equal(
        (await Promise.all([1, 2].map(() => shop.ask("/three", pass)))).map(({ text }) => text),
        [GOODS, GOODS],
      );
      const over = await shop.ask("/three", pass);
      equal([...said(over), offersOf(over)], [402, "pass_used_up", true]);
      await shop.counted({ runs: 3, debits: 1, bodies: 1 });
    },
  ),

  inShop(
    "a pass that opens nothing here is refused with its reason and the offers, and reaches no handler",
    {},
    async (shop) => {
      const bought = await shop.buy(await shop.sign({ path: "/hour" }), "/hour");
      const token = bought.headers["payment-pass"];
      for (const [path, shown, code] of [
        ["/three", token, "pass_elsewhere"],
        ["/hour", "A".repeat(43), "pass_unknown"],
        ["/hour", "forged", "pass_malformed"],
        ["/hour", `${token}, ${token}`, "pass_malformed"],
        // A route that sells no pass looks at none.
        ["/paid", token, "payment_required"],
      ] as const) {
        const got = await shop.ask(path, showing(shown));
        equal([...said(got), offersOf(got)], [402, code, true]);
      }
      await shop.counted({ runs: 1, debits: 1, bodies: 1 });
    },
  ),

  fresh("a use whose handler failed is there again", () =>
    inShop(
      "failed use",
      { handler: (_, count) => (count === 2 ? { status: 500, body: "sorry" } : { status: 200, body: GOODS }) },
      async (shop) => {
        const bought = await shop.buy(await shop.sign({ path: "/three" }), "/three");
        const pass = showing(bought.headers["payment-pass"]);
        const got: number[] = [];
        for (let use = 0; use < 4; use += 1) got.push((await shop.ask("/three", pass)).status);
        equal(got, [500, 200, 200, 402]);
        await shop.counted({ runs: 4, debits: 1, bodies: 1 });
      },
    ),
  ),

  inShop("a payment beside a good pass stays unused, and beside a bad one it buys", {}, async (shop) => {
    const bought = await shop.buy(await shop.sign({ path: "/three" }), "/three");
    const pass = showing(bought.headers["payment-pass"]);
    const second = await shop.sign({ path: "/three" });
    for (let use = 0; use < 2; use += 1) {
      const beside = await shop.ask("/three", { headers: { ...second.headers, ...pass.headers } });
      equal([beside.status, beside.headers["payment-response"]], [200, undefined]);
    }
    await shop.counted({ runs: 3, debits: 1, bodies: 1 });
    equal((await shop.buy(second, "/three", pass)).status, 200);
    await shop.counted({ runs: 4, debits: 2, bodies: 2 });
  }),

  inShop("a retry with its key gets a new pass in the place of the one that was lost", {}, async (shop) => {
    const payment = await shop.sign({ path: "/three", retryKey: RETRY_KEY });
    const [first, again] = [await shop.buy(payment, "/three"), await shop.buy(payment, "/three")];
    equal([again.text, again.headers["payment-replayed"]], [GOODS, "true"]);
    const [old, anew] = [first, again].map(({ headers }) => showing(headers["payment-pass"]));
    equal(said(await shop.ask("/three", old)), [402, "pass_unknown"]);
    const got: number[] = [];
    for (let use = 0; use < 3; use += 1) got.push((await shop.ask("/three", anew)).status);
    equal(got, [200, 200, 402]);
    await shop.counted({ runs: 3, debits: 1, bodies: 2 });
  }),

  inShop(
    "a page of the shop gets its pass as a cookie too, beside the cookies of the handler, and is admitted by it",
    { handler: () => ({ status: 200, headers: { "Set-Cookie": "mine=1" }, body: GOODS }) },
    async (shop) => {
      const page = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty" };
      const bought = await shop.buy(await shop.sign({ path: "/hour" }), "/hour", { headers: page });
      const cookies = (bought.headers["set-cookie"] ?? "").split("\n");
      const cookie = cookies.find((line) => line.startsWith("payment_pass_")) ?? "";
      equal([cookies.length, cookies.includes("mine=1")], [2, true]);
      equal(/; Path=\/hour; Max-Age=3600; Secure; HttpOnly; SameSite=Lax$/.test(cookie), true);
      const headers = { Cookie: `other=1; ${cookie.split(";", 1)[0]}` };
      equal((await shop.ask("/hour", { headers })).text, GOODS);
      equal(said(await shop.ask("/three", { headers })), [402, "payment_required"]);
      await shop.counted({ runs: 2, debits: 1, bodies: 1 });
    },
  ),
];
