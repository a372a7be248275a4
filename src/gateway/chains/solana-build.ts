// Builds the unsigned transfer of an account on Solana: judged against the accounts as they are, measured by one simulation,
// and simulated once more as exactly the bytes that are handed out (faults A35).
import { decodeAddress } from "../../chains/solana/base58.js";
import { toBase64 } from "../../chains/solana/bytes.js";
import { programAddress } from "../../chains/solana/programs.js";
import { simulate } from "../../chains/solana/simulate.js";
import {
  createTransferMessage,
  randomMemo,
  type TransferParts,
  tokenAccountsOf,
} from "../../chains/solana/transfer.js";
import { transferFee, unitLimit, unitPriceOf } from "../../chains/solana/transfer-fees.js";
import { toWire } from "../../chains/solana/transfer-message.js";
import { MAX_UINT64 } from "../../money.js";
import { NATIVE } from "../../requirement.js";
import type { BuiltTransfer, Transfer } from "../chain.js";
import type { Fault, Outcome } from "../errors.js";
import { judgeAsset, noMint } from "./solana-asset.js";
import { type SolanaTransferChain, unreachable } from "./solana-chain.js";
import { judgeAddress, judgeSolRecipient, judgeTokenRecipient } from "./solana-recipient.js";
import { explainRefusal } from "./solana-refusal.js";
import { judgeSender, judgeSol, judgeTokens } from "./solana-sender.js";
import { readTransferState, type TransferState } from "./solana-state.js";
import { invalid } from "./words.js";

/** What a simulation may take at most: ten times a token transfer with a memo. */
const GENEROUS_UNITS = 400_000;
/** The spec's life of an unsigned transaction. */
const LIFE_MS = 60_000;

/** Builds a transfer; see `TransferChain.build` for the faults. Never rejects. */
export async function buildOnSolana(
  chain: SolanaTransferChain,
  transfer: Transfer,
  { signal }: { readonly signal: AbortSignal },
): Promise<Outcome<BuiltTransfer>> {
  const wrong = judgeRequest(transfer);
  if (wrong) return wrong;
  const addresses = await addressesOf(transfer);
  const state = await readTransferState(chain.rpc, addresses, { signal });
  if (!state.ok) return unreachable(chain, state);
  if (state.token?.mint === null) return noMint(chain, transfer.asset, signal);
  // The fee of a transfer without priority: what is too little for it is too little for any.
  const refused = judgeState(chain, transfer, state) ?? judgeSol(chain, transfer, state, transferFee(0, 0n));
  if (refused) return refused;

  const memo = transfer.reference?.slice(2).toLowerCase() ?? randomMemo();
  const draft = { ...partsOf(transfer, memo), blockhash: state.fresh.blockhash };
  const measured = await run(chain, transfer, { ...draft, units: GENEROUS_UNITS, unitPrice: 0n }, signal);
  if (!measured.ok) return measured;
  const units = unitLimit(measured.value.units);
  const { priorityFee } = transfer;
  const unitPrice = priorityFee === undefined ? state.unitPrice : unitPriceOf(priorityFee, units);
  const fee = transferFee(units, unitPrice);
  const poor = judgeSol(chain, transfer, state, fee);
  if (poor) return poor;
  const built = await run(chain, transfer, { ...draft, units, unitPrice }, signal);
  if (!built.ok) return built;
  return { ok: true, value: toBuilt(chain, transfer, state, { unsigned: built.value.unsigned, fee, memo }) };
}

/** What no chain need be asked for. */
function judgeRequest(transfer: Transfer): Fault | undefined {
  const { from, amount, priorityFee = 0n } = transfer;
  if (!decodeAddress(from)) return invalid("INVALID_REQUEST", "walletAddress", "expected a Solana address");
  if (amount <= 0n || amount > MAX_UINT64) {
    return invalid("INVALID_REQUEST", "amount", "expected more than 0 and at most what 64 bits hold in atomic units");
  }
  if (priorityFee < 0n || priorityFee > MAX_UINT64) {
    return invalid("INVALID_REQUEST", "priorityFee", "expected from 0 to what 64 bits hold in lamports");
  }
  return judgeAddress(transfer);
}

function judgeState(chain: SolanaTransferChain, transfer: Transfer, state: TransferState): Fault | undefined {
  const sender = judgeSender(transfer, state);
  if (!state.token) return sender ?? judgeSolRecipient(chain, transfer, state);
  const program = transfer.asset.tokenProgram ?? programAddress("token");
  return (
    sender ??
    judgeAsset(chain, transfer.asset, state.token.mint, state.epoch) ??
    judgeTokenRecipient(transfer, state, program) ??
    judgeTokens(transfer, state, program)
  );
}

type Draft = Omit<TransferParts, "blockhash" | "units" | "unitPrice">;

function partsOf({ from, to, asset, amount }: Transfer, memo: string): Draft {
  const { address: mint, decimals, tokenProgram } = asset;
  return { from, to, amount, memo, ...(mint !== NATIVE && { token: { mint, decimals, tokenProgram } }) };
}

async function addressesOf(transfer: Transfer) {
  const { from, to, token } = partsOf(transfer, "");
  return token
    ? { from, to, token: { mint: token.mint, ...(await tokenAccountsOf({ from, to, token })) } }
    : { from, to };
}

/** Simulates the unsigned transaction: the bytes, and what they take. */
async function run(
  chain: SolanaTransferChain,
  transfer: Transfer,
  parts: TransferParts,
  signal: AbortSignal,
): Promise<Outcome<{ readonly unsigned: Uint8Array; readonly units: number }>> {
  const unsigned = toWire(await createTransferMessage(parts));
  const simulation = await simulate(chain.rpc, toBase64(unsigned), { sigVerify: false, signal });
  if (!simulation.ok) return unreachable(chain, simulation);
  if (simulation.error !== null) return explainRefusal(chain, transfer, simulation.error);
  // A node that does not tell leaves what is surely enough.
  return { ok: true, value: { unsigned, units: simulation.units ?? GENEROUS_UNITS / 2 } };
}

interface Made {
  readonly unsigned: Uint8Array;
  readonly fee: bigint;
  readonly memo: string;
}

function toBuilt(
  { now, network }: SolanaTransferChain,
  { from, to, asset, amount }: Transfer,
  { fresh, blockHeight }: TransferState,
  { unsigned, fee, memo }: Made,
): BuiltTransfer {
  const { lastValidBlockHeight, slot } = fresh;
  // Two nodes may have answered, one behind the other: what is left is an estimate, and never more than the spec's life.
  const left = Math.max(0, lastValidBlockHeight - blockHeight) * network.blockMs;
  return {
    unsigned,
    fee,
    lastValidBlockHeight,
    expiresAt: now() + Math.min(LIFE_MS, left),
    pursuit: {
      kind: "solana",
      sender: from,
      reference: memo,
      moves: { to, asset: asset.address, amount: String(amount) },
      wire: null,
      slot,
      lastValidBlockHeight,
    },
  };
}
