// Moves the money of one proof. The order is the promise: judged again, signed, announced (`sending`), sent, and believed only
// on a receipt with its own paired logs. Before the first byte leaves, a failure is `refused` or `unavailable`; after it,
// everything unproven is `unknown`. Sending one authorization in two transactions is safe: the token takes it once.
import { reasonOf } from "../../errors.js";
import type { AuthorizationProof } from "../../proof.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import { type Receipt, readQuantity } from "./answers.js";
import { type Broadcast, broadcast } from "./broadcast.js";
import { type EvmChain, lower, paymentOf } from "./chain.js";
import { provesPayment } from "./evidence.js";
import { type Fees, feeCeiling, feesFor, TIP_CALL } from "./fees.js";
import { closeGap } from "./gap.js";
import type { Hex } from "./hex.js";
import type { RpcCall } from "./rpc.js";
import { type Found, findPayment } from "./search.js";
import { type GasTransaction, REST_MS, type Settler } from "./settlers.js";
import { type Judgement, judge, judgeExpiry } from "./verify.js";

/** Transactions that one settlement may sign, each after the one before it can no longer be mined. */
const MAX_ATTEMPTS = 4;

interface Job {
  readonly chain: EvmChain;
  readonly proof: AuthorizationProof;
  readonly context: SettleContext;
  /** The last transaction whose bytes left. */
  sent: Hex | undefined;
  /** Why the last attempt came to nothing. */
  trouble: string;
}

/** Settles a proof. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleOnChain(
  chain: EvmChain,
  proof: AuthorizationProof,
  context: SettleContext,
): Promise<Settlement> {
  const job: Job = { chain, proof, context, sent: undefined, trouble: "no settler could be used" };
  const unfunded = new Set<Settler>();
  const settlers = chain.settlers.turn(chain.now());
  for (let attempt = 0; attempt < MAX_ATTEMPTS + settlers.length; attempt++) {
    const settler = settlers.find((one) => !unfunded.has(one));
    if (!settler || chain.now() >= context.deadlineAt) break;
    const result = await attemptWith(job, settler);
    if (result === "next_settler") unfunded.add(settler);
    else if (result !== "again") return result;
  }
  return unproven(job, job.trouble);
}

/** The outcome where nothing is proven: whether bytes left decides. */
function unproven({ sent }: Job, message: string): Settlement {
  return sent ? { outcome: "unknown", transaction: sent, message } : { outcome: "unavailable", message };
}

type Attempt = Settlement | "again" | "next_settler";

