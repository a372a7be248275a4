// What verification, settlement and lookup share about one network: its RPC, its settlers, and the operator's choices.
import { systemClock } from "../../clock.js";
import type { Eip3009Requirement } from "../../requirement.js";
import type { Logger } from "../../settings.js";
import type { Builder } from "../builder.js";
import type { GasWatch } from "../gas.js";
import type { Payment } from "./evidence.js";
import type { Hex } from "./hex.js";
import type { ReceiptWatch } from "./receipts.js";
import type { Rpc } from "./rpc.js";
import type { Settlers } from "./settlers.js";
import type { TokenDomain } from "./typed-data.js";

export interface EvmChain {
  /** CAIP-2. */
  readonly network: string;
  readonly chainId: number;
  readonly blockMs: number;
  readonly rpc: Rpc;
  readonly settlers: Settlers;
  readonly receipts: ReceiptWatch;
  /** ERC-6492 factories that may deploy a payer's wallet at our cost, lower case. */
  readonly factories: ReadonlySet<string>;
  /** Decimals that a token must have, by lower-case address. */
  readonly decimals: ReadonlyMap<string, number>;
  /** Wei; a base fee that does not fit under it is waited out, not paid. */
  readonly maxFeePerGas: bigint;
  /** Who builds what is signed; absent = it is built here. */
  readonly builder?: Builder;
  /** Who is told what the settlers hold. */
  readonly gas?: GasWatch;
  readonly logger: Logger | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const systemNow = systemClock.now;

/** What every read needs; a lookup needs nothing more. */
export type ChainReader = Pick<EvmChain, "rpc" | "blockMs">;

export const domainOf = ({ asset, extra }: Eip3009Requirement, chainId: number): TokenDomain => ({
  name: extra.name,
  version: extra.version,
  chainId,
  asset,
});

export const lower = (text: string): Hex => text.toLowerCase() as Hex;

/** The payment that a requirement and an authorization stand for. */
export function paymentOf(requirement: Eip3009Requirement, payer: string, nonce: string): Payment {
  return {
    asset: lower(requirement.asset),
    payer: lower(payer),
    payTo: lower(requirement.payTo),
    amount: requirement.amount,
    nonce: lower(nonce),
  };
}
