// Options for the tests of the buyer: good ones to start from, and what an attempt to read others says.
import { type PayingFetchOptions, readOptions } from "../../src/client/options.js";
import type { BuyerSettings } from "../../src/client/settings.js";
import type { Wallet } from "../../src/client/wallet.js";
import { type ConfigProblem, PaywallConfigError } from "../../src/errors.js";

export const wallet: Wallet = {
  address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  takes: () => true,
  sign: async () => ({ ok: false, code: "signing_failed", message: "it signs nothing" }),
};

export const good = { wallets: [wallet], budget: { perRequest: "$0.10", perDay: "$5" } } satisfies PayingFetchOptions;

/** Reads options that the compiler may not know. */
export const read = (options: unknown): BuyerSettings => readOptions(options as PayingFetchOptions);

/** The problems of options, in order. */
export function problemsOf(options: unknown): readonly ConfigProblem[] {
  try {
    read(options);
  } catch (error) {
    if (error instanceof PaywallConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** The same, each as `path: code: message`. */
export const linesOf = (options: unknown): string[] =>
  problemsOf(options).map(({ path, code, message }) => `${path}: ${code}: ${message}`);

/** The problems of a budget. */
export const budgetLines = (budget: unknown): string[] => linesOf({ ...good, budget });
