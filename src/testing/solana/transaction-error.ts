// Errors of a transaction in the form in which a Solana node tells them. LiteSVM's binding names them by numbers that
// change with its version, and in words by their Rust form, which is the one that serde writes as JSON: the words are read.

/** `"AccountNotFound"`, `{ InstructionError: [0, { Custom: 1 }] }`, … */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [number, string | { readonly Custom: number }] }
  | { readonly DuplicateInstruction: number }
  | Readonly<Record<string, { readonly account_index: number }>>;

/** Reads `InstructionError(0, Custom(1))` and its like. */
export function readTransactionError(words: string): TransactionError {
  const custom = /^InstructionError\((\d+), Custom\((\d+)\)\)$/.exec(words);
  if (custom) return { InstructionError: [Number(custom[1]), { Custom: Number(custom[2]) }] };
  const plain = /^InstructionError\((\d+), (\w+).*\)$/.exec(words);
  if (plain) return { InstructionError: [Number(plain[1]), plain[2] ?? ""] };
  const duplicate = /^DuplicateInstruction\((\d+)\)$/.exec(words);
  if (duplicate) return { DuplicateInstruction: Number(duplicate[1]) };
  const account = /^(\w+) \{ account_index: (\d+) \}$/.exec(words);
  if (account) return { [account[1] ?? ""]: { account_index: Number(account[2]) } };
  if (/^\w+$/.test(words)) return words;
  throw new Error(`LiteSVM reported an error in a form that is not known: ${words}`);
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  InsufficientFundsForFee: "Insufficient funds for fee",
  InvalidAccountForFee: "This account may not be used to pay transaction fees",
  ProgramAccountNotFound: "Attempt to load a program that does not exist",
  SignatureFailure: "Transaction did not pass signature verification",
};

/** The sentence in which a node puts the error, as clients search it. */
export function sentenceOf(error: TransactionError): string {
  if (typeof error === "string") return SENTENCES[error] ?? error;
  if ("InstructionError" in error && Array.isArray(error.InstructionError)) {
    const [index, reason] = error.InstructionError as readonly [number, string | { readonly Custom: number }];
    const why = typeof reason === "string" ? reason : `custom program error: 0x${reason.Custom.toString(16)}`;
    return `Error processing Instruction ${index}: ${why}`;
  }
  const [[name, facts] = ["", {}]] = Object.entries(error);
  return `${name} ${JSON.stringify(facts)}`;
}
