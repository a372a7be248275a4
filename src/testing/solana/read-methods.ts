// RPC methods that read the chain and its accounts, each at the commitment level that the caller names.
import { accountJson } from "./account-json.js";
import { BLOCKHASH_LIFE, type Ledger } from "./ledger.js";
import { addressAt, addressesAt, asAddress, configAt, levelOf, numberAt, type Params, textAt } from "./params.js";
import { isTokenProgram, readMint, readTokenAccount, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, uiAmount } from "./programs.js";
import { invalidParams, RPC_CODES, RpcError } from "./rpc-error.js";
import type { Svm } from "./svm.js";
import { readTransaction } from "./wire.js";

export type Methods = Readonly<Record<string, (params: Params) => unknown>>;

/** First 32 characters name the network: `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1`. */
export const DEVNET_GENESIS_HASH = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const API_VERSION = "2.3.0";
const SLOTS_PER_EPOCH = 432_000n;

/** Wraps an answer in the slot it was read at. */
export const inContext = (slot: bigint, value: unknown) => ({ context: { apiVersion: API_VERSION, slot }, value });

export function chainMethods(ledger: Ledger, svm: Svm): Methods {
  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": API_VERSION, "feature-set": 0 }),
    getGenesisHash: () => DEVNET_GENESIS_HASH,
    getSlot: (params) => ledger.slot(levelOf(ledger, configAt(params, 0))),
    // Nothing that has landed is ever forgotten.
    getFirstAvailableBlock: () => 0,
    getBlockHeight: (params) => ledger.height(levelOf(ledger, configAt(params, 0))),
    getEpochInfo(params) {
      const level = levelOf(ledger, configAt(params, 0));
      const absoluteSlot = ledger.slot(level);
      return {
        absoluteSlot,
        blockHeight: ledger.height(level),
        epoch: absoluteSlot / SLOTS_PER_EPOCH,
        slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: ledger.transactionCount(),
      };
    },
    getLatestBlockhash(params) {
      const level = levelOf(ledger, configAt(params, 0));
      const { blockhash, height } = ledger.latest(level);
      return inContext(ledger.slot(level), { blockhash, lastValidBlockHeight: height + BLOCKHASH_LIFE });
    },
    isBlockhashValid(params) {
      const level = levelOf(ledger, configAt(params, 1));
      return inContext(ledger.slot(level), ledger.accepts(textAt(params, 0), level));
    },
    getMinimumBalanceForRentExemption: (params) => svm.rentExemption(BigInt(numberAt(params, 0))),
    getRecentPrioritizationFees(params) {
      if (params[0] !== undefined) addressesAt(params, 0);
      return [{ slot: ledger.slot("confirmed"), prioritizationFee: 0 }];
    },
    getFeeForMessage(params) {
      const message = Buffer.from(textAt(params, 0), "base64");
      const level = levelOf(ledger, configAt(params, 1));
      // The first byte of a v0 message is its version, the number of signatures follows.
      const signatures = (message[0] ?? 0) >= 0x80 ? (message[1] ?? 0) : (message[0] ?? 0);
      const wire = readTransaction(new Uint8Array([signatures, ...Buffer.alloc(64 * signatures), ...message]));
      if (wire === undefined) throw invalidParams("failed to deserialize the message");
      const known = ledger.accepts(wire.message.recentBlockhash, level);
      return inContext(ledger.slot(level), known ? svm.simulate(wire).fee : null);
    },
  };
}

export function accountMethods(ledger: Ledger, svm: Svm): Methods {
  const mintOf = (mint: string) => svm.account(mint);
  return {
    getBalance(params) {
      const level = levelOf(ledger, configAt(params, 1));
      return inContext(ledger.slot(level), ledger.account(addressAt(params, 0), level)?.lamports ?? 0n);
    },
    getAccountInfo(params) {
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      const account = ledger.account(addressAt(params, 0), level);
      return inContext(ledger.slot(level), accountJson(account, config, mintOf));
    },
    getMultipleAccounts(params) {
      const config = configAt(params, 1);
      const level = levelOf(ledger, config);
      const accounts = addressesAt(params, 0).map((address) => ledger.account(address, level));
      return inContext(
        ledger.slot(level),
        accounts.map((account) => accountJson(account, config, mintOf)),
      );
    },
    getTokenAccountBalance(params) {
      const level = levelOf(ledger, configAt(params, 1));
      const account = ledger.account(addressAt(params, 0), level);
      if (account === null) throw invalidParams("could not find account");
      const token = readTokenAccount(account);
      const mint = token && readMint(mintOf(token.mint));
      if (token === undefined || mint === undefined) throw invalidParams("not a Token account");
      return inContext(ledger.slot(level), uiAmount(token.amount, mint.decimals));
    },
    getTokenSupply(params) {
      const level = levelOf(ledger, configAt(params, 1));
      const mint = readMint(ledger.account(addressAt(params, 0), level));
      if (mint === undefined) throw invalidParams("not a Token mint");
      return inContext(ledger.slot(level), uiAmount(mint.supply, mint.decimals));
    },
    getTokenAccountsByOwner(params) {
      const owner = addressAt(params, 0);
      const config = configAt(params, 2);
      const level = levelOf(ledger, config);
      const { mint, program } = tokenFilter(params[1]);
      const programs = program === undefined ? [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] : [program];
      const found = programs
        .flatMap((each) => [...svm.accountsOf(each).keys()])
        .flatMap((pubkey) => {
          const account = ledger.account(pubkey, level);
          const token = readTokenAccount(account);
          if (token?.owner !== owner || (mint !== undefined && token.mint !== mint)) return [];
          return [{ pubkey, account: accountJson(account, config, mintOf) }];
        });
      return inContext(ledger.slot(level), found);
    },
  };
}

/** `{ mint }` or `{ programId }`, exactly one of them. */
function tokenFilter(filter: unknown): { mint?: string; program?: string } {
  if (typeof filter === "object" && filter !== null) {
    if ("mint" in filter && typeof filter.mint === "string") return { mint: asAddress(filter.mint) };
    if ("programId" in filter && typeof filter.programId === "string") {
      if (!isTokenProgram(filter.programId))
        throw new RpcError(RPC_CODES.invalidParams, "unrecognized Token program id");
      return { program: filter.programId };
    }
  }
  throw invalidParams("expected a mint or a programId");
}
