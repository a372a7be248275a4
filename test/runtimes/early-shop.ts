// A shop that is opened when its module is loaded, outside of any request: Workers allow no timer and no connection then.
import { Hono } from "hono";
import { facilitator } from "tollgate";
import { type PaymentVariables, paywall } from "tollgate/hono";

/** The port is part of the text, because the module is loaded before it gets any bindings. */
declare const FACILITATOR_URL: string;
declare const PAY_TO: string;

const app = new Hono<{ Variables: PaymentVariables }>();
const receive = facilitator({ url: FACILITATOR_URL });
app.get("/report", paywall("$0.01", { payTo: PAY_TO, network: "base-sepolia", receive }), (c) =>
  c.json({ payer: c.get("payment")?.payer }),
);

export default app;
