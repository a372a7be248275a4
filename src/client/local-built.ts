// The gateway's answer to an order, as far as it is used: read strictly, and held against the order before its bytes are looked at.
import * as z from "zod/mini";
import { toBytes } from "../chains/evm/hex.js";
import { fromBase64 } from "../chains/solana/bytes.js";
import { sha256 } from "../hash.js";
import { LocalTransactionError } from "./local-error.js";
import type { LocalOrder } from "./local-order.js";

const builtSchema = z.object({
  paymentId: z.string().check(z.regex(/^[\w-]{1,100}$/)),
  status: z.string(),
  transaction: z.string(),
  signatureRequired: z.literal(true),
  network: z.string(),
  secret: z.string().check(z.regex(/^0x[0-9a-f]{64}$/)),
});

/** What was built under which key, as far as this process remembers: an honest gateway gives the same again. */
const builtUnder = new Map<string, string>();
const MOST_KEYS = 10_000;

function isSame(key: string, transaction: string): boolean {
  const earlier = builtUnder.get(key);
  if (earlier !== undefined) return earlier === transaction;
  builtUnder.set(key, transaction);
  const [oldest] = builtUnder.keys();
  if (builtUnder.size > MOST_KEYS && oldest !== undefined) builtUnder.delete(oldest);
  return true;
}

export interface BuiltOrder {
  readonly paymentId: string;
  /** Under which the gateway gives the same transaction again. */
  readonly idempotencyKey: string;
  /** Not signed. */
  readonly bytes: Uint8Array;
  /** The same in base64. */
  readonly base64: string;
  readonly secret: string;
  /** The SHA-256 of the secret, lower-case hex: stands in the transaction, and makes it a proof. */
  readonly reference: string;
}

/** @throws LocalTransactionError, `built_wrong` */
export async function readBuilt(answer: unknown, order: LocalOrder, idempotencyKey: string): Promise<BuiltOrder> {
  const { network } = order;
  const parsed = builtSchema.safeParse(answer);
  if (!parsed.success) {
    const places = [...new Set(parsed.error.issues.map(({ path }) => path.join(".")))].join(", ");
    throw new LocalTransactionError("built_wrong", `its answer has no readable ${places}`);
  }
  const { paymentId, transaction, secret } = parsed.data;
  const wrong = (detail: string) => new LocalTransactionError("built_wrong", detail, { paymentId });
  if (parsed.data.network !== network.id) {
    throw wrong(`expected a transaction on ${network.id}, the chain of your own node, got one on another`);
  }
  const bytes = fromBase64(transaction);
  if (!bytes) throw wrong("expected the base64 of a transaction, got another text");
  // Invariant: one key, one transaction. A second one for the same order would be a second payment of it.
  if (!isSame([network.id, order.sender, idempotencyKey].join(" "), transaction)) {
    throw wrong("expected the transaction that it built under this idempotencyKey before, got another one");
  }
  const reference = await sha256(toBytes(secret));
  return { paymentId, idempotencyKey, bytes, base64: transaction, secret, reference };
}
