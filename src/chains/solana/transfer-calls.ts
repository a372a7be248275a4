// The instructions of a transfer as their programs read them: the twins of the readers in instructions.ts and
// native-layout.ts.
import { programKey } from "./programs.js";
import type { AccountRole, Call } from "./transfer-message.js";

const MAX_U32 = 2 ** 32 - 1;
const MAX_U64 = 2n ** 64n - 1n;

/** Data of a fixed size, filled by a view of it. */
function fill(size: number, write: (view: DataView) => void): Uint8Array {
  const data = new Uint8Array(size);
  write(new DataView(data.buffer));
  return data;
}

function u64(value: bigint, what: string): bigint {
  // Invariant: a number that does not fit is never cut to its low bits.
  if (value < 0n || value > MAX_U64) throw new RangeError(`${what} must be from 0 to 2^64 - 1`);
  return value;
}

/** ComputeBudget's SetComputeUnitLimit. */
export function callComputeLimit(units: number): Call {
  if (!Number.isInteger(units) || units < 0 || units > MAX_U32) throw new RangeError("units must be a u32");
  const data = fill(5, (view) => {
    view.setUint8(0, 2);
    view.setUint32(1, units, true);
  });
  return { program: programKey("computeBudget"), accounts: [], data };
}

/** ComputeBudget's SetComputeUnitPrice, in micro-lamports a unit. */
export function callComputePrice(microLamports: bigint): Call {
  const data = fill(9, (view) => {
    view.setUint8(0, 3);
    view.setBigUint64(1, u64(microLamports, "the unit price"), true);
  });
  return { program: programKey("computeBudget"), accounts: [], data };
}

/** System's Transfer. */
export function callSystemTransfer(from: Uint8Array, to: Uint8Array, lamports: bigint): Call {
  const data = fill(12, (view) => {
    view.setUint32(0, 2, true);
    view.setBigUint64(4, u64(lamports, "the amount"), true);
  });
  return { program: programKey("system"), accounts: [signs(from, "writable"), writes(to)], data };
}

export interface TokenMove {
  /** The token program. */
  readonly program: Uint8Array;
  readonly source: Uint8Array;
  readonly mint: Uint8Array;
  readonly destination: Uint8Array;
  /** Owner of the source, who signs. */
  readonly authority: Uint8Array;
  /** Atomic units. */
  readonly amount: bigint;
  readonly decimals: number;
}

/** TransferChecked of either token program. */
export function callTransferChecked(move: TokenMove): Call {
  const data = fill(10, (view) => {
    view.setUint8(0, 12);
    view.setBigUint64(1, u64(move.amount, "the amount"), true);
    view.setUint8(9, move.decimals);
  });
  const mint: AccountRole = { key: move.mint, signer: false, writable: false };
  const accounts = [writes(move.source), mint, writes(move.destination), signs(move.authority)];
  return { program: move.program, accounts, data };
}

/** A memo that nobody signs beside the transaction itself. */
export const callMemo = (text: string): Call => ({
  program: programKey("memo"),
  accounts: [],
  data: new TextEncoder().encode(text),
});

const writes = (key: Uint8Array): AccountRole => ({ key, signer: false, writable: true });
const signs = (key: Uint8Array, writable?: "writable"): AccountRole => ({
  key,
  signer: true,
  writable: writable !== undefined,
});
