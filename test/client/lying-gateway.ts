// A gateway that lies: a real one, whose answers are changed on the way to its client. And accounts that count how often they sign.
import { type PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import {
  type Hex,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from "viem";
import type { GatewayClient } from "../../src/client/gateway-client.js";
import type { BuildAnswer } from "../../src/client/gateway-client-shapes.js";
import { LocalTransactionError } from "../../src/client/local-error.js";

export type Lie = (answer: BuildAnswer) => BuildAnswer | object;

export type Builder = Pick<GatewayClient, "buildSend" | "wait">;

/** Asks the gateway, and gives something else. */
export const liar = (client: Builder, lie: Lie): Builder => ({
  wait: client.wait,
  buildSend: async (request, options) => lie(await client.buildSend(request, options)) as BuildAnswer,
});

const hexOf = (base64: string | null): Hex => `0x${Buffer.from(base64 ?? "", "base64").toString("hex")}`;
export const base64Of = (hex: string): string => Buffer.from(hex.slice(2), "hex").toString("base64");

/** Another transaction in the place of the built one. */
export const withEvm =
  (change: (built: TransactionSerializableEIP1559) => TransactionSerializable): Lie =>
  (answer) => {
    const built = parseTransaction(hexOf(answer.transaction)) as TransactionSerializableEIP1559;
    return { ...answer, transaction: base64Of(serializeTransaction(change(built))) };
  };

export interface SolanaParts {
  readonly payerKey: PublicKey;
  readonly recentBlockhash: string;
  readonly instructions: readonly TransactionInstruction[];
}

export const withSolana =
  (change: (built: SolanaParts) => SolanaParts, version: "v0" | "legacy" = "v0"): Lie =>
  (answer) => {
    const built = VersionedTransaction.deserialize(Buffer.from(answer.transaction ?? "", "base64"));
    const changed = change(TransactionMessage.decompile(built.message));
    const message = new TransactionMessage({ ...changed, instructions: [...changed.instructions] });
    const compiled = version === "v0" ? message.compileToV0Message() : message.compileToLegacyMessage();
    return { ...answer, transaction: Buffer.from(new VersionedTransaction(compiled).serialize()).toString("base64") };
  };

/** The same instruction with other data, accounts or program. */
export const change = (
  one: TransactionInstruction | undefined,
  { data, keys, programId }: Partial<Pick<TransactionInstruction, "data" | "keys" | "programId">>,
): TransactionInstruction => {
  if (!one) throw new Error("there is no such instruction");
  return new TransactionInstruction({
    data: data ?? one.data,
    keys: keys ?? one.keys,
    programId: programId ?? one.programId,
  });
};

/** How it ended: the code and the message, or what it came to. */
export async function refusalOf(call: Promise<unknown>): Promise<LocalTransactionError> {
  const error: unknown = await call.then(
    () => "it was sent",
    (thrown: unknown) => thrown,
  );
  if (error instanceof LocalTransactionError) return error;
  throw error instanceof Error ? error : new Error(String(error));
}