async function attemptWith(job: Job, settler: Settler): Promise<Attempt> {
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

  const plan = await planTransaction(job, settler, judgement);
  if ("trouble" in plan) {
    job.trouble = plan.trouble;
    return plan.result;
  }
  const view = { count: plan.count, block: plan.block };
  const transaction = { ...plan.unnumbered, nonce: settler.nonces.take(view, mark, chain.now()) };
  const cost = transaction.gas * feeCeiling(transaction);
  settler.reserved += cost;
  try {
    return await send(job, settler, transaction);
  } finally {
    settler.reserved -= cost;
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
  if (balance - settler.reserved < cost) {
    settler.restsUntil = chain.now() + REST_MS;
    const facts = { network: chain.network, settler: settler.address, needed: `${cost}`, balance: `${balance}` };
    chain.logger?.error("a settler has not enough gas (wei): send it native currency", facts);
    return { trouble: `the settler ${settler.address} has not enough gas`, result: "next_settler" };
  }
  const { to, data, gas } = call;
  const unnumbered = { chainId: chain.chainId, to, data, gas, value: 0n, ...fees };
  return { unnumbered, count: Number(count), block: head.number };
}

async function send(job: Job, settler: Settler, transaction: GasTransaction): Promise<Attempt> {
  const { chain, context } = job;
  const giveBack = () => {
    if (settler.nonces.giveBack(transaction.nonce)) closeGap(chain, settler);
  };
  const signed = await broadcast.sign(settler, transaction);
  if (!signed.ok) {
    giveBack();
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
    giveBack();
    return unproven(job, `the settlement could not be announced: ${announced}`);
  }
  if (chain.now() >= context.deadlineAt) {
    giveBack();
    return unproven(job, "no time is left to settle");
  }
  job.sent = signed.hash;
  const answer = await broadcast.send(chain.rpc, signed, context.deadlineAt);
  if (answer.outcome === "refused") return whenRefused(job, settler, transaction.nonce, answer, giveBack);
  const waited = await chain.receipts.wait({
    ...signed,
    settler: settler.address,
    nonce: transaction.nonce,
    lost: answer.outcome === "lost",
    deadlineAt: context.deadlineAt,
  });
  if (waited.outcome === "receipt") {
    settler.nonces.done(transaction.nonce, waited.receipt.blockNumber, chain.now());
    return whenMined(job, waited.receipt);
  }
  if (waited.outcome === "replaced") {
    settler.nonces.done(transaction.nonce, undefined, chain.now());
    job.trouble = "another transaction took the settler's nonce";
    return "again";
  }
  settler.nonces.forget(transaction.nonce);
  return unproven(job, answer.outcome === "lost" ? answer.message : "the transaction has no receipt so far");
}

/** The node did not take the transaction. With a used nonce it never can; otherwise somebody else may try. */
function whenRefused(
  job: Job,
  settler: Settler,
  nonce: number,
  answer: Extract<Broadcast, { outcome: "refused" }>,
  giveBack: () => void,
): Attempt {
  const { chain } = job;
  job.trouble = `the node refused the transaction: ${answer.message}`;
  if (answer.nonce !== "ours") {
    if (answer.nonce === "used") settler.nonces.done(nonce, undefined, chain.now());
    else settler.nonces.forget(nonce);
    return "again";
  }
  giveBack();
  settler.restsUntil = chain.now() + REST_MS;
  const facts = { network: chain.network, settler: settler.address, answer: answer.message };
  chain.logger?.error("the node refused a settlement", facts);
  return "next_settler";
}

/** A receipt without the paired logs is not a payment; perhaps an outsider's transaction was the payment. */
async function whenMined(job: Job, receipt: Receipt): Promise<Settlement> {
  const payment = paymentOf(job.proof.requirement, job.proof.authorization.from, job.proof.authorization.nonce);
  if (provesPayment(receipt, payment)) return settled(job, receipt.transactionHash);
  const found = await search(job);
  if (found.found === "paid") return settled(job, found.transaction);
  const facts = { network: job.chain.network, transaction: receipt.transactionHash, status: receipt.status };
  job.chain.logger?.error("a settlement was mined without the exact transfer", facts);
  const word = receipt.status === "0x1" ? "succeeded without the exact transfer" : "reverted";
  return { ...unproven(job, `the transaction ${word}`), ...(receipt.status !== "0x1" && { reverted: true }) };
}

/** The authorization is used already. Whoever submitted it has paid for us, if the exact money came (faults A6). */
async function whenUsed(job: Job): Promise<Settlement> {
  const found = await search(job);
  switch (found.found) {
    case "paid":
      return settled(job, found.transaction);
    case "canceled":
      if (job.sent) return unproven(job, "the payer has canceled the authorization");
      return {
        outcome: "refused",
        code: "settlement_refused",
        reason: reasonOf("settlement_refused", job.proof.version),
      };
    case "unpaid":
      return {
        outcome: "unknown",
        transaction: found.transaction,
        message: "the authorization was used by a transaction that does not move the exact amount to the payee",
      };
    default: {
      // Used on the chain, by whom is not known: money may have moved, so this is never `unavailable`.
      const message = found.found === "failed" ? found.message : "the transaction that used it was not found";
      const about = job.sent && { transaction: job.sent };
      return { outcome: "unknown", ...about, message: `the authorization is used: ${message}` };
    }
  }
}

/** Asked again while the node that answers may lag behind the one that showed the use (faults F90). */
async function search({ chain, proof, context }: Job): Promise<Found> {
  const { authorization, requirement } = proof;
  const payment = paymentOf(requirement, authorization.from, authorization.nonce);
  for (;;) {
    const found = await findPayment(chain, payment, authorization.validBefore, { deadlineAt: context.deadlineAt });
    const wait = Math.max(250, Math.floor(chain.blockMs / 4));
    if (found.found !== "nothing" && found.found !== "failed") return found;
    if (chain.now() + wait >= context.deadlineAt) return found;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

const settled = ({ proof }: Job, transaction: Hex): Settlement => ({
  outcome: "settled",
  transaction,
  payer: proof.authorization.from,
});
