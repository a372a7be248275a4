// The most that the chain may take for a local transaction: what its caller says, else what his own node makes of the moment.
import { formatDecimal, parseDecimal } from "../money.js";
import type { Network } from "../networks.js";
import { LocalTransactionError } from "./local-error.js";
import { quote } from "./seller-words.js";

/** `"0.0005 ETH"` in atomic units of that network's currency; undefined where nothing is said. */
export function readMaxFee(text: string | undefined, { native, name }: Network): bigint | undefined {
  if (text === undefined) return undefined;
  const [number = "", symbol, ...rest] = String(text).split(" ");
  const parsed = parseDecimal(number, native.decimals);
  if (parsed.ok && symbol === native.symbol && rest.length === 0) return parsed.amount;
  const expected = `expected an amount in the currency of ${name}, for example "0.0005 ${native.symbol}"`;
  throw new LocalTransactionError("order_invalid", `maxFee: ${expected}; got ${quote(text)}`);
}

/**
 * Invariant: beside what was ordered, the transaction can take no more than this from the account: not by its price, and not by
 * its tip.
 */
export function demandFee(fee: bigint, most: bigint, { native }: Network, paymentId: string): void {
  if (fee <= most) return;
  const [asked, allowed] = [fee, most].map((amount) => `${formatDecimal(amount, native.decimals)} ${native.symbol}`);
  const detail = `its network fee can be up to ${asked}, where at most ${allowed} is right`;
  throw new LocalTransactionError("too_expensive", detail, { paymentId });
}
