// The unsigned transaction by which somebody would pay an offer of this seller, for a wallet that asks no node itself. It is made
// only where the chain shows that it would succeed.
import { formatDecimal } from "../../money.js";
import { findNetwork, tokenByAddress } from "../../networks.js";
import type { Drafted } from "../../receive/receiver.js";
import type { SplRequirement, TransactionRequirement } from "../../requirement.js";
import { toBase64 } from "./bytes.js";
import type { ChainReader } from "./chain.js";
import { draftSolPayment } from "./sol-payment.js";
import { draftTokenPayment } from "./token-payment.js";
import { toWire } from "./transfer-message.js";

/** Never rejects. */
export async function draftPayment(
  { rpc }: ChainReader,
  requirement: SplRequirement | TransactionRequirement,
  payer: string,
  signal: AbortSignal,
): Promise<Drafted> {
  const { payTo, amount, asset, extra } = requirement;
  const draft =
    requirement.method === "spl"
      ? await draftTokenPayment(rpc, { ...requirement.extra, mint: asset, amount, payTo }, payer, { signal })
      : await draftSolPayment(rpc, { payTo, amount }, payer, { signal });
  if (draft.ok) return { ok: true, transaction: toBase64(toWire(draft.message)) };
  if (draft.code !== "insufficient_funds")
    return { ok: false, message: `The payment cannot be made: ${draft.message}.` };
  const token = requirement.method === "spl" ? tokenOf(requirement) : "SOL";
  const decimals = "decimals" in extra ? extra.decimals : 9;
  return {
    ok: false,
    message: `Not enough money: it costs ${formatDecimal(amount, decimals)} ${token}, and your account holds less.`,
  };
}

const tokenOf = ({ network, asset }: SplRequirement): string => {
  const known = findNetwork(network);
  return (known && tokenByAddress(known, asset)?.symbol) ?? "of the token";
};
