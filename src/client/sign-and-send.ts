// The client flow of local transactions: the gateway builds, and everything that counts happens here, with the caller's own account
// and node: inspect, simulate, sign, broadcast, wait. A gateway that lies gets a refusal and no signature. Source: gateway-spec,
// "Client flow for the Local Transaction endpoints".

import type { GatewayClient } from "./gateway-client.js";
import type { BuildSendRequest, StatusAnswer } from "./gateway-client-shapes.js";
import type { LocalSigning } from "./local-signing.js";

/** What is to be paid. The account pays, on the chain of its node, unless `network` names another: then that is an error. */
export type SendOrder = Omit<BuildSendRequest, "walletAddress">;

export interface SentPayment {
  readonly paymentId: string;
  /** The transaction's id. */
  readonly transaction: string;
  /** `confirmed` by your own node; `finalized` where the gateway has seen that already. */
  readonly status: "confirmed" | "finalized";
  /** CAIP-2. */
  readonly network: string;
  /** The signed bytes and their secret: a payment proof, as good as cash until it is used. */
  readonly payload: { readonly transaction: string; readonly secret: string };
  /** The same as the value of `X-PAYMENT`; undefined for tokens on Solana, which sellers take through their own fee payer only. */
  readonly proof: string | undefined;
  /** The gateway's record; undefined where it did not see the payment in the time left, ten seconds at most. */
  readonly record: StatusAnswer | undefined;
}

/**
 * Sends a payment from your own account by a transaction that the gateway builds: native currency or a token, on EVM or Solana. It
 * is signed only if it is, byte for byte, the transfer that was ordered, on the chain of your own node, at a fee that this node finds
 * right. The API key needs the scope `build`.
 *
 * @throws LocalTransactionError, whose `money` says whether anything moved; GatewayError where the gateway builds nothing;
 * PaywallConfigError for the signing options; the signal's reason as long as nothing was sent.
 * @example
 * const signing = { account: privateKeyToAccount(key), rpcUrl: "https://…" };
 * const { transaction, proof } = await signAndSend(client, signing, { recipientAddress, amount: 0.01, asset: "USDC" });
 */
export async function signAndSend(
  client: Pick<GatewayClient, "buildSend" | "wait">,
  signing: LocalSigning,
  order: SendOrder,
): Promise<SentPayment> {
  const { sendLocal } = await import("./local-send.js");
  return sendLocal(client, signing, order);
}
