// One instruction as an RPC answer carries it: by index, or parsed where it is a transfer of tokens or of SOL, which are
// what a payment is read from. Other programs are shown half decoded, as a real node shows those it does not know.
import type { AccountKeys } from "./account-keys.js";
import { toBase58 } from "./encoding.js";
import { isTokenProgram, MEMO_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM, uiAmount } from "./programs.js";
import type { InnerInstruction } from "./svm.js";

export type Instruction = Omit<InnerInstruction, "stackHeight"> & { readonly stackHeight: number | null };

export const instructionByIndex = ({ programIdIndex, accounts, data, stackHeight }: Instruction) => ({
  programIdIndex,
  accounts,
  data: toBase58(data),
  stackHeight,
});

/** The `jsonParsed` form. */
export function parsedInstruction({ programIdIndex, accounts, data, stackHeight }: Instruction, { all }: AccountKeys) {
  const programId = all[programIdIndex] ?? "";
  const addresses = accounts.map((index) => all[index] ?? "");
  const parsed = parse(programId, addresses, data);
  return parsed === undefined
    ? { programId, accounts: addresses, data: toBase58(data), stackHeight }
    : { program: parsed.program, programId, parsed: parsed.body, stackHeight };
}

/** Discriminators of the token programs. */
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const SYSTEM_TRANSFER = 2;

function parse(programId: string, accounts: readonly string[], data: Uint8Array) {
  const bytes = Buffer.from(data);
  if (programId === MEMO_PROGRAM) return { program: "spl-memo", body: bytes.toString("utf8") };
  if (programId === SYSTEM_PROGRAM && bytes.length === 12 && bytes.readUInt32LE(0) === SYSTEM_TRANSFER) {
    const [source, destination] = accounts;
    return {
      program: "system",
      body: { type: "transfer", info: { source, destination, lamports: bytes.readBigUInt64LE(4) } },
    };
  }
  if (!isTokenProgram(programId)) return undefined;
  const program = programId === TOKEN_PROGRAM ? "spl-token" : "spl-token-2022";
  if (bytes[0] === TRANSFER && bytes.length === 9) {
    const [source, destination, authority] = accounts;
    const amount = bytes.readBigUInt64LE(1).toString();
    return { program, body: { type: "transfer", info: { source, destination, authority, amount } } };
  }
  if (bytes[0] === TRANSFER_CHECKED && bytes.length === 10) {
    const [source, mint, destination, authority] = accounts;
    const tokenAmount = uiAmount(bytes.readBigUInt64LE(1), bytes.readUInt8(9));
    return { program, body: { type: "transferChecked", info: { source, mint, destination, authority, tokenAmount } } };
  }
  return undefined;
}
