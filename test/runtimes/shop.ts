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
}

function receiverOf({ RPC_URL, SETTLER_KEY, FACILITATOR_URL }: ShopEnv): Receiver {
  if (FACILITATOR_URL !== undefined) return facilitator({ url: FACILITATOR_URL, verify: "local" });
  if (RPC_URL === undefined || SETTLER_KEY === undefined) throw new Error("the shop has no way to receive");
  return local({ networks: { "base-sepolia": { rpcUrl: RPC_URL, settler: SETTLER_KEY } }, logger: console });
}

function openShop(env: ShopEnv): Hono<{ Variables: PaymentVariables }> {
  const app = new Hono<{ Variables: PaymentVariables }>();
  const pay = createPaywall({ payTo: env.PAY_TO, network: "base-sepolia", receive: receiverOf(env), logger: console });
  app.get("/runtime", (c) => c.json({ hasProcess: "process" in globalThis, hasBuffer: "Buffer" in globalThis }));
  app.get("/report", pay("$0.01"), (c) => c.json({ payer: c.get("payment")?.payer, run: c.get("payment")?.run }));
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
