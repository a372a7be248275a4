// Judges a transaction that its chain does not know yet: the sender's very next one, affordable, with fees that outlast the next
// blocks, and one that does its work when it is simulated as it was signed.
import { NATIVE } from "../../requirement.js";
import { type Block, readBlock, readBool, readQuantity, readWord } from "./answers.js";
import { readSimulation, type Simulation } from "./revert.js";
import type { RpcAnswer } from "./rpc.js";
import { type Invalid, invalid, type Valid } from "./verdicts.js";
import type { ReadProof } from "./verify-transaction.js";

/** What the chain says of a transaction that it does not know. */
export interface Market {
  /** The sender's transactions in blocks, and together with those that wait. */
  readonly counts: { readonly latest: bigint; readonly pending: bigint };
  readonly head: Block & { readonly baseFeePerGas: bigint };
  /** Wei. */
  readonly balance: bigint;
  /** Atomic units of the token; of native currency the same as `balance`. */
  readonly holding: bigint;
  readonly simulation: Exclude<Simulation, { outcome: "failed" }>;
  /** Gas that it needs. */
  readonly needed: bigint;
  /** The tip that the node suggests, wei for one unit of gas. */
  readonly tip: bigint;
}

/** The answers to the calls of a sighting, but for the tip; or the name of the one that cannot be read. */
export function readMarket(
  answers: readonly RpcAnswer[],
  { transaction, movement }: ReadProof,
): Omit<Market, "tip"> | string {
  const [latest, pending, balance] = [answers[1], answers[2], answers[4]].map(readQuantity);
  const head = readBlock(answers[3]);
  if (latest === undefined || pending === undefined) return "count of the sender's transactions";
  const counts = { latest, pending };
  // A used nonce alone makes calls fail on some nodes, and nothing else is of interest then.
  const used = latest > transaction.nonce;
  const holding = movement.asset === NATIVE ? balance : readWord(answers[8]);
  if (balance === undefined) return "balance of the sender";
  if (holding === undefined) return "balance: is the asset a token on this chain?";
  if (typeof head?.baseFeePerGas !== "bigint") return "base fee: does the chain have EIP-1559?";
  const seen = { counts, balance, holding };
  const { baseFeePerGas } = head;
  const simulation = simulate(answers[5], answers[6], movement.asset !== NATIVE);
  const needed = readQuantity(answers[6]) ?? 0n;
  const whole = { ...seen, head: { ...head, baseFeePerGas }, needed };
  // Who cannot pay, or gave too little gas to begin with, cannot be simulated, and nodes say that in many ways.
  const poor = used || balance < cost(transaction) || holding < movement.amount || transaction.gas < needed;
  if (simulation.outcome !== "failed") return { ...whole, simulation };
  return poor ? { ...whole, simulation: { outcome: "reverts", reason: "" } } : `simulation (${simulation.message})`;
}

/** The call with the very gas that was signed, and what the node thinks that it needs. */
export function simulate(call: RpcAnswer | undefined, estimate: RpcAnswer | undefined, isToken: boolean): Simulation {
  const called = readSimulation(call);
  if (called.outcome !== "passes") return called;
  // Old tokens return nothing; those that return a word must say yes in it.
  if (isToken && call?.ok && call.result !== "0x" && readBool(call) !== true) {
    return { outcome: "reverts", reason: "the token answers the transfer with false" };
  }
  if (readQuantity(estimate) !== undefined) return called;
  const estimated = readSimulation(estimate);
  return estimated.outcome === "passes" ? { outcome: "failed", message: "the gas estimate is no number" } : estimated;
}

const cost = ({ value, gas, maxFeePerGas }: ReadProof["transaction"]): bigint => value + gas * maxFeePerGas;

/** The verdict from what the chain showed. */
export function judgeUnsent({ proof, transaction, movement }: ReadProof, market: Market): Valid | Invalid {
  const { balance, holding, head, simulation, needed, tip } = market;
  const { maxFeePerGas, maxPriorityFeePerGas, gas } = transaction;
  const outOfTurn = judgeNonce(proof, transaction.nonce, market);
  if (outOfTurn) return outOfTurn;
  const total = cost(transaction);
  if (balance < total) {
    const expected = `${total} wei for value and gas`;
    return invalid(proof, "insufficient_funds", { expected, got: `${balance} wei` });
  }
  if (holding < movement.amount) {
    return invalid(proof, "insufficient_funds", { expected: `${movement.amount}`, got: `${holding}` });
  }
  // The base fee rises by an eighth a block at most: twice as much lasts for six full blocks.
  const least = head.baseFeePerGas * 2n;
  if (maxFeePerGas < least) {
    const expected = `maxFeePerGas from ${least} (twice the base fee)`;
    return invalid(proof, "payment_rejected", { expected, got: `${maxFeePerGas}` });
  }
  // Far below what others pay no block takes it, and its claim would only wait. Rounded up: 1 % of next to nothing is something.
  const leastTip = (tip + 99n) / 100n;
  if (maxPriorityFeePerGas < leastTip) {
    const expected = `maxPriorityFeePerGas from ${leastTip} (1 % of the usual tip)`;
    return invalid(proof, "payment_rejected", { expected, got: `${maxPriorityFeePerGas}` });
  }
  if (gas < needed) return invalid(proof, "payment_rejected", { expected: `gas from ${needed}`, got: `${gas}` });
  if (simulation.outcome === "reverts") return invalid(proof, "simulation_failed", { got: simulation.reason });
  return { outcome: "valid", payer: proof.payer, balance: holding };
}

/** Only the sender's next transaction can be mined at once; every other refusal says which nonce that is. */
function judgeNonce(proof: ReadProof["proof"], nonce: bigint, { counts }: Market): Invalid | undefined {
  const { latest, pending } = counts;
  if (latest === nonce && pending === nonce) return undefined;
  const facts = (expected: string, got: string) => invalid(proof, "payment_rejected", { expected, got });
  const next = `nonce ${pending} (the sender's next one)`;
  if (latest > nonce) return facts(next, `nonce ${nonce}, which another transaction has used`);
  if (pending > nonce) return facts(next, `nonce ${nonce}, with which another transaction waits`);
  if (pending > latest) {
    const waiting = `nonce ${nonce} while ${pending - latest} earlier transactions wait`;
    return facts("a sender without transactions that wait", waiting);
  }
  return facts(next, `nonce ${nonce}`);
}
