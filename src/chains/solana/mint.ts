// Whether a mint is what an offer says, and whether anything in it lets less arrive than was paid, or takes it back. What
// the seller has not allowed is refused at start, where he reads it, and not at the first payment (faults F86).
import type { ReadinessProblem } from "../../receive/receiver.js";
import type { SplRequirement } from "../../requirement.js";
import type { Account } from "./accounts.js";
import { encodeBase58 } from "./base58.js";
import type { AllowedExtension } from "./chain.js";
import { EXTENSIONS, type Extension, type ExtensionName, readExtensions } from "./extensions.js";
import { programAddress } from "./programs.js";

export interface MintTerms {
  /** A token of the built-in table: its issuer's powers are known and taken. */
  readonly listed: boolean;
  readonly allowed: readonly AllowedExtension[];
  /** The chain's present one. */
  readonly epoch: number;
}

/** What is said of a mint. */
export type MintOffer = Pick<SplRequirement, "asset" | "network"> & {
  readonly extra: Pick<SplRequirement["extra"], "decimals" | "tokenProgram">;
};

const MINT_SIZE = 82;
const DECIMALS_AT = 44;
const INITIALIZED_AT = 45;
/** Behind the 165 bytes to which a mint with extensions is filled up stands 1. */
const [TYPE_AT, IS_MINT] = [165, 1];

/** The decimals and the program of a mint; undefined where the account is none. Says nothing of its extensions. */
export function readMint({ data, owner }: Account): { decimals: number; tokenProgram: string } | undefined {
  const isToken = owner === programAddress("token") || owner === programAddress("token2022");
  const isMint = isToken && isSized(data) && data[INITIALIZED_AT] === 1;
  const decimals = isMint ? data[DECIMALS_AT] : undefined;
  return decimals === undefined ? undefined : { decimals, tokenProgram: owner };
}

const isSized = (data: Uint8Array): boolean => data.length === MINT_SIZE || data[TYPE_AT] === IS_MINT;

/** Everything about a mint that does not fit its offer. */
export function judgeMint(account: Account | null, offer: MintOffer, terms: MintTerms): ReadinessProblem[] {
  const { asset, network, extra } = offer;
  const program = extra.tokenProgram ?? programAddress("token");
  const problem = (check: string, expected: string, got: string, remedy: string) => ({ check, expected, got, remedy });
  if (!account) {
    const remedy = `use the token's mint on ${network}: the same token has another one on another cluster`;
    return [problem(`mint ${asset}`, "a mint", "nothing at this address", remedy)];
  }
  const { data, owner } = account;
  const sized = isSized(data);
  if (owner !== program || !sized || data[INITIALIZED_AT] !== 1) {
    const got = owner === program ? "another account of that program" : `an account of ${owner}`;
    const remedy = `correct the mint, or its tokenProgram, in the price on ${network}`;
    return [problem(`mint ${asset}`, `a mint of the token program ${program}`, got, remedy)];
  }
  const problems: ReadinessProblem[] = [];
  const decimals = data[DECIMALS_AT];
  if (decimals !== extra.decimals) {
    const remedy = `correct the decimals of the token on ${network}, or its mint`;
    problems.push(problem(`decimals of ${asset}`, `${extra.decimals}`, `${decimals}`, remedy));
  }
  const extensions = data.length === MINT_SIZE ? [] : readExtensions(data);
  const flaws = extensions ? extensions.flatMap((one) => findFlaw(one, terms) ?? []) : [UNREADABLE];
  for (const { got, allow } of flaws) {
    const choose = "choose another token";
    const remedy = allow ? `${choose}, or accept it: tokens: [{ address: "${asset}", allow: ["${allow}"] }]` : choose;
    problems.push(problem(`extensions of ${asset}`, "a token that arrives whole and stays", got, remedy));
  }
  return problems;
}

interface Flaw {
  readonly got: string;
  /** What lets it pass. */
  readonly allow?: AllowedExtension;
}
const UNREADABLE: Flaw = { got: "extensions that cannot be read" };

/** Of no consequence for a payment. */
const HARMLESS: ReadonlySet<number> = new Set(
  (
    [
      "mintCloseAuthority",
      "confidentialTransfer",
      "confidentialTransferFee",
      "confidentialMintBurn",
      "interestBearing",
      "scaledUiAmount",
      "metadataPointer",
      "metadata",
      "groupPointer",
      "group",
      "groupMemberPointer",
      "groupMember",
    ] satisfies ExtensionName[]
  ).map((name) => EXTENSIONS[name]),
);

function findFlaw({ type, value }: Extension, { listed, allowed, epoch }: MintTerms): Flaw | undefined {
  const unless = (allow: AllowedExtension, got: string) => (allowed.includes(allow) ? undefined : { got, allow });
  switch (type) {
    case EXTENSIONS.transferFee: {
      const fee = readFee(value, epoch);
      if (fee > 0) return unless("transfer-fee", `a transfer fee of ${fee / 100} %, which the payee bears`);
      return listed ? undefined : unless("transfer-fee", "a transfer fee that can be raised");
    }
    case EXTENSIONS.transferHook: {
      const hook = value.subarray(32, 64);
      return isSet(hook) ? unless("transfer-hook", `a transfer hook (${encodeBase58(hook)})`) : undefined;
    }
    case EXTENSIONS.permanentDelegate:
      if (listed || !isSet(value)) return undefined;
      return unless("permanent-delegate", `a permanent delegate (${encodeBase58(value)}), who can take every balance`);
    case EXTENSIONS.defaultState:
      return listed || value[0] === UNFROZEN ? undefined : { got: "accounts that are frozen by default" };
    case EXTENSIONS.nonTransferable:
      return { got: "a token that cannot be transferred" };
    case EXTENSIONS.pausable:
      return listed ? undefined : { got: "transfers that can be paused" };
    default:
      return listed || HARMLESS.has(type)
        ? undefined
        : { got: `an extension of type ${type}, which is not known here` };
  }
}

const UNFROZEN = 1;
const isSet = (bytes: Uint8Array): boolean => bytes.some((byte) => byte !== 0);

/** Basis points now or soon: the newer fee is the one in force from its epoch on. An unreadable one is the highest. */
function readFee(value: Uint8Array, epoch: number): number {
  if (value.length !== 108) return 10_000;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const newer = view.getUint16(106, true);
  return view.getBigUint64(90, true) > BigInt(epoch) ? Math.max(newer, view.getUint16(88, true)) : newer;
}
