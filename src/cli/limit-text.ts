// Limits of hosted wallets as one writes them on a command line: "base-sepolia USDC 5/payment 50/day".
import type { WalletLimitRequest } from "../gateway/schemas/admin.js";
import { usage } from "./io.js";

/** What `--limit` takes, for help and messages. */
export const LIMIT_FORM = '"NETWORK [ASSET] AMOUNT/payment AMOUNT/day"';
const EXAMPLE = '"base-sepolia USDC 5/payment 50/day"';

const LIMIT = /^(\S{1,64})(?:\s+(\S{1,64}))?\s+([0-9.]{1,80})\/payment\s+([0-9.]{1,80})\/day$/;

/**
 * Amounts are in whole units; without an asset they are in the network's own currency.
 *
 * @throws CliError (2) where it has another form.
 */
export function parseLimit(text: string): WalletLimitRequest {
  const [, network, asset, perPayment, perDay] = LIMIT.exec(text.trim()) ?? [];
  if (network === undefined || perPayment === undefined || perDay === undefined) {
    throw usage(`--limit takes ${LIMIT_FORM}, for example ${EXAMPLE}`);
  }
  return { network, ...(asset !== undefined && { asset }), perPayment, perDay };
}
