// A shop as it would be written for Workers: bundled by the tests and run where there is no Node. Its settings come with
// the first request, as bindings do there, and it says in its answers what the handler saw of the payment.
import { Hono } from "hono";
import { facilitator, local, type Receiver } from "tollgate";
import { createPaywall, type PaymentVariables } from "tollgate/hono";

export interface ShopEnv {
  readonly PAY_TO: string;
  /** With a settler: the shop settles by itself. */
  readonly RPC_URL?: string;
  readonly SETTLER_KEY?: `0x${string}`;
  readonly FACILITATOR_URL?: string;
  /** Milliseconds for one settlement. */
  readonly SETTLE_MS?: string;
}

function receiverOf({ RPC_URL, SETTLER_KEY, FACILITATOR_URL, SETTLE_MS }: ShopEnv): Receiver {
  if (FACILITATOR_URL !== undefined) return facilitator({ url: FACILITATOR_URL, verify: "local" });
  if (RPC_URL === undefined || SETTLER_KEY === undefined) throw new Error("the shop has no way to receive");
  const time = SETTLE_MS === undefined ? {} : { settleMs: Number(SETTLE_MS) };
  return local({ networks: { "base-sepolia": { rpcUrl: RPC_URL, settler: SETTLER_KEY, ...time } }, logger: console });
}

function openShop(env: ShopEnv): Hono<{ Variables: PaymentVariables }> {
  const app = new Hono<{ Variables: PaymentVariables }>();
  const common = { payTo: env.PAY_TO, network: "base-sepolia", logger: console, maxTimeoutSeconds: 600 } as const;
  const pay = createPaywall({ ...common, receive: receiverOf(env) });
  app.get("/runtime", (c) => c.json({ hasProcess: "process" in globalThis, hasBuffer: "Buffer" in globalThis }));
  app.get("/report", pay("$0.01"), (c) => c.json({ payer: c.get("payment")?.payer, run: c.get("payment")?.run }));
  app.get("/payments", async (c) => {
    const found: string[] = [];
    for await (const { payer, settlement } of pay.payments()) found.push(`${payer} ${settlement}`);
    return c.json(found);
  });
  // Time goes on by so much, for this shop alone.
  app.post("/later/:ms", (c) => {
    const [now, ms] = [Date.now, Number(c.req.param("ms"))];
    Date.now = () => now() + ms;
    return c.text("later");
  });
  app.post("/echo", pay("$0.02"), async (c) => c.text(`${await c.req.text()} for ${c.get("payment")?.amount}`));
  return app;
}

let shop: ReturnType<typeof openShop> | undefined;

export default {
  fetch(request: Request, env: ShopEnv): Response | Promise<Response> {
    shop ??= openShop(env);
    return shop.fetch(request, env);
  },
};
