// Why the chain would refuse a transfer of SOL, in numbers that its buyer can act on: what he holds, what the payee holds,
// and what an account must hold to exist.
import { type Account, readAccounts } from "./accounts.js";
import type { NativeProof } from "./native-judge.js";
import { readRentExemption } from "./native-rent.js";
import type { NativeTransfer } from "./native-static.js";
import { invalid, unavailable } from "./native-verdicts.js";
import { printError } from "./print.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";
import type { Trouble } from "./simulate.js";

interface Found {
  readonly error: unknown;
  readonly trouble: Trouble;
  readonly options: RpcOptions;
}

/** The system program's error for a sender who holds too little once the fee is taken. */
const NEGATIVE_LAMPORTS = 1;

/** Words a failed simulation. Never rejects. */
export async function explainNative(
  rpc: SolanaRpc,
  proof: NativeProof,
  { payer, lamports, at }: NativeTransfer,
  { error, trouble, options }: Found,
) {
  const { payTo } = proof.requirement;
  const [read, rent] = await Promise.all([readAccounts(rpc, [payer, payTo], options), readRentExemption(rpc, options)]);
  if (!read.ok) return unavailable(read.code, read.message);
  if (!rent.ok) return unavailable(rent.code, rent.message);
  const [held, paid] = read.accounts.map(lamportsOf) as [bigint, bigint];
  const needed = `${lamports} lamports and the network fee`;
  const isShort = trouble.kind === "instruction" && trouble.index === at && trouble.custom === NEGATIVE_LAMPORTS;
  if (trouble.kind === "fee" || isShort) {
    return invalid(proof, "insufficient_funds", { expected: needed, got: `${held} lamports` });
  }
  if (trouble.kind === "rent" && trouble.account === 0) {
    const expected = `${needed}, and then nothing or at least ${rent.lamports} lamports left`;
    return invalid(proof, "insufficient_funds", { expected, got: `${held} lamports` });
  }
  if (trouble.kind === "rent" && paid + lamports < rent.lamports) {
    const expected = `at least ${rent.lamports - paid} lamports, because ${payTo} holds ${paid} (InsufficientFundsForRent)`;
    return invalid(proof, "simulation_failed", { expected, got: `${lamports} lamports` });
  }
  return invalid(proof, "simulation_failed", { expected: "a transaction that succeeds", got: printError(error) });
}

const lamportsOf = (account: Account | null): bigint => account?.lamports ?? 0n;
