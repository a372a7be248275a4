// Readers of JSON-RPC results. Each gives undefined for anything but the exact shape: a malformed field is no verdict.
import * as z from "zod/mini";
import { type Hex, isHex } from "./hex.js";
import type { RpcAnswer } from "./rpc.js";

/** Hex of so many bytes, turned to lower case, so that it can be compared as text. */
const hexOf = (bytes?: number) =>
  z.pipe(
    z.custom<Hex>((value) => isHex(value, bytes)),
    z.transform((text) => text.toLowerCase() as Hex),
  );
const hex = hexOf();
const hash = hexOf(32);
const address = hexOf(20);
const quantity = z.pipe(
  z.string().check(z.regex(/^0x[0-9a-fA-F]{1,64}$/)),
  z.transform((text) => BigInt(text)),
);

const logSchema = z.object({
  address,
  topics: z.array(hash),
  data: hex,
  logIndex: quantity,
  transactionHash: hash,
  removed: z.optional(z.boolean()),
});
export type Log = z.infer<typeof logSchema>;

const receiptSchema = z.object({
  transactionHash: hash,
  status: z.enum(["0x0", "0x1"]),
  blockNumber: quantity,
  blockHash: z.optional(hash),
  logs: z.array(logSchema),
});
export type Receipt = z.infer<typeof receiptSchema>;

const blockSchema = z.object({
  number: quantity,
  hash: z.optional(z.nullable(hash)),
  timestamp: quantity,
  baseFeePerGas: z.optional(z.nullable(quantity)),
});
export type Block = z.infer<typeof blockSchema>;

/** What a transaction does, as a full block or a look-up by hash shows it, whatever its type. */
const memberSchema = z.object({
  hash,
  from: address,
  nonce: quantity,
  to: z.nullable(address),
  value: quantity,
  input: hex,
  blockNumber: z.optional(z.nullable(quantity)),
});
export type Member = z.infer<typeof memberSchema>;
const membersSchema = z.object({ transactions: z.array(z.unknown()) });

/** OP chains charge for their data beside the gas. */
const costSchema = z.object({
  gasUsed: quantity,
  effectiveGasPrice: quantity,
  l1Fee: z.optional(z.nullable(quantity)),
});

const knownSchema = z.object({
  hash,
  type: z.optional(quantity),
  /** null or absent: it waits in the pool. */
  blockNumber: z.optional(z.nullable(quantity)),
});
const transactionSchema = z.object({
  chainId: quantity,
  nonce: quantity,
  maxPriorityFeePerGas: quantity,
  maxFeePerGas: quantity,
  gas: quantity,
  to: z.nullable(address),
  value: quantity,
  input: hex,
  accessList: z.array(z.unknown()),
  yParity: z.optional(quantity),
  v: z.optional(quantity),
  r: quantity,
  s: quantity,
});

function read<T extends z.ZodMiniType>(schema: T, answer: RpcAnswer | undefined): z.infer<T> | undefined {
  if (!answer?.ok) return undefined;
  const parsed = schema.safeParse(answer.result);
  return parsed.success ? parsed.data : undefined;
}

export const readQuantity = (answer: RpcAnswer | undefined): bigint | undefined => read(quantity, answer);
export const readHex = (answer: RpcAnswer | undefined): Hex | undefined => read(hex, answer);
export const readBlock = (answer: RpcAnswer | undefined): Block | undefined => read(blockSchema, answer);
export const readLogs = (answer: RpcAnswer | undefined): Log[] | undefined => read(z.array(logSchema), answer);

/** null = the node knows of no receipt (yet); undefined = no readable answer. */
export const readReceipt = (answer: RpcAnswer | undefined): Receipt | null | undefined =>
  read(z.nullable(receiptSchema), answer);

/** A transaction by its hash, as far as it says what it does. null = the node knows of none (yet). */
export const readMember = (answer: RpcAnswer | undefined): Member | null | undefined =>
  read(z.nullable(memberSchema), answer);

/** The transactions of a full block; those of kinds that only some chains have, and that cannot be read, are left out. */
export const readMembers = (answer: RpcAnswer | undefined): readonly Member[] | undefined =>
  read(membersSchema, answer)?.transactions.flatMap((one) => {
    const parsed = memberSchema.safeParse(one);
    return parsed.success ? [parsed.data] : [];
  });

/** Wei that a mined transaction has cost its sender, from its receipt. */
export function readCost(answer: RpcAnswer | undefined): bigint | undefined {
  const cost = read(costSchema, answer);
  return cost && cost.gasUsed * cost.effectiveGasPrice + (cost.l1Fee ?? 0n);
}

/** A transaction by its hash: what kind it is, and where. null = the node knows of none (yet); undefined = no readable answer. */
export const readKnown = (answer: RpcAnswer | undefined): z.infer<typeof knownSchema> | null | undefined =>
  read(z.nullable(knownSchema), answer);

/** The members of a transaction of type 2. */
export const readTypeTwo = (answer: RpcAnswer | undefined): z.infer<typeof transactionSchema> | undefined =>
  read(transactionSchema, answer);

/** One ABI word of a call's return data, as a number. */
export function readWord(answer: RpcAnswer | undefined): bigint | undefined {
  const data = readHex(answer);
  return data?.length === 66 ? BigInt(data) : undefined;
}

/** An ABI bool: exactly 0 or 1. */
export function readBool(answer: RpcAnswer | undefined): boolean | undefined {
  const value = readWord(answer);
  return value === 0n ? false : value === 1n ? true : undefined;
}

/** An ABI string of at most 256 bytes. */
export function readString(answer: RpcAnswer | undefined): string | undefined {
  const data = readHex(answer)?.slice(2);
  if (data === undefined || data.length < 128) return undefined;
  const length = BigInt(`0x${data.slice(64, 128)}`);
  if (BigInt(`0x${data.slice(0, 64)}`) !== 32n || length > 256n || data.length < 128 + Number(length) * 2)
    return undefined;
  return decodeText(data.slice(128, 128 + Number(length) * 2));
}

export function decodeText(digits: string): string {
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return new TextDecoder().decode(bytes);
}
