// The one batch behind a verdict: the payer's code, the exact settlement simulated from the settler with its real gas limit,
// balance, authorization state and latest block, all from one node. A missing or malformed field makes all of it unreadable.
import type { AuthorizationProof } from "../../proof.js";
import { type Block, readBlock, readBool, readHex, readWord } from "./answers.js";
import {
  authorizationState,
  balanceOf,
  EIP1271_YES,
  isValidSignature,
  type PayerKind,
  type SettlementCall,
  settlementCall,
} from "./calldata.js";
import { domainOf, lower } from "./chain.js";
import { fromBytes, type Hex, toQuantity } from "./hex.js";
import { readSimulation, type Simulation } from "./revert.js";
import type { Rpc, RpcAnswer, RpcCall } from "./rpc.js";
import type { SignatureForm } from "./signature.js";
import { authorizationDigest } from "./typed-data.js";
import { type Invalid, invalid, type Unavailable, unavailable } from "./verdicts.js";

export interface ProbeRequest {
  readonly proof: AuthorizationProof;
  readonly form: SignatureForm;
  /** What the payer's account is taken to be. */
  readonly kind: PayerKind;
  readonly chainId: number;
  /** Block of the simulation. */
  readonly tag: "latest" | "pending";
  readonly settler: Hex;
  readonly extra?: readonly RpcCall[];
  readonly signal?: AbortSignal;
  readonly deadlineAt?: number;
}

export interface Seen {
  readonly ok: true;
  /** Code at the payer's address, `0x` for a plain account. */
  readonly code: Hex;
  readonly call: SettlementCall;
  readonly simulation: Exclude<Simulation, { outcome: "failed" }>;
  /** The wallet's own answer (EIP-1271); true where the payer was not taken for a contract. */
  readonly accepted: boolean;
  readonly balance: bigint;
  readonly used: boolean;
  readonly head: Block;
  /** Answers to `extra`, in order. */
  readonly extra: readonly RpcAnswer[];
}

export type Unseen = { readonly ok: false; readonly verdict: Invalid | Unavailable };

/** Asks the chain about one proof: one HTTP request. */
export async function probe(rpc: Rpc, request: ProbeRequest): Promise<Seen | Unseen> {
  const { proof, form, kind, signal, deadlineAt } = request;
  const { authorization, requirement, signature } = proof;
  const call = settlementCall(kind, lower(requirement.asset), authorization, signature, form);
  if (!call) return { ok: false, verdict: invalid(proof, "signature_invalid") };
  const reply = await rpc.batch(callsFor(request, call), {
    ...(signal && { signal }),
    ...(deadlineAt !== undefined && { deadlineAt }),
  });
  if (!reply.ok) return { ok: false, verdict: unavailable(reply.code, reply.message) };
  return readSeen(reply.answers, request, call);
}

function callsFor(request: ProbeRequest, call: SettlementCall): RpcCall[] {
  const { proof, form, kind, tag, settler, chainId, extra = [] } = request;
  const { authorization, requirement, signature } = proof;
  const asset = lower(requirement.asset);
  const gas = toQuantity(call.gas);
  const ask = (parts: object, at: string): RpcCall => ({ method: "eth_call", params: [parts, at] });
  const calls: RpcCall[] = [
    { method: "eth_getCode", params: [authorization.from, "latest"] },
    ask({ from: settler, to: call.to, data: call.data, gas }, tag),
    ask({ to: asset, data: balanceOf(authorization.from) }, "latest"),
    ask({ to: asset, data: authorizationState(authorization.from, authorization.nonce) }, "latest"),
    { method: "eth_getBlockByNumber", params: ["latest", false] },
  ];
  if (kind === "contract") {
    const digest = fromBytes(authorizationDigest(domainOf(requirement, chainId), authorization));
    const data = isValidSignature(digest, form.form === "wrapped" ? form.inner : signature);
    calls.push(ask({ from: asset, to: authorization.from, data, gas }, "latest"));
  }
  return [...calls, ...extra];
}

function readSeen(answers: readonly RpcAnswer[], { kind }: ProbeRequest, call: SettlementCall): Seen | Unseen {
  const code = readHex(answers[0]);
  const simulation = readSimulation(answers[1]);
  const balance = readWord(answers[2]);
  const used = readBool(answers[3]);
  const head = readBlock(answers[4]);
  if (simulation.outcome === "failed") return unreadable(`simulation (${simulation.message})`);
  if (code === undefined) return unreadable("code of the payer");
  if (balance === undefined) return unreadable("balance: is the asset a token on this chain?");
  if (used === undefined) return unreadable("authorization state: has the asset EIP-3009?");
  if (head === undefined) return unreadable("latest block");
  const seen = { ok: true, code, call, simulation, balance, used, head } as const;
  if (kind !== "contract") return { ...seen, accepted: true, extra: answers.slice(5) };
  const word = readHex(answers[5]);
  // Invariant: the node has answered all else, so an error here is the wallet's own doing, however it is worded. It says no to
  // its own payment, and nothing against the node. Where the token took the wallet's word in the simulation it is the node's doing.
  const isNodes = answers[5]?.ok !== false || simulation.outcome === "passes";
  if (word === undefined && isNodes) return unreadable("word of the wallet");
  return { ...seen, accepted: word === EIP1271_YES, extra: answers.slice(6) };
}

const unreadable = (what: string): Unseen => ({
  ok: false,
  verdict: unavailable("receiver_bad_response", `the chain gave no readable ${what}`),
});
