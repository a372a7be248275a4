// What collects a verified proof, whatever its chain: the transaction that the seller signs, or has only to send, or nothing
// where the money has come already. Verification comes first, and nothing is sent.
import type { BoundProof } from "../../proof.js";
import type { ChainExpiry } from "../../store/record.js";
import type { Fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Wanted } from "../receive/requirement.js";
import type { NetworkSettings } from "../settings.js";

/** How long a built transaction should be used. Source: gateway-spec. */
export const VALID_MS = 60_000;

export interface Collecting {
  readonly parts: Pick<GatewayParts, "logger" | "now" | "settings">;
  /** `payTo` is the wallet that signs. */
  readonly wanted: Wanted;
  readonly proof: BoundProof;
  /** Total extra fee in atomic units of the native currency; absent = automatic. */
  readonly priorityFee: bigint | undefined;
  /** Epoch milliseconds at which this gateway's memory of the account begins. */
  readonly since: number;
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
}

/** What collects it. */
export interface Collection {
  /** Base64; null where the money is on the chain. */
  readonly transaction: string | null;
  /** False where the bytes are complete. */
  readonly signatureRequired: boolean;
  readonly lastValidBlockHeight: number | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number | null;
  /** Atomic units of the native currency that it may cost the seller; null where it costs him nothing. */
  readonly fee: bigint | null;
  /** The id under which the chain will know it, where it has one already. */
  readonly id: string | null;
  /** Solana: what bounds its life. */
  readonly expiry?: ChainExpiry;
  /** It has been paid: atomic units that came, where that is more than was asked. */
  readonly paid?: { readonly received: bigint | undefined };
}

/** The operator's own settings of a network. */
export function settingsOf({ settings }: Collecting["parts"], id: string): NetworkSettings {
  const found = settings.networks.find(({ network }) => network.id === id);
  if (!found) throw new Error("a network is served that no setting names");
  return found;
}

export const refuse = (path: string, message: string, code: Fault["code"] = "INVALID_REQUEST"): Fault => ({
  ok: false,
  code,
  message: `${path}: ${message}`,
  details: [{ path, message }],
});
