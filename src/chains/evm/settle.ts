// Moves the money of one proof. The order is the promise: judged again, signed, announced (`sending`), sent, and believed only
// on a receipt with its own paired logs. Before the first byte leaves, a failure is `refused` or `unavailable`; after it,
// everything unproven is `unknown`. Sending one authorization in two transactions is safe: the token takes it once.
import type { AuthorizationProof } from "../../proof.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import { SETTLEMENTS } from "../gas.js";
import { readQuantity } from "./answers.js";
import { type Broadcast, broadcast } from "./broadcast.js";
import { type EvmChain, lower } from "./chain.js";
import { type Fees, feeCeiling, feesFor, TIP_CALL } from "./fees.js";
import { closeGap, watchGap } from "./gap.js";
import type { RpcCall } from "./rpc.js";
import { askBuilder, compareBuilt } from "./settle-built.js";
import { type Job, unproven, whenMined, whenUsed } from "./settle-found.js";
import { type GasTransaction, REST_MS, type Settler } from "./settlers.js";
import { type Judgement, judge, judgeExpiry } from "./verify.js";

/** Transactions that one settlement may sign, each after the one before it can no longer be mined. */
const MAX_ATTEMPTS = 4;

/** Settles a proof. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleOnChain(
  chain: EvmChain,
  proof: AuthorizationProof,
  context: SettleContext,
): Promise<Settlement> {
  const job: Job = { chain, proof, context, sent: undefined, trouble: "no settler could be used" };
  const built = await askBuilder(job);
  if (built && "outcome" in built) return built;
  const unfunded = new Set<Settler>();
  const settlers = chain.settlers.turn(chain.now());
  for (let attempt = 0; attempt < MAX_ATTEMPTS + settlers.length; attempt++) {
    const settler = settlers.find((one) => !unfunded.has(one));
    if (!settler || chain.now() >= context.deadlineAt) break;
    const result = await attemptWith(job, settler, built);
    if (result === "next_settler") unfunded.add(settler);
    else if (result !== "again") return result;
  }
  return unproven(job, job.trouble);
}

type Attempt = Settlement | "again" | "next_settler";

/** `built`: what somebody else has built for this proof; absent = it is built here. */
async function attemptWith(job: Job, settler: Settler, built: Uint8Array | undefined): Promise<Attempt> {
  const { chain, proof, context } = job;
  const mark = settler.nonces.mark();
  const judgement = await judge(chain, proof, {
    settler: lower(settler.address),
    signatureKnown: false,
    deadlineAt: context.deadlineAt,
    extra: settlerCalls(settler),
  });
  const verdict = judgement.verdict;
  if (verdict.outcome === "unavailable") return unproven(job, verdict.message);
  if (verdict.outcome === "used") return whenUsed(job);
  const refused = verdict.outcome === "invalid" ? verdict : judgeExpiry(chain, proof, blockSeconds(chain));
  if (refused) {
    if (job.sent) return unproven(job, `the payment can no longer be sent: ${refused.reason}`);
    return { outcome: "refused", code: refused.code, reason: refused.reason };
  }

  const judged = judgement.call;
  const compared = built && judged ? compareBuilt(built, judged, chain) : undefined;
  if (compared?.ok === false) {
    chain.builder?.distrust(proof, compared.message);
    return unproven(job, `what was built is not what collects this payment: ${compared.message}`);
  }
  const plan = await planTransaction(job, settler, compared ? { ...judgement, call: compared.call } : judgement);
  if ("trouble" in plan) {
    job.trouble = plan.trouble;
    return plan.result;
  }
  const cost = plan.unnumbered.gas * feeCeiling(plan.unnumbered);
  // Before the nonce, which may have to be waited for: no other settlement counts on this gas meanwhile.
  settler.reserved += cost;
  try {
    const nonce = await takeNonce(job, settler, plan, mark);
    return nonce === undefined ? unproven(job, job.trouble) : await send(job, settler, { ...plan.unnumbered, nonce });
  } finally {
    settler.reserved -= cost;
  }
}

/** A nonce that nobody else has; undefined where the ledger of nonces cannot be asked. */
async function takeNonce(
  job: Job,
  settler: Settler,
  view: { readonly count: number; readonly block: bigint },
  mark: number,
): Promise<number | undefined> {
  const { chain } = job;
  try {
    return await settler.nonces.take({ count: view.count, block: view.block }, mark, chain.now());
  } catch (error) {
    job.trouble = "no account nonce of a settler could be had";
    const reason = error instanceof Error ? error.message : String(error);
    chain.logger?.error(job.trouble, { network: chain.network, settler: settler.address, reason });
    return undefined;
  }
}

const blockSeconds = (chain: EvmChain): bigint => BigInt(Math.ceil(chain.blockMs / 1000));

const settlerCalls = ({ address }: Settler): RpcCall[] => [
  { method: "eth_getTransactionCount", params: [address, "pending"] },
  { method: "eth_getBalance", params: [address, "latest"] },
  TIP_CALL,
];

