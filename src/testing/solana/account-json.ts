// An account as an RPC answer carries it, in the encodings that clients ask for.
import { toBase58 } from "./encoding.js";
import { isTokenProgram, readMint, readTokenAccount, TOKEN_PROGRAM, uiAmount } from "./programs.js";
import type { AccountState } from "./svm.js";

export interface AccountEncoding {
  readonly encoding?: string | undefined;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | undefined;
}

/** Every account of today's chain carries this in place of an epoch. */
const RENT_EXEMPT_EPOCH = 18_446_744_073_709_551_615n;

/** `mintOf` reads the mint of a token account, for its decimals. */
export function accountJson(
  account: AccountState | null,
  { encoding = "base64", dataSlice }: AccountEncoding,
  mintOf: (mint: string) => AccountState | null,
): unknown {
  if (account === null) return null;
  const { lamports, owner, executable, data } = account;
  const part = dataSlice === undefined ? data : data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length);
  const parsed = encoding === "jsonParsed" ? parsedData(account, mintOf) : undefined;
  const shown =
    parsed ?? (encoding === "base58" ? [toBase58(part), "base58"] : [Buffer.from(part).toString("base64"), "base64"]);
  return { lamports, owner, executable, rentEpoch: RENT_EXEMPT_EPOCH, space: data.length, data: shown };
}

/** As on the real node, an account of another program falls back to base64. */
function parsedData(account: AccountState, mintOf: (mint: string) => AccountState | null): unknown {
  const body = parsedToken(account, mintOf);
  if (body === undefined) return undefined;
  const program = account.owner === TOKEN_PROGRAM ? "spl-token" : "spl-token-2022";
  return { program, parsed: body, space: account.data.length };
}

function parsedToken(account: AccountState, mintOf: (mint: string) => AccountState | null): unknown {
  const mint = readMint(account);
  if (mint !== undefined) {
    const info = { decimals: mint.decimals, supply: mint.supply.toString(), isInitialized: true };
    return { type: "mint", info };
  }
  const token = readTokenAccount(account);
  if (token === undefined || !isTokenProgram(account.owner)) return undefined;
  const { decimals = 0 } = readMint(mintOf(token.mint)) ?? {};
  const tokenAmount = uiAmount(token.amount, decimals);
  const info = { mint: token.mint, owner: token.owner, state: "initialized", isNative: false, tokenAmount };
  return { type: "account", info };
}
