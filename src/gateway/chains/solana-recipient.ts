// Whether a recipient on Solana can have what is sent: an address that somebody can hold the key of, an account that may
// exist afterwards, and for tokens an open token account, because no transfer of ours opens one at our cost (faults A27).
import { type Account, readTokenAccount } from "../../chains/solana/accounts.js";
import { decodeAddress } from "../../chains/solana/base58.js";
import { isOnCurve } from "../../chains/solana/curve.js";
import { programOf } from "../../chains/solana/programs.js";
import type { Asset, Transfer } from "../chain.js";
import type { Fault } from "../errors.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import type { TransferState } from "./solana-state.js";
import { invalid, inWords } from "./words.js";

const refuse = (message: string): Fault => invalid("INVALID_RECIPIENT", "recipientAddress", message);

/** What is wrong with the address itself; undefined where nothing is. */
export function judgeAddress({ to, from }: Pick<Transfer, "to" | "from">): Fault | undefined {
  if (!decodeAddress(to)) return refuse("expected a Solana address, base58 of 32 bytes");
  if (to === from) return refuse("expected another address than the sender's");
  return undefined;
}

/** Whether an address can receive SOL. */
export function judgeSolRecipient(
  chain: SolanaTransferChain,
  { to, amount }: Transfer,
  { recipient, rent }: TransferState,
): Fault | undefined {
  const key = decodeAddress(to);
  // What is no point of the curve has no key: only a program could ever move the money on.
  if (!recipient && (!key || !isOnCurve(key))) return refuse(`no account is at ${to} and no key can open one`);
  if (isToken(recipient)) return refuse(ofTokenProgram(to, recipient));
  // The chain would take it, and nobody could ever move it on.
  if (recipient && LOADERS.has(recipient.owner))
    return refuse(`${to} is a program or a part of the chain, not a wallet`);
  const held = recipient?.lamports ?? 0n;
  if (held + amount >= rent) return undefined;
  const { native } = chain.network;
  const [least, minimum, has] = [rent - held, rent, held].map((lamports) => inWords(lamports, native));
  return refuse(
    `${to} holds ${has} and must hold at least ${minimum} to exist: send at least ${least}, got ${inWords(amount, native)}`,
  );
}

/** Owners of programs and of the chain's own accounts. */
const LOADERS: ReadonlySet<string> = new Set([
  "NativeLoader1111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "LoaderV411111111111111111111111111111111111",
  "Sysvar1111111111111111111111111111111111111",
]);

/** Whether an owner can receive a token. */
export function judgeTokenRecipient(
  { to, asset }: Transfer,
  { recipient, token }: TransferState,
  program: string,
): Fault | undefined {
  if (isToken(recipient)) return refuse(ofTokenProgram(to, recipient));
  const destination = token?.destination ?? null;
  const account = destination?.owner === program ? readTokenAccount(destination) : undefined;
  if (!account) return refuse(`${to} has no token account for ${nameOf(asset)}: its owner opens one first`);
  // The owner may have given the account away: what arrives there is then somebody else's.
  if (account.owner !== to || account.mint !== asset.address)
    return refuse(`the token account of ${to} for ${nameOf(asset)} belongs to ${account.owner}`);
  return account.frozen ? refuse(`the token account of ${to} for ${nameOf(asset)} is frozen`) : undefined;
}

const nameOf = ({ symbol, address }: Asset): string => `${symbol} (${address})`;

function isToken(account: Account | null): boolean {
  const program = account && programOf(decodeAddress(account.owner));
  return program === "token" || program === "token2022";
}

/** A token account is told apart from its owner, who was meant. */
function ofTokenProgram(address: string, account: Account | null): string {
  const held = account && readTokenAccount(account);
  if (held) return `${address} is a token account: send to its owner, ${held.owner}`;
  return `${address} is an account of a token program, not a wallet`;
}
