// How a buyer's memory is written as text, and read back: JSON with amounts as decimal text. What does not fit entirely is refused,
// because an amount that is left out would be paid once more.
import * as z from "zod/mini";
import { optionPath } from "../config-problems.js";
import { emptyLedger, type Ledger, pendingKey } from "./ledger.js";
import type { Purchase } from "./purchase.js";
import type { PendingProof, Spend } from "./store.js";

const amount = z.pipe(
  z.string().check(z.regex(/^(?:0|[1-9][0-9]{0,199})$/)),
  z.transform((text: string) => BigInt(text)),
);
const time = z.number();
/** What is undefined in memory is null in the file. */
const maybe = <Value>(value: z.ZodMiniType<Value>) =>
  z.pipe(
    z.nullable(value),
    z.transform((given: Value | null) => given ?? undefined),
  );

const spend: z.ZodMiniType<Spend> = z.strictObject({
  id: z.string(),
  host: z.string(),
  unit: z.string(),
  amount,
  at: time,
});
const purchase: z.ZodMiniType<Purchase> = z.strictObject({
  id: z.string(),
  status: z.enum(["reserved", "sent", "settled", "refused"]),
  method: z.string(),
  url: z.string(),
  host: z.string(),
  network: z.string(),
  asset: z.string(),
  symbol: maybe(z.string()),
  decimals: maybe(z.number()),
  amount,
  price: z.string(),
  payTo: z.string(),
  payer: maybe(z.string()),
  at: time,
  transaction: maybe(z.string()),
  httpStatus: maybe(z.number()),
  served: z.boolean(),
});
const pendingProof: z.ZodMiniType<PendingProof> = z.strictObject({
  request: z.string(),
  headers: z.record(z.string(), z.string()),
  expiresAt: time,
  purchase,
});

const VERSION = 1;
const contents = z.strictObject({
  version: z.literal(VERSION),
  spends: z.array(spend),
  pending: z.array(pendingProof),
  purchases: z.array(purchase),
});

export const encodeLedger = ({ spends, pending, purchases }: Ledger): string =>
  encode({ spends, pending: [...pending.values()], purchases: [...purchases.values()] });

export interface Entries {
  readonly spends?: readonly Spend[];
  readonly pending?: readonly PendingProof[];
  readonly purchases?: readonly Purchase[];
}

function encode({ spends = [], pending = [], purchases = [] }: Entries): string {
  const whole = { version: VERSION, spends, pending, purchases };
  return `${JSON.stringify(whole, (_, value) => (typeof value === "bigint" ? value.toString() : (value ?? null)))}\n`;
}

/**
 * Whether these can be read back once they are written.
 *
 * @throws RangeError where not: one such entry would make the whole file unreadable.
 */
export function checkEntries(entries: Entries): void {
  const decoded = decodeLedger(encode(entries));
  if (!decoded.ok) throw new RangeError(`what is to be remembered ${decoded.problem.split(",", 1)[0]}`);
}

export type Decoded =
  | { readonly ok: true; readonly ledger: Ledger }
  /** To stand after the file's name. */
  | { readonly ok: false; readonly problem: string };

export function decodeLedger(text: string): Decoded {
  const json = parse(text);
  const version: unknown = json.ok && Object(json.value).version;
  if (typeof version === "number" && version > VERSION) {
    return { ok: false, problem: `was written by a newer tollgate (format ${version}): update this one` };
  }
  const { data, error } = json.ok ? contents.safeParse(json.value) : {};
  if (data) return { ok: true, ledger: toLedger(data) };
  const place = error?.issues[0] ? `at ${optionPath("", error.issues[0].path) || "its beginning"}` : "as JSON";
  return { ok: false, problem: `cannot be read ${place}, ${REMEDY}` };
}

const REMEDY =
  "so what was spent is not known and nothing is paid: restore it, or move it away if the budget may begin anew";

function toLedger({ spends, pending, purchases }: z.infer<typeof contents>): Ledger {
  const ledger = emptyLedger();
  ledger.spends = spends;
  for (const proof of pending) ledger.pending.set(pendingKey(proof.request, proof.purchase.id), proof);
  for (const one of purchases) ledger.purchases.set(one.id, one);
  return ledger;
}

function parse(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
