// The real Solana virtual machine in process: LiteSVM with the programs of the chain. It runs transactions and holds
// accounts. Blocks, signatures, blockhashes and duplicates are the ledger's: LiteSVM's own checks of them are off.
import { type FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from "litesvm";
import { readTransactionError, type TransactionError } from "./transaction-error.js";
import type { WireTransaction } from "./wire.js";

export interface AccountState {
  readonly lamports: bigint;
  readonly data: Uint8Array;
  /** The program that owns it. */
  readonly owner: string;
  readonly executable: boolean;
}

export interface InnerInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

export interface Execution {
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: bigint;
  /** Lamports. */
  readonly fee: bigint;
  /** For each instruction of the message, what it called in turn. */
  readonly inner: readonly (readonly InnerInstruction[])[];
  readonly returnData: { readonly programId: Uint8Array; readonly data: Uint8Array } | null;
}

export interface Simulation extends Execution {
  /** Accounts that would be written, by address; empty after an error. */
  readonly after: ReadonlyMap<string, AccountState>;
}

export interface Svm {
  execute(transaction: WireTransaction): Execution;
  simulate(transaction: WireTransaction): Simulation;
  account(address: string): AccountState | null;
  accountsOf(program: string): ReadonlyMap<string, AccountState>;
  setAccount(address: string, account: AccountState): void;
  /** What the Clock sysvar tells to programs. */
  setClock(slot: bigint, unixSeconds: bigint): void;
  rentExemption(space: bigint): bigint;
}

// LiteSVM takes the types of @solana/kit, which this package does not depend on.
type KitTransaction = Parameters<LiteSVM["sendTransaction"]>[0];
type KitAddress = Parameters<LiteSVM["getAccount"]>[0];
type KitAccount = Parameters<LiteSVM["setAccount"]>[0];

/** Starts the machine; about 20 ms. */
export function createSvm(): Svm {
  // Without a history LiteSVM holds no signature for a duplicate: unsigned simulations all have the same one.
  const vm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n);
  return {
    execute: (transaction) => executionOf(vm.sendTransaction(toKit(transaction))),
    simulate(transaction) {
      const result = vm.simulateTransaction(toKit(transaction));
      if (hasFailed(result)) return { ...executionOf(result), after: new Map() };
      const after = new Map(result.postAccounts().map((account) => [String(account.address), stateOf(account)]));
      return { ...executionOf(result.meta()), after };
    },
    account(address) {
      const account = vm.getAccount(address as KitAddress);
      return account.exists && account.lamports > 0n ? stateOf(account) : null;
    },
    accountsOf(program) {
      const accounts = vm.getProgramAccounts(program as KitAddress);
      return new Map(accounts.map((account) => [String(account.address), stateOf(account)]));
    },
    setAccount(address, { lamports, data, owner, executable }) {
      const space = BigInt(data.length);
      const account = { address, lamports, data, programAddress: owner, executable, space };
      vm.setAccount(account as unknown as KitAccount);
    },
    setClock(slot, unixSeconds) {
      const clock = vm.getClock();
      clock.slot = slot;
      clock.unixTimestamp = unixSeconds;
      vm.setClock(clock);
    },
    rentExemption: (space) => vm.minimumBalanceForRentExemption(space),
  };
}

function toKit({ messageBytes, signers, signatures }: WireTransaction): KitTransaction {
  const signed = Object.fromEntries(signers.map((signer, index) => [signer, signatures[index] ?? null]));
  return { messageBytes, signatures: signed } as unknown as KitTransaction;
}

function stateOf(account: KitAccount): AccountState {
  const { lamports, data, programAddress, executable } = account;
  return { lamports, data: new Uint8Array(data), owner: programAddress, executable };
}

/** By what it can do: two copies of the package would have two classes. */
const hasFailed = (result: object): result is FailedTransactionMetadata => "err" in result;

function executionOf(result: TransactionMetadata | FailedTransactionMetadata): Execution {
  const failed = hasFailed(result);
  const meta = failed ? result.meta() : result;
  const words = result.toString();
  // The binding has no getter for the fee, but tells it at the end of its words; an error stands at their start.
  const fee = /, fee: (\d+) \}( \})?\)$/.exec(words)?.[1];
  const err = failed
    ? /^FailedTransactionMetadata\(\w+ \{ err: (.*?), meta: TransactionMetadata \{/s.exec(words)?.[1]
    : null;
  if (fee === undefined || err === undefined) throw new Error(`LiteSVM tells its results in another form: ${words}`);
  const returned = meta.returnData();
  return {
    err: err === null ? null : readTransactionError(err),
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    fee: BigInt(fee),
    inner: meta.innerInstructions().map((calls) =>
      calls.map((call) => {
        const instruction = call.instruction();
        return {
          programIdIndex: instruction.programIdIndex(),
          accounts: [...instruction.accounts()],
          data: instruction.data(),
          stackHeight: call.stackHeight(),
        };
      }),
    ),
    returnData: returned.data().length === 0 ? null : { programId: returned.programId(), data: returned.data() },
  };
}
