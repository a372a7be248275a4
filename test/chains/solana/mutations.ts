// What a dishonest buyer changes about a payment, and the one reason for which each change must be refused. The buyer
// signs whatever he made, unless the change is to the signature.
import { createAssociatedTokenAccountInstruction, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import {
  AddressLookupTableAccount,
  NONCE_ACCOUNT_LENGTH,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  type VersionedMessage,
} from "@solana/web3.js";
import type { Reason } from "../../../src/chains/solana/reasons.js";
import type { StaticTerms } from "../../../src/chains/solana/terms.js";
import {
  AMOUNT,
  ata,
  type Build,
  call,
  compile,
  encode,
  FEE_PAYER,
  LIGHTHOUSE,
  limit,
  MEMO,
  MINT,
  type Move,
  memo,
  PAY_TO,
  PAYER,
  patch,
  price,
  SETTLER,
  STRANGER,
  transfer,
  wire,
} from "./payment.js";

/** An honest payment and the dice to spoil it with. */
export interface Draw {
  readonly instructions: TransactionInstruction[];
  readonly program: PublicKey;
  readonly version: "legacy" | 0;
  /** A whole number from 0, below `count`. */
  readonly below: (count: number) => number;
  readonly key: () => PublicKey;
}

export interface Spoilt {
  readonly base64: string;
  readonly reason: Reason;
  readonly terms?: Partial<StaticTerms>;
}

export type Mutation = (draw: Draw) => Spoilt;

const AT: readonly Reason[] = [
  "compute_limit",
  "compute_price",
  "no_transfer",
  "unknown_fourth",
  "unknown_fifth",
  "unknown_sixth",
  "unknown_seventh",
];
const MAX_U64 = 2n ** 64n - 1n;

const pick = <Item>({ below }: Draw, ...items: readonly [Item, ...Item[]]): Item => items[below(items.length)]!;
const meta = (pubkey: PublicKey, isSigner = false, isWritable = true) => ({ pubkey, isSigner, isWritable });
/** A memo that the payer signs: it keeps his signature required where the transfer no longer asks for it. */
const signedMemo = () => call(MEMO, Buffer.from("signed"), [meta(PAYER.key, true, false)]);

function spoilt({ version }: Draw, instructions: TransactionInstruction[], reason: Reason, build: Build = {}): Spoilt {
  return { base64: encode(compile(instructions, { version, ...build })), reason };
}

/** The instructions with one replaced, or with `drop` replaced by several. */
function withAt(list: TransactionInstruction[], at: number, drop: number, ...put: TransactionInstruction[]) {
  return [...list.slice(0, at), ...put, ...list.slice(at + drop)];
}

const moved = (draw: Draw, move: Move, reason: Reason, ...more: TransactionInstruction[]): Spoilt =>
  spoilt(draw, [...withAt(draw.instructions, 2, 1, transfer({ program: draw.program, ...move })), ...more], reason);

/** Instructions that have no place in a payment. */
function intruder(draw: Draw): TransactionInstruction {
  const { program, key } = draw;
  const owned = [meta(ata(PAYER.key, MINT, program)), meta(key()), meta(PAYER.key, true, false)];
  const funded = (payer: PublicKey) => createAssociatedTokenAccountInstruction(payer, ata(PAY_TO), PAY_TO, MINT);
  return pick(
    draw,
    SystemProgram.transfer({ fromPubkey: PAYER.key, toPubkey: key(), lamports: 1n }),
    SystemProgram.transfer({ fromPubkey: FEE_PAYER.key, toPubkey: key(), lamports: 1_000_000n }),
    SystemProgram.nonceAdvance({ noncePubkey: key(), authorizedPubkey: PAYER.key }),
    SystemProgram.createAccount({
      fromPubkey: FEE_PAYER.key,
      newAccountPubkey: PAYER.key,
      lamports: 1,
      space: NONCE_ACCOUNT_LENGTH,
      programId: program,
    }),
    funded(FEE_PAYER.key),
    funded(PAYER.key),
    call(program, Uint8Array.of(3, ...new Uint8Array(8)), owned),
    call(program, Uint8Array.of(4, ...new Uint8Array(8)), owned),
    call(program, Uint8Array.of(9), owned),
    call(key(), Uint8Array.of(0), [meta(FEE_PAYER.key)]),
    call(limit(1).programId, Uint8Array.of(1, 0, 0, 1, 0)),
    call(limit(1).programId, Uint8Array.of(4, 0, 0, 1, 0)),
  );
}

function reasonAt(at: number, { programId }: TransactionInstruction): Reason {
  if (at !== 2) return AT[at]!;
  if (programId.equals(TOKEN_PROGRAM_ID)) return "no_token_transfer";
  if (programId.equals(TOKEN_2022_PROGRAM_ID)) return "no_token_2022_transfer";
  return programId.toBase58().startsWith("AToken") ? "account_creation" : "no_transfer";
}

const notTransfer = ({ program }: Draw): Reason =>
  program.equals(TOKEN_PROGRAM_ID) ? "no_token_transfer" : "no_token_2022_transfer";

/** Bytes of the payment changed after it was signed, or before it is encoded. */
function bytesOf(draw: Draw, change: (bytes: Buffer) => Uint8Array, reason: Reason): Spoilt {
  const bytes = change(wire(compile(draw.instructions, { version: draw.version })));
  return { base64: Buffer.from(bytes).toString("base64"), reason };
}

function patched({ instructions }: Draw, change: (message: VersionedMessage) => Parameters<typeof patch>[1]): Spoilt {
  const message = compile(instructions);
  return { base64: encode(patch(message, change(message))), reason: "not_decoded" };
}

export const INSTRUCTIONS: Record<string, Mutation> = {
  "an instruction added": (draw) => {
    const [at, added] = [draw.below(draw.instructions.length + 1), intruder(draw)];
    return spoilt(draw, withAt(draw.instructions, at, 0, added), reasonAt(at, added));
  },
  "an instruction replaced": (draw) => {
    // Without the transfer the payer would not be a signer.
    const [at, added] = [pick(draw, 0, 1, 2), intruder(draw)];
    return spoilt(draw, [...withAt(draw.instructions, at, 1, added), signedMemo()], reasonAt(at, added));
  },
  "an instruction removed": (draw) => {
    const { instructions } = draw;
    const at = pick(draw, 0, 1, 2);
    const reason = at === 2 ? "signature_invalid" : instructions.length === 3 ? "instruction_count" : AT[at]!;
    return spoilt(draw, withAt(instructions, at, 1), reason);
  },
  "two instructions swapped": (draw) => {
    const { instructions: list, below } = draw;
    const at = pick(draw, 0, 1);
    const other = at + 1 + below(list.length - at - 1);
    return spoilt(draw, withAt(withAt(list, at, 1, list[other]!), other, 1, list[at]!), AT[at]!);
  },
  "a memo in the transfer's place": (draw) =>
    spoilt(draw, [...withAt(draw.instructions, 2, 1, memo("x")), signedMemo()], "no_transfer"),
  "a second limit, price or transfer": (draw) => {
    const added = pick(draw, limit(1), price(0n), price(MAX_U64), transfer({ program: draw.program }));
    const at = 3 + draw.below(draw.instructions.length - 2);
    return spoilt(draw, withAt(draw.instructions, at, 0, added), AT[at]!);
  },
  "the price twice, the second one in the limit's place": (draw) =>
    spoilt(draw, withAt(draw.instructions, 0, 1, price(1n)), "compute_limit"),
  "an intruder as the last of seven": (draw) => {
    const filled = [...draw.instructions, memo("1"), memo("2"), memo("3")].slice(0, 6);
    return spoilt(draw, [...filled, intruder(draw)], "unknown_seventh");
  },
  "more than seven instructions": (draw) => {
    const memos = Array.from({ length: 5 + draw.below(3) }, (_, i) => memo(String(i)));
    return spoilt(draw, [...draw.instructions.slice(0, 3), ...memos], "instruction_count");
  },
  "a wrong program": (draw) => {
    const at = draw.below(draw.instructions.length);
    const { data, keys } = draw.instructions[at]!;
    const called =
      at === 2 ? pick(draw, draw.key(), MEMO, LIGHTHOUSE) : pick(draw, draw.key(), SystemProgram.programId);
    return spoilt(draw, withAt(draw.instructions, at, 1, call(called, data, keys)), AT[at]!);
  },
  "another instruction of the token program with the transfer's bytes": (draw) => {
    const { programId, data, keys } = draw.instructions[2]!;
    const changed = Uint8Array.from(data).with(0, pick(draw, 3, 13, 14, 15, 26));
    return spoilt(draw, withAt(draw.instructions, 2, 1, call(programId, changed, keys)), notTransfer(draw));
  },
  "instruction data too short or too long": (draw) => {
    const at = pick(draw, 0, 1, 2);
    const { programId, data, keys } = draw.instructions[at]!;
    const longer = at < 2 && draw.below(2) === 0;
    const changed = longer ? Buffer.concat([data, Uint8Array.of(0)]) : data.subarray(0, draw.below(data.length));
    const reason = at === 2 ? notTransfer(draw) : AT[at]!;
    return spoilt(draw, withAt(draw.instructions, at, 1, call(programId, changed, keys)), reason);
  },
};

export const CAPS: Record<string, Mutation> = {
  "a price over the cap": (draw) => {
    const amount = pick(draw, 5_000_001n, 10n ** 9n, 2n ** 63n, MAX_U64, 5_000_001n + BigInt(draw.below(2 ** 31)));
    const cheap = [limit(1), price(amount), ...draw.instructions.slice(2)];
    return spoilt(draw, cheap, "compute_price_too_high");
  },
  "a limit over the cap": (draw) => {
    const units = pick(draw, 200_001, 1_400_000, 2 ** 32 - 1, 200_001 + draw.below(2 ** 31));
    return spoilt(draw, withAt(draw.instructions, 0, 1, limit(units)), "compute_limit_too_high");
  },
  "both under their caps and the fee over its own": (draw) => {
    const most = [limit(200_000), price(50_001n + BigInt(draw.below(4_949_999)))];
    return spoilt(draw, [...most, ...draw.instructions.slice(2)], "compute_price_too_high");
  },
};

export const MONEY: Record<string, Mutation> = {
  "another amount": (draw) => {
    const amount = pick(draw, 0n, 1n, AMOUNT - 1n, AMOUNT + 1n, AMOUNT << 32n, MAX_U64, BigInt(draw.below(9_999)));
    return moved(draw, { amount }, "amount_mismatch");
  },
  "another mint": (draw) => {
    const mint = draw.key();
    return moved(draw, pick(draw, { mint }, { mint, destination: ata(PAY_TO, MINT, draw.program) }), "mint_mismatch");
  },
  "another destination": (draw) => {
    const other = draw.program.equals(TOKEN_PROGRAM_ID) ? TOKEN_2022_PROGRAM_ID : TOKEN_PROGRAM_ID;
    const destination = pick(
      draw,
      draw.key(),
      PAY_TO,
      ata(draw.key(), MINT, draw.program),
      ata(PAY_TO, draw.key(), draw.program),
      ata(PAY_TO, MINT, other),
      ata(PAYER.key, MINT, draw.program),
    );
    return moved(draw, { destination }, "recipient_mismatch");
  },
  "the other token program with the same accounts": (draw) => {
    const program = draw.program.equals(TOKEN_PROGRAM_ID) ? TOKEN_2022_PROGRAM_ID : TOKEN_PROGRAM_ID;
    const accounts = { source: ata(PAYER.key, MINT, draw.program), destination: ata(PAY_TO, MINT, draw.program) };
    return moved(draw, { program, ...accounts }, "recipient_mismatch");
  },
  "the seller's own account as source": (draw) =>
    moved(draw, { source: ata(PAY_TO, MINT, draw.program) }, "recipient_mismatch"),
  "an account of our signers as source": (draw) => {
    const source = ata(pick(draw, FEE_PAYER.key, SETTLER), MINT, draw.program);
    return moved(draw, { source }, "fee_payer_transferring");
  },
  "one of our signers as authority": (draw) => {
    const taken = transfer({ program: draw.program, authority: pick(draw, FEE_PAYER.key, SETTLER) });
    taken.keys[3]!.isSigner = false;
    const instructions = [...withAt(draw.instructions, 2, 1, taken), signedMemo()];
    return spoilt(draw, instructions, "fee_payer_transferring");
  },
  "an authority who did not sign": (draw) => {
    const taken = transfer({ program: draw.program, authority: draw.key() });
    taken.keys[3]!.isSigner = false;
    return spoilt(draw, [...withAt(draw.instructions, 2, 1, taken), signedMemo()], "signature_invalid");
  },
  "one of our signers in an instruction": (draw) => {
    const ours = pick(draw, FEE_PAYER.key, SETTLER);
    const role = draw.below(4);
    if (role < 2) return moved(draw, role ? { source: ours } : { destination: ours }, "fee_payer_not_isolated");
    const listed = call(role === 2 ? MEMO : LIGHTHOUSE, Uint8Array.of(0), [meta(ours, false, false)]);
    return spoilt(draw, [...draw.instructions, listed], "fee_payer_not_isolated");
  },
  "fewer or more accounts than four": (draw) => {
    const taken = transfer({ program: draw.program });
    if (draw.below(2) === 0) taken.keys.push(meta(draw.key()));
    else taken.keys.splice(draw.below(3), 1);
    return spoilt(draw, withAt(draw.instructions, 2, 1, taken), notTransfer(draw));
  },
  "a memo that is not the offer's": (draw) => {
    const [first, second] = [memo("order 7"), memo(`order ${8 + draw.below(1_000)}`)];
    const bare = draw.instructions.slice(0, 3);
    const [memos, reason] = pick<[TransactionInstruction[], Reason]>(
      draw,
      [[], "memo_count"],
      [[first, first], "memo_count"],
      [[first, second], "memo_count"],
      [[second], "memo_mismatch"],
      [[memo("order 7\0")], "memo_mismatch"],
      [[memo("")], "memo_mismatch"],
    );
    return { ...spoilt(draw, [...bare, ...memos], reason), terms: { memo: "order 7" } };
  },
};

export const ENVELOPE: Record<string, Mutation> = {
  "another fee payer": (draw) => {
    const feePayer = pick(draw, draw.key(), PAYER.key, SETTLER);
    return spoilt(draw, draw.instructions, "fee_payer_mismatch", { feePayer });
  },
  "a second signer beside the payer": (draw) => {
    const cosigned = call(MEMO, Buffer.from("co"), [meta(STRANGER.key, true, false)]);
    return spoilt(draw, [...draw.instructions, cosigned], "excessive_signers");
  },
  "accounts in a lookup table": (draw) => {
    const hidden = pick(draw, ata(PAY_TO, MINT, draw.program), ata(PAYER.key, MINT, draw.program), MINT);
    const state = {
      deactivationSlot: MAX_U64,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [hidden],
    };
    const tables = [new AddressLookupTableAccount({ key: draw.key(), state })];
    return spoilt(draw, draw.instructions, "lookups_refused", { version: 0, tables });
  },
  "no signature, or a stranger's": (draw) => {
    const message = compile(draw.instructions, { version: draw.version });
    const forged = { key: PAYER.key, secret: STRANGER.secret };
    return { base64: encode(message, pick(draw, [], [forged])), reason: "signature_invalid" };
  },
  "a bit of the payer's signature": (draw) =>
    bytesOf(draw, (bytes) => bytes.fill(bytes[65 + draw.below(64)]! ^ 1, 65, 66), "signature_invalid"),
  "a bit of the blockhash after signing": (draw) =>
    bytesOf(
      draw,
      (bytes) => {
        const at = bytes.indexOf(Buffer.alloc(32, 9)) + draw.below(32);
        return bytes.fill(bytes[at]! ^ (1 << draw.below(8)), at, at + 1);
      },
      "signature_invalid",
    ),
  "bytes cut off or added": (draw) =>
    bytesOf(
      draw,
      (bytes) =>
        draw.below(2) ? bytes.subarray(0, draw.below(bytes.length)) : Buffer.concat([bytes, Buffer.alloc(1)]),
      "not_decoded",
    ),
  "our key under a second index": (draw) =>
    patched(draw, ({ staticAccountKeys }) => ({ staticAccountKeys: [...staticAccountKeys, FEE_PAYER.key] })),
  "a header that nobody could pay for": (draw) =>
    patched(draw, ({ header }) => ({ header: { ...header, numReadonlySignedAccounts: pick(draw, 2, 3, 255) } })),
  "a header that counts more keys than there are": (draw) =>
    patched(draw, ({ header }) => ({ header: { ...header, numReadonlyUnsignedAccounts: 30 + draw.below(200) } })),
  "an index outside the keys, or the fee payer as program": (draw) =>
    patched(draw, ({ compiledInstructions: [first, ...others] }) => {
      const change = pick(
        draw,
        { programIdIndex: 0 },
        { programIdIndex: 200 },
        { accountKeyIndexes: [draw.below(56) + 200] },
      );
      return { compiledInstructions: [{ ...first!, ...change }, ...others] };
    }),
};
