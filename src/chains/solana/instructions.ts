// Readers of the three instructions a payment consists of, and what they cost. Each yields undefined for bytes that are not
// exactly its own.

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** ComputeBudget's SetComputeUnitLimit: `02` and a u32. */
export function readComputeLimit(data: Uint8Array): number | undefined {
  return data.length === 5 && data[0] === 2 ? view(data).getUint32(1, true) : undefined;
}

/** ComputeBudget's SetComputeUnitPrice in micro-lamports a unit: `03` and a u64. */
export function readComputePrice(data: Uint8Array): bigint | undefined {
  return data.length === 9 && data[0] === 3 ? view(data).getBigUint64(1, true) : undefined;
}

export interface TransferChecked {
  readonly amount: bigint;
  readonly decimals: number;
}

/** TransferChecked of either token program: `0c`, a u64 and the mint's decimals. The programs ignore what follows. */
export function readTransferChecked(data: Uint8Array): TransferChecked | undefined {
  if (data.length < 10 || data[0] !== 12) return undefined;
  return { amount: view(data).getBigUint64(1, true), decimals: data[9]! };
}

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO = 1_000_000n;

export interface FeeParts {
  readonly signatures: number;
  readonly units: number;
  /** Micro-lamports a unit. */
  readonly unitPrice: bigint;
}

/**
 * What the fee payer loses, in lamports: 5,000 a signature, and every requested unit at the unit price, rounded up as the
 * chain does.
 *
 * @example feeLamports({ signatures: 2, units: 20_000, unitPrice: 1n }) // 10001n
 */
export function feeLamports({ signatures, units, unitPrice }: FeeParts): bigint {
  return LAMPORTS_PER_SIGNATURE * BigInt(signatures) + (BigInt(units) * unitPrice + MICRO - 1n) / MICRO;
}
