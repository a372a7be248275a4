// What a form brings when a wallet is asked to sign, and when it has signed; and the answer that the page's script reads.
import { invalidField, type Outcome } from "../errors.js";
import { readAddress } from "../terms.js";
import type { DashboardContext } from "./session.js";
import type { Wallet } from "./statement.js";

export type Form = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function readWallet({ address }: Form): Outcome<Wallet> {
  const family = textOf(address).startsWith("0x") ? "evm" : "solana";
  const read = readAddress(family, textOf(address));
  return read === undefined
    ? invalidField("address", "expected a valid address")
    : { ok: true, value: { family, address: read } };
}

export const readSigned = ({ nonce, signature }: Form) => ({ nonce: textOf(nonce), signature: textOf(signature) });

/** What the wallet is to sign, or why nothing is. */
export const answerChallenge = (
  c: DashboardContext,
  asked: Outcome<{ readonly text: string; readonly nonce: string }>,
) => (asked.ok ? c.json(asked.value) : c.json({ problem: wordsOf(asked) }, asked.code === "RATE_LIMIT" ? 429 : 400));

/** Without the path of a field: the form shows its label. */
export const wordsOf = ({ message, details }: Exclude<Outcome<unknown>, { ok: true }>): string =>
  details?.[0]?.message ?? message;

/** As hidden fields, but for the token of the session. */
export const fieldsOf = (form: Form): readonly (readonly [name: string, value: string])[] =>
  Object.entries(form).flatMap(([name, values]) =>
    name === "form"
      ? []
      : [values].flat().flatMap((value) => (typeof value === "string" ? [[name, value] as const] : [])),
  );
