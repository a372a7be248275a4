// The seller's side of local transactions: the gateway verifies a buyer's proof and builds what collects it; the proof is verified
// once more here, what was built is held against what this process would have built, and the seller's own account signs and sends it
// over his own node. Nothing that the gateway says can move money elsewhere. Source: gateway-spec, POST /transaction/receive.
import type { GatewayClient } from "./gateway-client.js";
import type { BuildReceiveRequest } from "./gateway-client-shapes.js";
import type { LocalSigning } from "./local-signing.js";

/** What is to be collected; your account is who is paid. */
export type CollectOrder = Omit<BuildReceiveRequest, "walletAddress">;

export interface CollectedPayment {
  /** The gateway's record; undefined where it only says that the proof was used before. */
  readonly paymentId: string | undefined;
  /** Id of the transaction that moved the money. */
  readonly transaction: string;
  readonly payer: string;
  /** Atomic units, where more came than was expected. */
  readonly received: bigint | undefined;
  /** CAIP-2. */
  readonly network: string;
}

/**
 * Collects a buyer's proof into your own account: an EIP-3009 authorization (your account pays the gas), a token payment on Solana
 * whose fee payer is your account, or a buyer's own signed transaction. The API key needs the scope `receive` or `build`.
 *
 * @throws LocalTransactionError, whose `money` says whether anything moved; GatewayError where the gateway builds nothing, an
 * INVALID_PAYMENT_PROOF where it finds the proof bad; PaywallConfigError for the signing options.
 * @example
 * const signing = { account: privateKeyToAccount(key), rpcUrl: "https://…" };
 * await signAndCollect(client, signing, { paymentProof, expectedAmount: 0.01, asset: "USDC" });
 */
export async function signAndCollect(
  client: Pick<GatewayClient, "buildReceive">,
  signing: Omit<LocalSigning, "maxFee">,
  order: CollectOrder,
): Promise<CollectedPayment> {
  const { collectLocal } = await import("./local-collect.js");
  return collectLocal(client, signing, order);
}
