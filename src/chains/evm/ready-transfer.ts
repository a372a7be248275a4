// Start-up checks of what a buyer's own transaction moves: the token is a contract whose decimals are what the offers say, and
// native currency is taken by its payee. A mismatch names both values and what to do.
import type { ReadinessProblem } from "../../receive/receiver.js";
import { NATIVE, type Requirement, type TransactionRequirement } from "../../requirement.js";
import { readHex, readWord } from "./answers.js";
import { DECIMALS } from "./calldata.js";
import { type EvmChain, lower } from "./chain.js";
import { readSimulation } from "./revert.js";
import type { RpcAnswer, RpcCall } from "./rpc.js";

/** Checks every asset and payee of these requirements; the message of a node that cannot be reached. */
export async function checkTransfers(
  chain: EvmChain,
  requirements: readonly TransactionRequirement[],
  signal: AbortSignal,
): Promise<readonly ReadinessProblem[] | { readonly message: string }> {
  const problems: ReadinessProblem[] = [];
  const checked = new Map(requirements.map((one) => [one.asset === NATIVE ? one.payTo : one.asset, one]));
  for (const requirement of checked.values()) {
    const reply = await chain.rpc.batch(callsFor(chain, requirement), { signal });
    if (!reply.ok) return reply;
    if (requirement.asset === NATIVE) {
      problems.push(...checkPayee(chain, requirement, reply.answers[0]));
      continue;
    }
    const found = checkContract(chain, requirement, reply.answers);
    if ("message" in found) return found;
    problems.push(...found.problems);
  }
  return problems;
}

function callsFor(chain: EvmChain, { asset, payTo }: TransactionRequirement): RpcCall[] {
  if (asset === NATIVE) {
    const from = chain.settlers.first.address;
    return [{ method: "eth_call", params: [{ from, to: payTo, value: "0x1" }, "latest"] }];
  }
  return [
    { method: "eth_getCode", params: [asset, "latest"] },
    { method: "eth_call", params: [{ to: asset, data: DECIMALS }, "latest"] },
  ];
}

/** Whether the payee takes native currency. A node that cannot tell is no mismatch: each payment is simulated again. */
function checkPayee(
  chain: EvmChain,
  { payTo, network }: TransactionRequirement,
  answer: RpcAnswer | undefined,
): readonly ReadinessProblem[] {
  const simulation = readSimulation(answer);
  if (simulation.outcome === "failed") {
    const facts = { network, payTo, message: simulation.message };
    chain.logger?.warn("it could not be tried whether payTo takes native currency", facts);
  }
  if (simulation.outcome !== "reverts") return [];
  const expected = "an address that takes native currency";
  const got = `a contract that refuses it (${simulation.reason})`;
  const remedy = `set payTo of ${network} to another address, or choose a token for its price`;
  return [{ check: `native currency to ${payTo}`, expected, got, remedy }];
}

/** Whatever the node could not tell, as no contract's answer: it may tell the next time. */
export function findUntold(answers: readonly (RpcAnswer | undefined)[]): { readonly message: string } | undefined {
  for (const answer of answers) {
    const read = readSimulation(answer);
    if (read.outcome === "failed") return { message: `a start-up check has no answer: ${read.message}` };
  }
  return undefined;
}

/** What every token must have, read from its code and its `decimals()`; the message of a node that could not tell. */
export function checkContract(
  chain: EvmChain,
  { asset, network }: Pick<Requirement, "asset" | "network">,
  [codeAnswer, decimalsAnswer]: readonly RpcAnswer[],
): { readonly exists: boolean; readonly problems: readonly ReadinessProblem[] } | { readonly message: string } {
  // Invariant: an answer that could not be had is no mismatch. A mismatch closes the paywall.
  const untold = findUntold([codeAnswer, decimalsAnswer]);
  if (untold) return untold;
  if (readHex(codeAnswer) === "0x") {
    const remedy = `use the token's address on ${network}: the same token has another one on another chain`;
    const problem = { check: `code of ${asset}`, expected: "a contract", got: "no code at this address", remedy };
    return { exists: false, problems: [problem] };
  }
  const decimals = readWord(decimalsAnswer);
  const expected = chain.decimals.get(lower(asset));
  if (decimals !== undefined && (expected === undefined || decimals === BigInt(expected))) {
    return { exists: true, problems: [] };
  }
  const remedy = `correct the decimals of the token on ${network}, or its address`;
  const got = decimals === undefined ? "no readable decimals()" : `${decimals}`;
  const problem = { check: `decimals of ${asset}`, expected: `${expected ?? "a number"}`, got, remedy };
  return { exists: true, problems: [problem] };
}
