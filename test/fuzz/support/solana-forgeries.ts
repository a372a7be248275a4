// Payments that are each wrong in one thing, for a seller on a real chain: those of test/chains/solana/mutations.ts, and those
// that keep every rule of a single transaction, so that only the chain tells them from honest ones.
import { createPublicKey, sign, verify } from "node:crypto";
import { TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey, type TransactionInstruction } from "@solana/web3.js";
import { type Reason, wireReason } from "../../../src/chains/solana/reasons.js";
import { CAPS, type Draw, ENVELOPE, INSTRUCTIONS, MONEY, type Spoilt } from "../../chains/solana/mutations.js";
import {
  ata,
  CLIENTS,
  call,
  compile,
  encode,
  LIGHTHOUSE,
  limit,
  MEMO,
  MINT,
  PAYER,
  SETTLER,
  STRANGER,
  signerOf,
  transfer,
} from "../../chains/solana/payment.js";
import { dice } from "../../support/dice.js";

export interface SolanaForgery {
  readonly name: string;
  readonly version: 1 | 2;
  /** To be revived before it is sent. */
  readonly base64: string;
  /** What the answer calls it: the protocol's word, or our code where only the chain can tell. */
  readonly expected: { readonly error: string } | { readonly codes: readonly string[] };
}

/** Has a token account that holds less than the price. */
export const POOR = signerOf(6);
/** Has approved the payer as delegate of a rich account, so the chain would take it (faults A35). */
export const LENDER = signerOf(8);
const NOBODY = signerOf(7);
const SIGNERS = [PAYER, STRANGER, POOR, NOBODY];

/** The blockhash of every payment that test/chains/solana/payment.ts compiles. */
const UNBORN = Buffer.alloc(32, 9);

/** The same payment on a blockhash of the chain: whoever had signed it signs it again. */
export function revive(base64: string, blockhash: string): string {
  const bytes = Buffer.from(base64, "base64");
  const count = bytes[0] ?? 0;
  const message = bytes.subarray(1 + 64 * count);
  const place = message.indexOf(UNBORN);
  if (place < 0) return base64;
  const slots = Array.from({ length: count }, (_, i) => bytes.subarray(1 + 64 * i, 65 + 64 * i));
  const signers = slots.map((slot) =>
    SIGNERS.find(({ secret }) => verify(null, message, createPublicKey(secret), slot)),
  );
  message.set(new PublicKey(blockhash).toBytes(), place);
  for (const [i, signer] of signers.entries()) if (signer) slots[i]?.set(sign(null, message, signer.secret));
  return bytes.toString("base64");
}

/** So many, each kind as often as the others, always the same ones for a seed. */
export function solanaForgeries(count: number, seed: number): SolanaForgery[] {
  const below = dice(seed);
  const kinds = Object.entries<Mutation>({ ...INSTRUCTIONS, ...CAPS, ...MONEY, ...ENVELOPE, ...CHAINED });
  const all: SolanaForgery[] = [];
  for (let at = 0; all.length < count; at += 1) {
    const [name, mutate] = kinds[at % kinds.length]!;
    const version = below(2) ? 1 : 2;
    const forged = mutate(drawWith(below));
    if (isHonest(forged)) continue;
    const expected = "codes" in forged ? { codes: forged.codes } : { error: wordOf(forged.reason, version) };
    all.push({ name, version, base64: forged.base64, expected });
  }
  return all;
}

function drawWith(below: Draw["below"]): Draw {
  const clients = Object.values(CLIENTS);
  return {
    below,
    version: below(2) ? "legacy" : 0,
    program: TOKEN_PROGRAM_ID,
    instructions: clients[below(clients.length)]!(TOKEN_PROGRAM_ID),
    key: () => new PublicKey(Uint8Array.from({ length: 32 }, () => below(256))),
  };
}

/** Offers here ask for no memo; and a payment that another one of our settlers is to pay for is as good (protocol §9.25). */
const isHonest = (forged: Spoilt | Chained): boolean =>
  "terms" in forged ||
  ("reason" in forged &&
    forged.reason === "fee_payer_mismatch" &&
    Buffer.from(forged.base64, "base64").includes(SETTLER.toBuffer()));

/** Bytes that cannot be read are no payment of Solana's yet. */
const wordOf = (reason: Reason, version: 1 | 2): string =>
  reason === "not_decoded" ? "invalid_payload" : wireReason(reason, version);

interface Chained {
  readonly base64: string;
  readonly codes: readonly string[];
}
type Mutation = (draw: Draw) => Spoilt | Chained;

const pick = <Item>({ below }: Draw, ...items: readonly [Item, ...Item[]]): Item => items[below(items.length)]!;

function chained({ version }: Draw, instructions: TransactionInstruction[], ...codes: readonly string[]): Chained {
  return { base64: encode(compile(instructions, { version }), SIGNERS), codes };
}

/**
 * Limit, price and transfer with one of them replaced, or with another one behind them. Nothing else, so that the chain has
 * but one thing to refuse: the sandbox has no Lighthouse, which wallets insert.
 */
const bare = ({ instructions }: Draw) => instructions.slice(0, 3);
const moving = (draw: Draw, move: TransactionInstruction) => bare(draw).with(2, move);
const ending = (draw: Draw, last: TransactionInstruction) => [...bare(draw), last];

const CHAINED: Record<string, Mutation> = {
  "somebody else's account as source": (draw) =>
    chained(draw, moving(draw, transfer({ source: ata(STRANGER.key) })), "simulation_failed"),
  "an account as source that was lent to the payer": (draw) =>
    chained(draw, moving(draw, transfer({ source: ata(LENDER.key) })), "payment_rejected"),
  "a source that does not exist or is no token account": (draw) => {
    const source = pick(draw, draw.key(), ata(draw.key()), MINT);
    return chained(draw, moving(draw, transfer({ source })), "insufficient_funds");
  },
  "other decimals than the token's": (draw) => {
    const { programId, data, keys } = transfer();
    const changed = Uint8Array.from(data).with(9, pick(draw, 0, 5, 7, 9, 255));
    return chained(draw, moving(draw, call(programId, changed, keys)), "simulation_failed");
  },
  "a wallet that holds too little, or nothing": (draw) => {
    const { key: authority } = pick(draw, POOR, NOBODY);
    return chained(draw, moving(draw, transfer({ authority, source: ata(authority) })), "insufficient_funds");
  },
  "a blockhash that the chain has never had": (draw) => {
    const message = compile(bare(draw), { version: draw.version });
    message.recentBlockhash = draw.key().toBase58();
    return { base64: encode(message), codes: ["payment_expired"] };
  },
  "too few compute units to come to its end": (draw) =>
    chained(draw, bare(draw).with(0, limit(draw.below(300))), "simulation_failed"),
  "a memo that is no text": (draw) => {
    const bytes = pick(draw, [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80]);
    return chained(draw, ending(draw, call(MEMO, Uint8Array.from(bytes))), "simulation_failed");
  },
  "an assertion that does not hold": (draw) => {
    const asserted = [{ pubkey: PAYER.key, isSigner: false, isWritable: false }];
    const assertion = call(LIGHTHOUSE, Uint8Array.of(255, draw.below(256)), asserted);
    return chained(draw, ending(draw, assertion), "simulation_failed");
  },
};
