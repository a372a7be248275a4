// Collects a token payment on Solana: the buyer's own transaction, in which the signature of the seller's wallet as fee payer is
// missing. It is judged by the rules of any payment, with that wallet as the one that must stand in no instruction.
import { readExpiry } from "../../chains/solana/confirm.js";
import { judge, type SplProof } from "../../chains/solana/judge.js";
import type { SolanaRpc } from "../../chains/solana/rpc.js";
import { DEFAULT_CAPS } from "../../chains/solana/terms.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import { judgeTokenAccount } from "../receive/recipient.js";
import { refuseVerdict } from "../receive/verify.js";
import { type Collecting, type Collection, settingsOf, VALID_MS } from "./collect.js";

/** Builds it. Faults as those of a verification; INSUFFICIENT_BALANCE where the wallet cannot pay the network fee. */
export async function collectTokens(collecting: Collecting, proof: SplProof): Promise<Outcome<Collection>> {
  const { parts, wanted, signal, deadlineAt } = collecting;
  const { network, transfers } = wanted.network;
  const { rpc } = transfers;
  if (!isSolana(rpc)) throw new Error("a payment on Solana was bound to another chain");
  const { tokens = [] } = settingsOf(parts, network.id).options;
  const allowed = tokens.map((token) => [token.address, "allow" in token ? (token.allow ?? []) : []] as const);
  const { payTo: wallet } = wanted;
  const chain = {
    network: network.id,
    rpc,
    settlers: new Map([[wallet, { address: wallet, signMessage: refuseToSign }]]),
    caps: DEFAULT_CAPS,
    allowed: new Map(allowed),
    logger: undefined,
    now: parts.now,
  };
  const judgement = await judge(chain, proof, { signal, deadlineAt });
  if (judgement.outcome === "unavailable" && judgement.code === "settlement_unavailable") return tooPoor();
  if (judgement.outcome === "unavailable" && judgement.code === "misconfigured") {
    const refused = await judgeTokenAccount(wanted, { signal });
    if (refused) return refused;
  }
  if (judgement.outcome !== "good") return refuseVerdict(judgement, parts.now() >= deadlineAt);
  const bound = await readExpiry(rpc, judgement.slot, { signal, deadlineAt });
  if (!bound.ok) return fault("UNAVAILABLE", `${network.name} cannot be asked now; nothing was done`);
  return {
    ok: true,
    value: {
      transaction: proof.transaction,
      signatureRequired: true,
      lastValidBlockHeight: bound.expiry.lastValidBlockHeight,
      expiresAt: parts.now() + VALID_MS,
      fee: judgement.verified.feeLamports,
      id: null,
      expiry: bound.expiry,
    },
  };
}

const isSolana = (rpc: object): rpc is SolanaRpc => "call" in rpc;

/** The wallet's key is the seller's: here nothing is ever signed with it. */
const refuseToSign = (): Promise<never> => Promise.reject(new Error("the seller signs for himself"));

function tooPoor(): Fault {
  const message = "the wallet has not enough SOL for the network fee that it pays";
  return fault("INSUFFICIENT_BALANCE", message, { details: [{ path: "walletAddress", message }] });
}
