// An amount of one token on one network. What is counted in dollars, or under the symbol of a native currency, is refused here
// with the text to write: an amount of USDC on Base alone would look like a limit on dollars and be none.
import * as z from "zod/mini";
import { optionPath, type Problems, show } from "../config-problems.js";
import { reportIssues, wrong } from "../config-schema.js";
import { parseInteger } from "../money.js";
import { suggestNetwork } from "../network-suggestion.js";
import { findNetwork, isAddressOf } from "../networks.js";
import { NATIVE } from "../requirement.js";
import type { Amount } from "./caps.js";
import { unitOf } from "./unit.js";

const capObject = z.strictObject({
  /** Atomic units, as decimal text. */
  amount: z.string(wrong('expected atomic units as text, such as "10000"')),
  /** The token's address; `native` for the own currency of a chain that is known by its id alone. */
  asset: z.string(wrong("expected the address of the token")),
  network: z.string(wrong('expected the name of a network, such as "base"')),
});

/** A token that is none of the dollars of our own table. */
export type CapObject = z.infer<typeof capObject>;

/** Reads it; undefined where there is a problem. */
export function readCapObject(given: unknown, path: string, problems: Problems): Amount | undefined {
  const at = (...keys: PropertyKey[]) => optionPath(path, keys);
  const { success, data, error } = capObject.safeParse(given);
  if (!success) {
    const known = () => Object.keys(capObject.shape);
    reportIssues(error.issues, given, { pathOf: (keys) => at(...keys), known }, problems);
    return undefined;
  }
  const network = findNetwork(data.network);
  const amount = parseInteger(data.amount);
  if (!amount.ok) problems.add(at("amount"), "invalid", `${show(data.amount)} ${amount.problem}: write atomic units`);
  if (!network) {
    const message = `${show(data.network)} is no known network: ${suggestNetwork(data.network)}`;
    problems.add(at("network"), "unknown_network", message);
    return undefined;
  }
  if (data.asset !== NATIVE && !isAddressOf(network.family, data.asset)) {
    const form = network.family === "evm" ? "0x and 40 hex digits, with a right checksum" : "base58 of 32 bytes";
    const message = `expected the address of a token on ${network.name} (${form}); got ${show(data.asset)}`;
    problems.add(at("asset"), "invalid", message);
    return undefined;
  }
  if (!amount.ok) return undefined;
  const unit = unitOf(network, data.asset);
  const counted = amount.amount * unit.factor;
  if (unit.id.startsWith(`${network.id}/`)) return { unit, amount: counted };
  const message = `it is counted together with other assets: write ${JSON.stringify(unit.format(counted))}`;
  problems.add(path, "invalid", message);
  return undefined;
}
