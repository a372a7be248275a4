// Money out of nothing: SOL, mints and tokens, made past the chain and seen at once at every commitment level. Token
// accounts are opened and filled by the real programs, in transactions that no block holds.
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import type { Ledger } from "./ledger.js";
import { mintBytes } from "./mint.js";
import {
  ATA_PROGRAM,
  associatedAccount,
  readTokenAccount,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.js";
import type { AccountState, Svm } from "./svm.js";
import { sentenceOf } from "./transaction-error.js";
import { readTransaction } from "./wire.js";

export interface MintOptions {
  /** At this address; absent = a fresh one. */
  readonly address?: string;
  /** 6. */
  readonly decimals?: number;
  /** Owned by the Token-2022 program. */
  readonly token2022?: boolean;
  /** Basis points kept back from the receiver of each transfer; Token-2022 only. */
  readonly transferFeeBps?: number;
}

export interface Faucet {
  /** Adds lamports to an address. */
  airdrop(address: string, lamports: bigint): void;
  /** Places a mint and returns its address. */
  createMint(options?: MintOptions): string;
  /** Adds atomic units to the owner's associated token account, which is opened if need be; returns its address. */
  mintTo(mint: string, owner: string, amount: bigint): string;
  /** Writes an account as it is given: lookup tables, odd mints, whatever an attack needs. */
  setAccount(address: string, account: AccountState): void;
}

/** The authority of every mint made here pays for its transactions as well. */
export function createFaucet(svm: Svm, ledger: Ledger): Faucet {
  const authority = Keypair.generate();
  const authorityAddress = authority.publicKey.toBase58();

  function airdrop(address: string, lamports: bigint): void {
    const { data = new Uint8Array(), owner = SYSTEM_PROGRAM, executable = false } = svm.account(address) ?? {};
    const held = svm.account(address)?.lamports ?? 0n;
    setAccount(address, { lamports: held + lamports, data, owner, executable });
  }

  function setAccount(address: string, account: AccountState): void {
    ledger.forgetHistory(address);
    svm.setAccount(address, account);
  }

  function createMint(options: MintOptions = {}): string {
    const {
      address = Keypair.generate().publicKey.toBase58(),
      decimals = 6,
      token2022 = false,
      transferFeeBps,
    } = options;
    if (transferFeeBps !== undefined && !token2022) throw new RangeError("A transfer fee needs token2022: true");
    const layout = { decimals, authority: authorityAddress };
    const data = mintBytes(transferFeeBps === undefined ? layout : { ...layout, transferFeeBps });
    const owner = token2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;
    setAccount(address, { lamports: svm.rentExemption(BigInt(data.length)), data, owner, executable: false });
    return address;
  }

  function mintTo(mint: string, owner: string, amount: bigint): string {
    const program = svm.account(mint)?.owner;
    if (program === undefined) throw new RangeError(`There is no mint at ${mint}`);
    const account = associatedAccount(owner, mint, program);
    const open = accountMetas([authorityAddress, "signer"], [account, "write"], owner, mint, SYSTEM_PROGRAM, program);
    const fill = accountMetas([mint, "write"], [account, "write"], [authorityAddress, "signer"]);
    const data = Buffer.alloc(9, MINT_TO);
    data.writeBigUInt64LE(amount, 1);
    run([
      new TransactionInstruction({
        programId: new PublicKey(ATA_PROGRAM),
        keys: open,
        data: Buffer.from([CREATE_IDEMPOTENT]),
      }),
      new TransactionInstruction({ programId: new PublicKey(program), keys: fill, data }),
    ]);
    for (const address of [mint, account]) ledger.forgetHistory(address);
    return account;
  }

  function run(instructions: TransactionInstruction[]): void {
    airdrop(authorityAddress, 10n ** 9n);
    const { blockhash: recentBlockhash } = ledger.latest("confirmed");
    const message = new TransactionMessage({ payerKey: authority.publicKey, recentBlockhash, instructions });
    const unsigned = readTransaction(new VersionedTransaction(message.compileToV0Message()).serialize());
    if (unsigned === undefined) throw new Error("The faucet built a transaction that cannot be read");
    const { err } = svm.execute(unsigned);
    if (err !== null) throw new Error(`The faucet failed: ${sentenceOf(err)}`);
  }

  return { airdrop, createMint, mintTo, setAccount };
}

const CREATE_IDEMPOTENT = 1;
const MINT_TO = 7;

type Role = string | readonly [address: string, role: "write" | "signer"];

/** An address alone is read-only; a signer is written as well, since it pays. */
const accountMetas = (...roles: Role[]) =>
  roles.map((role) => {
    const [address, kind] = typeof role === "string" ? [role, "read" as const] : role;
    return { pubkey: new PublicKey(address), isSigner: kind === "signer", isWritable: kind !== "read" };
  });

/** Atomic units in the owner's associated token account; 0 where there is none. */
export function tokenBalance(svm: Svm, mint: string, owner: string): bigint {
  const program = svm.account(mint)?.owner;
  if (program === undefined) return 0n;
  return readTokenAccount(svm.account(associatedAccount(owner, mint, program)))?.amount ?? 0n;
}
