// Who signs on EVM chains, by form: a viem account, a viem wallet client with its account, or an object with the same
// functions (a KMS, an HSM). viem itself is never loaded for it.
import { type Hex, isHex } from "../chains/evm/hex.js";
import type { TokenDomain } from "../chains/evm/typed-data.js";
import type { Problems } from "../config-problems.js";
import { keyProblem } from "../receive/option-words.js";

const FIELDS = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

/** The one type of typed data that a payment signs. Source: protocol §3.1. */
export const AUTHORIZATION_TYPES = { TransferWithAuthorization: FIELDS } as const;

/** EIP-712 typed data of an EIP-3009 authorization, as viem takes it. Times are Unix seconds, `value` is atomic units. */
export interface AuthorizationTypedData {
  readonly domain: Omit<TokenDomain, "asset"> & { readonly verifyingContract: Hex };
  readonly types: typeof AUTHORIZATION_TYPES;
  readonly primaryType: "TransferWithAuthorization";
  readonly message: {
    readonly from: Hex;
    readonly to: Hex;
    readonly value: bigint;
    readonly validAfter: bigint;
    readonly validBefore: bigint;
    readonly nonce: Hex;
  };
}

/** A transfer that is to be signed, as viem takes it. Wei. */
export interface TransferTransaction {
  readonly type: "eip1559";
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A viem account that signs by itself, or an object of the same form. */
export interface EvmAccount {
  readonly address: Hex;
  /** Gives the signature. */
  signTypedData(typedData: AuthorizationTypedData): Promise<Hex>;
  /** Gives the signed bytes; absent = it pays by signed authorizations only. */
  signTransaction?(transaction: TransferTransaction): Promise<Hex>;
}

/** A viem wallet client with an account: its account signs, which for a JSON-RPC account is a wallet elsewhere. */
export interface EvmWalletClient {
  readonly account: { readonly address: Hex };
  signTypedData(typedData: AuthorizationTypedData): Promise<Hex>;
  signTransaction?(transaction: TransferTransaction & { readonly chain: null }): Promise<Hex>;
}

/** What either form comes to. */
export interface EvmSigner {
  readonly address: Hex;
  readonly signTypedData: (typedData: AuthorizationTypedData) => Promise<unknown>;
  readonly signTransaction: ((transaction: TransferTransaction) => Promise<unknown>) | undefined;
}

/** The signer behind an account or a client; undefined where it is none, with a problem that holds nothing of what came. */
export function readEvmAccount(account: EvmAccount | EvmWalletClient, problems: Problems): EvmSigner | undefined {
  const given: unknown = account;
  const isSigner =
    typeof given === "object" && given !== null && typeof Reflect.get(given, "signTypedData") === "function";
  if (!isSigner) return refuse(given, problems);
  const signTypedData: EvmSigner["signTypedData"] = (typedData) => account.signTypedData(typedData);
  if ("address" in account) {
    if (!isHex(account.address, 20)) return refuse(given, problems);
    const { address, signTransaction } = account;
    const sign: EvmSigner["signTransaction"] = (transaction) => Reflect.apply(signTransaction!, account, [transaction]);
    return { address, signTypedData, signTransaction: signTransaction && sign };
  }
  if (!isHex(account.account?.address, 20)) {
    problems.add(PATH, "required", "the wallet client has no account: createWalletClient({ account, … })");
    return undefined;
  }
  const { signTransaction } = account;
  // Safe because what comes back is compared with what was asked for: a client on another chain signs for that one.
  const sign: EvmSigner["signTransaction"] = (transaction) =>
    Reflect.apply(signTransaction!, account, [{ ...transaction, chain: null }]);
  return { address: account.account.address, signTypedData, signTransaction: signTransaction && sign };
}

const PATH = "evmWallet.account";

function refuse(given: unknown, problems: Problems): undefined {
  const remedy = 'write evmWallet(privateKeyToAccount(key)), from "viem/accounts"';
  if (typeof given === "string") problems.add(PATH, "invalid", `${keyProblem(given)}: ${remedy}`);
  else {
    const code = given === undefined ? "required" : "invalid";
    problems.add(PATH, code, `expected a viem account or wallet client, with address and signTypedData: ${remedy}`);
  }
}
