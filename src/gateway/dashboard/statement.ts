// A text that a wallet signs for the dashboard: to sign in, or for one change. The server alone writes it, and writes it again to
// check the signature, so that nothing of it is the browser's choice. Each is good once, for five minutes, and for the browser or
// session that asked for it. Source: EIP-4361; of Solana's sign-in the same form.
import { createHash, randomBytes } from "node:crypto";
import { encodeBase58 } from "../../chains/solana/base58.js";
import { isSignedBy } from "../admin/personal-signature.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";

export const GOOD_FOR_S = 5 * 60;
/** The end in Unix seconds, then 16 random bytes: the text can be written again from the nonce alone. */
const NONCE = /^([1-9][0-9]{9})[1-9A-HJ-NP-Za-km-z]{16,22}$/;

export interface Wallet {
  readonly family: "evm" | "solana";
  /** Checksummed on EVM. */
  readonly address: string;
}

export interface Signing {
  /** Origin and path of the dashboard. */
  readonly url: string;
  readonly wallet: Wallet;
  /** One line: what is signed for. */
  readonly statement: string;
  /** Whose text it is: nobody else's signature of it counts. */
  readonly binding: string;
}

interface Parts extends Pick<GatewayParts, "database"> {
  readonly networks: Pick<GatewayParts["networks"], "defaultFor">;
}

/** What the wallet is to sign. */
export async function askForSignature(
  { database, networks }: Parts,
  signing: Signing,
): Promise<{ readonly text: string; readonly nonce: string }> {
  const end = Math.floor((await database.now()) / 1000) + GOOD_FOR_S;
  const nonce = `${end}${encodeBase58(randomBytes(16))}`;
  const text = writeText(signing, nonce, end, chainIdOf(networks));
  await database.accounts.rememberNonce(nonce, purposeOf(signing, text), end * 1000);
  return { text, nonce };
}

/** Undefined = the wallet has signed exactly this, in time, once. */
export async function refusalOfSignature(
  { database, networks }: Parts,
  signing: Signing,
  { nonce, signature }: { readonly nonce: string; readonly signature: string },
): Promise<Fault | undefined> {
  const end = Number(NONCE.exec(nonce)?.[1]);
  if (!Number.isSafeInteger(end)) return OVER;
  const { family, address } = signing.wallet;
  const text = writeText(signing, nonce, end, chainIdOf(networks));
  if (!(await isSignedBy(family, address, text, signature))) return UNSIGNED;
  // Invariant: used up with the signature it was made for. Its purpose binds it to the whole text and to who asked for it.
  return (await database.accounts.useNonce(nonce, purposeOf(signing, text))) ? undefined : OVER;
}

const UNSIGNED = fault(
  "FORBIDDEN",
  "This is not the wallet's signature of what this page asked it to sign: contract wallets cannot sign here.",
);
const OVER = fault(
  "FORBIDDEN",
  "What was signed is over, was used, or was asked for by another browser or session: sign again.",
);

const purposeOf = ({ binding }: Signing, text: string): string =>
  `dashboard ${createHash("sha256").update(`${binding}\n${text}`).digest("hex")}`;

function writeText({ url, wallet, statement }: Signing, nonce: string, end: number, chainId: number): string {
  const { family, address } = wallet;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  return [
    `${new URL(url).host} wants you to sign in with your ${family === "evm" ? "Ethereum" : "Solana"} account:`,
    ...[address, "", statement, ""],
    `URI: ${url}`,
    "Version: 1",
    // On Solana a text without it is for every cluster.
    ...(family === "evm" ? [`Chain ID: ${chainId}`] : []),
    `Nonce: ${nonce}`,
    `Issued At: ${time(end - GOOD_FOR_S)}`,
    `Expiration Time: ${time(end)}`,
  ].join("\n");
}

/** Of the configuration, so that every instance writes the same; the signature is a plain key's, good on any chain. */
function chainIdOf(networks: Parts["networks"]): number {
  const { network } = networks.defaultFor("evm", "live") ?? networks.defaultFor("evm", "test") ?? {};
  return Number(network?.id.split(":")[1] ?? 1);
}