type Unnumbered = Fees & Pick<GasTransaction, "chainId" | "to" | "data" | "value" | "gas">;

type Plan =
  | { readonly unnumbered: Unnumbered; readonly count: number; readonly block: bigint }
  | { readonly trouble: string; readonly result: Attempt };

/** Everything of the transaction but its nonce. A settler that cannot pay for it is passed over (faults F93). */
async function planTransaction(job: Job, settler: Settler, { call, head, extra = [] }: Judgement): Promise<Plan> {
  const { chain, context } = job;
  const [countAnswer, balanceAnswer, tip] = extra;
  const count = readQuantity(countAnswer);
  const balance = readQuantity(balanceAnswer);
  const fees = head && (await feesFor(chain.rpc, head, tip, chain.maxFeePerGas, context.deadlineAt));
  if (!call || !head || count === undefined || balance === undefined || fees === undefined) {
    const trouble = "the chain gave no readable nonce, balance or gas price of the settler";
    return { trouble, result: unproven(job, trouble) };
  }
  if (fees === "too_high") {
    const trouble = `gas costs more than maxFeePerGas (${chain.maxFeePerGas} wei)`;
    chain.logger?.error(`${trouble}: not settled`, { network: chain.network });
    return { trouble, result: unproven(job, trouble) };
  }
  const cost = call.gas * feeCeiling(fees);
  const of = { network: chain.network, settler: settler.address };
  chain.gas?.seen(of, balance - settler.reserved, cost * SETTLEMENTS);
  if (balance - settler.reserved < cost) {
    settler.restsUntil = chain.now() + REST_MS;
    const facts = { ...of, needed: `${cost}`, balance: `${balance}` };
    chain.logger?.error("a settler has not enough gas (wei): send it native currency", facts);
    return { trouble: `the settler ${settler.address} has not enough gas`, result: "next_settler" };
  }
  const { to, data, gas } = call;
  const unnumbered = { chainId: chain.chainId, to, data, gas, value: 0n, ...fees };
  return { unnumbered, count: Number(count), block: head.number };
}

async function send(job: Job, settler: Settler, transaction: GasTransaction): Promise<Attempt> {
  const { chain, context } = job;
  const giveBack = async () => {
    if (await settler.nonces.giveBack(transaction.nonce)) closeGap(chain, settler);
  };
  const signed = await broadcast.sign(settler, transaction);
  if (!signed.ok) {
    await giveBack();
    settler.restsUntil = chain.now() + REST_MS;
    chain.logger?.error("a settler cannot sign", { network: chain.network, settler: settler.address });
    job.trouble = `the settler ${settler.address} cannot sign`;
    return "next_settler";
  }
  const announced = await context.sending(signed.hash).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : "refused"),
  );
  if (announced !== undefined) {
    await giveBack();
    return unproven(job, `the settlement could not be announced: ${announced}`);
  }
  if (chain.now() >= context.deadlineAt) {
    await giveBack();
    return unproven(job, "no time is left to settle");
  }
  job.sent = signed.hash;
  const answer = await broadcast.send(chain.rpc, signed, context.deadlineAt);
  if (answer.outcome === "refused") return whenRefused(job, settler, transaction.nonce, answer, giveBack);
  const stopWatching = watchGap(chain, settler, transaction.nonce);
  const waited = await chain.receipts.wait({
    ...signed,
    settler: settler.address,
    nonce: transaction.nonce,
    lost: answer.outcome === "lost",
    deadlineAt: context.deadlineAt,
  });
  stopWatching();
  if (waited.outcome === "receipt") {
    // Not waited for: a ledger that is slow must not keep back what is proven.
    void settler.nonces.done(transaction.nonce, waited.receipt.blockNumber, chain.now());
    return whenMined(job, waited.receipt);
  }
  if (waited.outcome === "replaced") {
    await settler.nonces.done(transaction.nonce, undefined, chain.now());
    job.trouble = "another transaction took the settler's nonce";
    return "again";
  }
  await settler.nonces.forget(transaction.nonce);
  return unproven(job, answer.outcome === "lost" ? answer.message : "the transaction has no receipt so far");
}

/** The node did not take the transaction. With a used nonce it never can; otherwise somebody else may try. */
async function whenRefused(
  job: Job,
  settler: Settler,
  nonce: number,
  answer: Extract<Broadcast, { outcome: "refused" }>,
  giveBack: () => Promise<void>,
): Promise<Attempt> {
  const { chain } = job;
  job.trouble = `the node refused the transaction: ${answer.message}`;
  if (answer.nonce !== "ours") {
    if (answer.nonce === "used") await settler.nonces.done(nonce, undefined, chain.now());
    else await settler.nonces.forget(nonce);
    return "again";
  }
  await giveBack();
  settler.restsUntil = chain.now() + REST_MS;
  const facts = { network: chain.network, settler: settler.address, answer: answer.message };
  chain.logger?.error("the node refused a settlement", facts);
  return "next_settler";
}
