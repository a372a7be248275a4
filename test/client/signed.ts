// What wallets sign, honest and not, for the tests of who inspects it: by viem and web3.js, so that what our code reads was
// written by others.
import type { TransactionInstruction } from "@solana/web3.js";
import { encodeFunctionData, parseAbi, type TransactionSerializableEIP1559 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { findMismatch, type SignedFacts } from "../../src/client/inspect.js";
import type { Offer } from "../../src/client/offer.js";
import { CHAIN_ID } from "../chains/evm/transfers.js";
import * as native from "../chains/solana/native-payment.js";
import * as token from "../chains/solana/payment.js";
import { FOREIGN, type Json, PAYEE } from "./challenges.js";

export const PAYER = privateKeyToAccount(`0x${"01".repeat(32)}`);
export const STRANGER = privateKeyToAccount(`0x${"02".repeat(32)}`);
export const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;

type Payload = Parameters<typeof findMismatch>[1];

/** What is wrong with it, by an EVM wallet's own account of it unless said otherwise. */
export function mismatch(
  offer: Offer,
  payload: unknown,
  facts: Partial<SignedFacts> = {},
): Promise<string | undefined> {
  const lives = { validUntil: NOW + 300_000, expiresAt: NOW + 300_000, now: NOW };
  return findMismatch(offer, payload as Payload, { payer: PAYER.address, ...lives, ...facts });
}

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

export interface Authorizing {
  /** What is signed and shown. */
  readonly message?: Json;
  readonly domain?: Json;
  readonly account?: typeof PAYER;
}

/** The authorization that the offer in USDC on Base Sepolia asks for. */
export async function authorize(offer: Offer, { message = {}, domain = {}, account = PAYER }: Authorizing = {}) {
  const authorization = {
    from: PAYER.address,
    to: offer.payTo,
    value: String(offer.amount),
    validAfter: String(SECONDS - 600),
    validBefore: String(SECONDS + 300),
    nonce: `0x${"11".repeat(32)}`,
    ...message,
  };
  const { name, version } = offer.token?.domain ?? offer.extra;
  const signature = await account.signTypedData({
    domain: { name, version, chainId: CHAIN_ID, verifyingContract: offer.asset, ...domain } as Parameters<
      typeof account.signTypedData
    >[0]["domain"],
    types: TYPES,
    primaryType: "TransferWithAuthorization",
    message: authorization as never,
  });
  return { signature, authorization };
}

const ABI = parseAbi([
  "function transfer(address to, uint256 value)",
  "function approve(address spender, uint256 value)",
]);
export const callToken = (functionName: "transfer" | "approve", to: string, value: bigint) =>
  encodeFunctionData({ abi: ABI, functionName, args: [to as `0x${string}`, value] });

/** The bytes of a transfer of 10,000 wei to the payee, in base64. */
export async function transact(parts: Partial<TransactionSerializableEIP1559> = {}, account = PAYER) {
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId: CHAIN_ID,
    nonce: 7,
    gas: 30_000n,
    maxFeePerGas: 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 6n,
    to: PAYEE,
    value: 10_000n,
    ...parts,
  });
  return { transaction: Buffer.from(raw.slice(2), "hex").toString("base64") };
}

/** The same in the plain token. */
export const transactToken = (parts: Partial<TransactionSerializableEIP1559> = {}) =>
  transact({ to: FOREIGN, value: 0n, data: callToken("transfer", PAYEE, 10_000n), ...parts });

/** Payer of the Solana fixtures. */
export const SOLANA_PAYER = token.PAYER.key.toBase58();

/** A partially signed token payment. */
export const paySpl = (instructions?: TransactionInstruction[], build?: token.Build) => ({
  transaction: token.pay(instructions, build),
});

const payer = native.keyOf(1);
export const BLOCKHASH = token.PAY_TO.toBase58();
/** A signed transfer of SOL, with these instructions around it or in its place. */
export const paySol = (instructions: readonly TransactionInstruction[], signer = payer) => ({
  transaction: native.encode(native.sign(signer, instructions, { blockhash: BLOCKHASH })),
});
export const moveSol = (lamports = 10_000n, to = token.PAY_TO) => native.transfer(payer.publicKey, to, lamports);
