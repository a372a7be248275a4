// A buyer's proof, bound to what its seller expects, and the seller's own account as what collects it.
import type { Hex } from "../chains/evm/hex.js";
import type { SettlerAccount } from "../chains/evm/settlers.js";
import { tokenByAddress } from "../networks.js";
import {
  type BoundProof,
  bindAuthorization,
  bindTransaction,
  type DecodedProof,
  decodeProof,
  type Inner,
  MAX_TRANSACTION_AGE_MS,
} from "../proof.js";
import type { LocalNetwork } from "../receive/local-options.js";
import type { LocalReceiver, LocalSetup } from "../receive/local-receiver.js";
import { NATIVE, type SplRequirement, type TransactionRequirement } from "../requirement.js";
import { decodeHeader } from "../wire/header.js";
import type { TransferTransaction } from "./evm-account.js";
import { LocalTransactionError } from "./local-error.js";
import type { LocalOrder } from "./local-order.js";
import type { Signing } from "./local-signing.js";

export interface Expected extends Pick<LocalOrder, "network" | "asset" | "amount"> {
  readonly payTo: string;
}

/** The longest that any offer gives; the chain's own time binds. */
const MAX_TIMEOUT_SECONDS = 86_400;
const IDENTIFY_MS = 5_000;

const refused = (detail: string): LocalTransactionError => new LocalTransactionError("proof_refused", detail);

/** @throws LocalTransactionError where the proof is none, or for another sale */
export async function bindOwn(receiver: LocalReceiver, text: string, expected: Expected): Promise<BoundProof> {
  const proof = decode(text);
  const { network, asset, amount, payTo } = expected;
  const place = { scheme: "exact", network: network.id, asset: asset.address, amount, payTo } as const;
  const common = { ...place, maxTimeoutSeconds: MAX_TIMEOUT_SECONDS };
  if (isKind(proof, "authorization")) {
    const { to, value } = proof.inner.authorization;
    // Invariant: what is collected is the price, and it comes to this account.
    if (to !== payTo.toLowerCase()) throw refused(`expected an authorization to ${payTo}, got one to ${to}`);
    if (value !== amount) throw refused(`expected an authorization of ${amount} atomic units, got ${value}`);
    const domain = network.family === "evm" ? tokenByAddress(network, asset.address)?.domain : undefined;
    if (!domain) throw refused(`no token that takes authorizations is known at ${asset.address} on ${network.name}`);
    return bindAuthorization(proof, { ...common, method: "eip3009", extra: domain });
  }
  if (!isKind(proof, "transaction")) throw refused("expected an authorization or a transaction");
  const requirement = { ...common, ...methodOf(expected) };
  const { transaction, secret } = proof.inner;
  const identity = await receiver.identify?.({ transaction, secret }, network.id, AbortSignal.timeout(IDENTIFY_MS));
  if (!identity?.ok) throw refused(identity?.code ?? "nobody can read it");
  return bindTransaction(proof, requirement, identity, Math.ceil((Date.now() + MAX_TRANSACTION_AGE_MS) / 1000));
}

function decode(text: string): DecodedProof {
  const json = decodeHeader(String(text));
  const version = json.ok && Reflect.get(Object(json.value), "x402Version") === 2 ? 2 : 1;
  const headers = { v1: version === 1 ? text : undefined, v2: version === 2 ? text : undefined };
  const decoded = decodeProof({ ...headers, idempotencyKey: undefined });
  if (decoded.ok) return decoded.proof;
  throw refused([decoded.code, decoded.got].filter(Boolean).join(": "));
}

const isKind = <Kind extends Inner["kind"]>(
  proof: DecodedProof,
  kind: Kind,
): proof is DecodedProof & { readonly inner: Inner & { readonly kind: Kind } } => proof.inner.kind === kind;

type Method =
  | Pick<SplRequirement, "method" | "extra">
  | Pick<TransactionRequirement, "method" | "extra" | "confirmations">;

/** Tokens on Solana wait for their fee payer, who is this account; everything else is the buyer's own complete transaction. */
function methodOf({ network, asset, payTo }: Expected): Method {
  if (network.family === "solana" && asset.address !== NATIVE) {
    const { decimals, tokenProgram } = asset;
    return { method: "spl", extra: { feePayer: payTo, decimals, ...(tokenProgram !== undefined && { tokenProgram }) } };
  }
  const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
  return { method: "transaction", extra, confirmations: 1 };
}

/** The one network of this call, with the account as what signs there. */
export function receiverSetup(own: Signing, network: Expected["network"]): LocalSetup {
  const entry = entryOf(own, network);
  return {
    networks: [network.id],
    find: (id) => (id === network.id ? entry : undefined),
    missing: (id) => `there is no node of ${id}`,
  };
}

function entryOf({ signer, urls }: Signing, network: Expected["network"]): LocalNetwork {
  const rpcUrl = [...urls];
  if (signer.family === "solana") {
    const { address, sign } = signer.solana;
    const settler = { address, signMessage: (message: Uint8Array) => sign.call(signer.solana, message) };
    return { family: "solana", network, urls, settlers: [settler], options: { rpcUrl, settler } };
  }
  const { address, signTransaction } = signer.evm;
  const settler: SettlerAccount = {
    address,
    // Safe because what comes back is read before it is sent, and a chain refuses what its account has not signed.
    signTransaction: async (transaction) => (await signTransaction?.(transaction as TransferTransaction)) as Hex,
  };
  const { chainId } = network;
  if (chainId === undefined) throw new TypeError("an EVM network without a chain id");
  return { family: "evm", network: { ...network, chainId }, urls, settlers: [settler], options: { rpcUrl, settler } };
}
