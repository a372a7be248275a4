// Tells "the chain would refuse this call" from "the node failed", and reads the reason of a refusal. Nodes differ in code
// and wording; what is recognised as neither is a failure of the node, which condemns nobody.
import { decodeText } from "./answers.js";
import { isHex } from "./hex.js";
import { printable } from "./printable.js";
import type { RpcAnswer } from "./rpc.js";

/** Outcome of a simulated call. */
export type Simulation =
  | { readonly outcome: "passes" }
  /** `reason`: the contract's own words where it gave any; printable ASCII, at most 160 characters. */
  | { readonly outcome: "reverts"; readonly reason: string }
  | { readonly outcome: "failed"; readonly message: string };

const REVERTED =
  /revert|out ?of ?gas|gas required exceeds|invalid ?(?:fe)? ?opcode|opcode ?not ?found|invalid ?jump|stack ?(?:over|under)flow|return ?data out of bounds|OutOfOffset|gas uint64 overflow|write protection|memory ?limit|vm execution error/i;
const ERROR_STRING = "0x08c379a0";

/** Reads the answer to an `eth_call` that returns nothing of interest. */
export function readSimulation(answer: RpcAnswer | undefined): Simulation {
  if (!answer) return { outcome: "failed", message: "no answer" };
  if (answer.ok) {
    return isHex(answer.result) ? { outcome: "passes" } : { outcome: "failed", message: "the result is not hex" };
  }
  const { message, data } = answer;
  if (!isRevert(answer)) return { outcome: "failed", message: printable(message) };
  return { outcome: "reverts", reason: printable(revertText(data) ?? message) };
}

/** Is it the chain that refuses, in words that a contract may have chosen, and not the node? */
export function isRevert({ code, message, data }: { code: number; message: string; data?: unknown }): boolean {
  // Code 3 is "execution reverted" by convention of all large nodes.
  return code === 3 || REVERTED.test(message) || isErrorString(data);
}

const isErrorString = (data: unknown): boolean => typeof data === "string" && data.startsWith(ERROR_STRING);

/** The text of `Error(string)`. */
function revertText(data: unknown): string | undefined {
  if (!isHex(data) || !data.startsWith(ERROR_STRING)) return undefined;
  const length = Number.parseInt(data.slice(10 + 64, 10 + 128), 16);
  return Number.isSafeInteger(length) ? decodeText(data.slice(10 + 128, 10 + 128 + length * 2)) : undefined;
}
