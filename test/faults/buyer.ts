// A buyer for a shop: signs an offer of any path, v1 or v2, with parts of it wrong on demand.
import { readChallenge, type SignedPayment, type SignPaymentOptions, signPayment } from "../../src/testing/index.js";
import { type Got, type SendOptions, send } from "../e2e/seller.js";
import { newBuyer } from "./market.js";

/** The first offer of a URL, signed by a buyer nobody else has. */
export async function signFor(
  url: string,
  parts: Partial<SignPaymentOptions> = {},
  init: RequestInit = {},
): Promise<SignedPayment> {
  const version = parts.version ?? 2;
  const challenge = await readChallenge(await fetch(url, init), version);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("the 402 holds no offer");
  return signPayment({ account: newBuyer(), offer, version, challenge, ...parts });
}

/** One request that must be answered. */
export async function ask(url: string, options: SendOptions = {}): Promise<Got> {
  const got = await send(url, options);
  if (!got) throw new Error("no answer");
  return got;
}

/** The v2 header of a 402, decoded. */
export function required(got: Got): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(got.headers["payment-required"]), "base64").toString("utf8"));
}
