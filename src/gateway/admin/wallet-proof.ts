// How an account shows that a wallet is its own: the wallet signs a text that names the account, the wallet and this gateway.
// Each text is good for one proof and for ten minutes. From then on nobody else can receive for that wallet.
import { randomBytes } from "node:crypto";
import { encodeBase58 } from "../../chains/solana/base58.js";
import type { Caller } from "../caller.js";
import { fault, invalidField, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { ChallengeAnswer, ChallengeRequest, ProveAnswer, ProveRequest } from "../schemas/admin.js";
import { readAddress } from "../terms.js";
import { isSignedBy } from "./personal-signature.js";
import { toInstant } from "./records.js";

const GOOD_FOR_MS = 10 * 60_000;
/** The end in Unix seconds, then 16 random bytes: the text can be written again from the nonce alone. */
const NONCE = /^([1-9][0-9]{9,11})-([1-9A-HJ-NP-Za-km-z]{16,22})$/;

export interface WalletProofs {
  /** `POST /wallets/challenge` */
  challenge(caller: Caller, request: ChallengeRequest): Promise<Outcome<ChallengeAnswer>>;
  /** `POST /wallets/prove` */
  prove(caller: Caller, request: ProveRequest): Promise<Outcome<ProveAnswer>>;
}

export function createWalletProofs({ settings, database }: Pick<GatewayParts, "settings" | "database">): WalletProofs {
  const { accounts } = database;
  // Never the Host of a request, which its sender chooses.
  const gateway = settings.publicUrl ?? `http://${settings.host}:${settings.port}`;
  return {
    async challenge({ key: { account } }, { walletAddress }) {
      const wallet = readWallet(walletAddress);
      if (!wallet.ok) return wallet;
      const expiresAt = toInstant((await database.now()) + GOOD_FOR_MS);
      const nonce = `${expiresAt}-${encodeBase58(randomBytes(16))}`;
      const terms = { account, address: wallet.value.address, gateway };
      await accounts.rememberNonce(nonce, purposeOf(terms), expiresAt * 1000);
      const message = writeMessage(terms, nonce, expiresAt);
      return { ok: true, value: { success: true, walletAddress: terms.address, message, nonce, expiresAt } };
    },
    async prove({ key: { account } }, { walletAddress, nonce, signature }) {
      const wallet = readWallet(walletAddress);
      if (!wallet.ok) return wallet;
      const { family, address } = wallet.value;
      const expiresAt = Number(NONCE.exec(nonce)?.[1]);
      if (!Number.isSafeInteger(expiresAt)) return NO_NONCE;
      const terms = { account, address, gateway };
      const message = writeMessage(terms, nonce, expiresAt);
      if (!(await isSignedBy(family, address, message, signature))) {
        return invalidField("signature", "it is not this wallet's signature of the challenge's message");
      }
      // Invariant: used up with the proof that it was made for. Its purpose binds it to account, wallet and gateway.
      if (!(await accounts.useNonce(nonce, purposeOf(terms)))) return NO_NONCE;
      if (!(await accounts.prove(account, address))) {
        return fault("FORBIDDEN", "another account has shown that this wallet is its own");
      }
      return { ok: true, value: { success: true, walletAddress: address, account } };
    },
  };
}

interface ProofTerms {
  readonly account: string;
  readonly address: string;
  readonly gateway: string;
}

const purposeOf = ({ account, address, gateway }: ProofTerms): string => `prove ${account} ${address} ${gateway}`;

/** What the wallet shows to whoever signs: who asks, for what, and that nothing is paid. */
const writeMessage = ({ account, address, gateway }: ProofTerms, nonce: string, expiresAt: number): string =>
  [
    `The payment gateway ${gateway} asks you to show that this wallet is yours.`,
    "",
    `Wallet: ${address}`,
    `Account: ${account}`,
    `Nonce: ${nonce}`,
    `Expires: ${new Date(expiresAt * 1000).toISOString()}`,
    "",
    "Signing costs nothing and moves no money. Payments to this wallet can then be received by this account alone.",
  ].join("\n");

function readWallet(text: string): Outcome<{ readonly family: "evm" | "solana"; readonly address: string }> {
  const family = text.startsWith("0x") ? "evm" : "solana";
  const address = readAddress(family, text);
  if (address === undefined)
    return invalidField("walletAddress", "expected a valid address (check the mixed-case checksum)");
  return { ok: true, value: { family, address } };
}

/** One answer for a nonce that is unknown, over, used, or another account's, wallet's or gateway's. */
const NO_NONCE = invalidField("nonce", "it is unknown, over or used: ask for a new challenge");
