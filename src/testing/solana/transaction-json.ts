// A landed transaction, and the outcome of a simulated one, as RPC answers carry them.
import type { AccountKeys } from "./account-keys.js";
import { toBase58 } from "./encoding.js";
import { type Instruction, instructionByIndex, parsedInstruction } from "./instruction-json.js";
import type { Landed } from "./ledger.js";
import { MEMO_PROGRAM, readMint, readTokenAccount, uiAmount } from "./programs.js";
import type { AccountState, Execution } from "./svm.js";
import type { WireTransaction } from "./wire.js";

type ReadAccount = (address: string) => AccountState | null;

/** `{ slot, blockTime, transaction, meta, version }` of `getTransaction` and, without the first two, of `getBlock`. */
export function transactionJson(landed: Landed, encoding: string, account: ReadAccount) {
  return {
    transaction: encodeTransaction(landed, encoding),
    meta: metaOf(landed, encoding === "jsonParsed", account),
    version: landed.transaction.message.version,
  };
}

function encodeTransaction({ transaction, keys }: Landed, encoding: string): unknown {
  const { wire, message, signatures } = transaction;
  if (encoding === "base64") return [Buffer.from(wire).toString("base64"), "base64"];
  if (encoding === "base58") return [toBase58(wire), "base58"];
  const parsed = encoding === "jsonParsed";
  const instructions = instructionsOf(transaction).map((instruction) =>
    parsed ? parsedInstruction(instruction, keys) : instructionByIndex(instruction),
  );
  const lookups = message.addressTableLookups.map((lookup) => ({
    accountKey: lookup.accountKey.toBase58(),
    writableIndexes: lookup.writableIndexes,
    readonlyIndexes: lookup.readonlyIndexes,
  }));
  const addressTableLookups = message.version === 0 ? lookups : undefined;
  const recentBlockhash = message.recentBlockhash;
  return {
    signatures: signatures.map(toBase58),
    message: parsed
      ? { accountKeys: parsedKeys(transaction, keys), recentBlockhash, instructions, addressTableLookups }
      : {
          header: message.header,
          accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
          recentBlockhash,
          instructions,
          addressTableLookups,
        },
  };
}

const parsedKeys = ({ message, signers }: WireTransaction, keys: AccountKeys) =>
  keys.all.map((pubkey, index) => ({
    pubkey,
    signer: index < signers.length,
    writable: keys.isWritable(index),
    source: index < message.staticAccountKeys.length ? "transaction" : "lookupTable",
  }));

const instructionsOf = ({ message }: WireTransaction): readonly Instruction[] =>
  message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data,
    stackHeight: 1,
  }));

function metaOf({ execution, keys, before, after }: Landed, parsed: boolean, account: ReadAccount) {
  return {
    ...statusOf(execution.err),
    fee: execution.fee,
    preBalances: before.map((state) => state?.lamports ?? 0n),
    postBalances: after.map((state) => state?.lamports ?? 0n),
    innerInstructions: innerJson(execution, keys, parsed),
    logMessages: execution.logs,
    preTokenBalances: tokenBalances(before, account),
    postTokenBalances: tokenBalances(after, account),
    rewards: [],
    loadedAddresses: keys.loaded,
    returnData: returnDataJson(execution),
    computeUnitsConsumed: execution.unitsConsumed,
  };
}

export const statusOf = (err: Execution["err"]) => ({ err, status: err === null ? { Ok: null } : { Err: err } });

/** `parsed` is what simulations answer, whatever was asked. */
export const innerJson = ({ inner }: Execution, keys: AccountKeys, parsed: boolean) =>
  inner.flatMap((calls, index) => {
    const instructions = calls.map((call) => (parsed ? parsedInstruction(call, keys) : instructionByIndex(call)));
    return calls.length === 0 ? [] : [{ index, instructions }];
  });

export const returnDataJson = ({ returnData }: Execution) =>
  returnData === null
    ? null
    : {
        programId: toBase58(returnData.programId),
        data: [Buffer.from(returnData.data).toString("base64"), "base64"],
      };

const tokenBalances = (states: readonly (AccountState | null)[], account: ReadAccount) =>
  states.flatMap((state, accountIndex) => {
    const token = readTokenAccount(state);
    if (token === undefined) return [];
    const { mint, owner, amount, program: programId } = token;
    const { decimals = 0 } = readMint(account(mint)) ?? {};
    return [{ accountIndex, mint, owner, programId, uiTokenAmount: uiAmount(amount, decimals) }];
  });

/** `[length] text` of each memo, as `getSignaturesForAddress` shows them. */
export function memoOf({ transaction, keys }: Landed): string | null {
  const memos = instructionsOf(transaction).filter(({ programIdIndex }) => keys.all[programIdIndex] === MEMO_PROGRAM);
  if (memos.length === 0) return null;
  return memos.map(({ data }) => `[${data.length}] ${Buffer.from(data).toString("utf8")}`).join("; ");
}
