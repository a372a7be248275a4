// The kinds of money that the tests of payments are run with, each on its own real chain: who pays, and what has arrived.
import { randomBytes } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import type { PaywallOptions } from "../../src/options.js";
import {
  evmTransferPayer,
  type Payer,
  type Sandbox,
  type SignedTransaction,
  type SolanaSandbox,
  type SplPayerOptions,
  solPayer,
  splPayer,
  type TransactionParts,
} from "../../src/testing/index.js";

/** One asset on one chain, with a world around it. */
export interface Money<Parts = object> {
  readonly name: string;
  /** As a seller writes it, and in atomic units. */
  readonly price: string;
  readonly amount: bigint;
  readonly network: string;
  /** The receiver and network of a paywall that takes it. */
  readonly options: () => Pick<PaywallOptions, "network" | "receive">;
  /** An address that has received nothing. */
  newPayee(): Promise<string>;
  /** A funded buyer nobody else has. */
  newPayer(parts?: Parts): Promise<Payer<SignedTransaction>>;
  /** Atomic units of each debit that went to the payee, oldest first. */
  received(payTo: string): Promise<readonly bigint[]>;
}

const unitsOf = ({ value }: { readonly value: bigint }): bigint => value;

/** USDC by a transaction that waits for the seller's fee payer. */
export function usdcOnSolana(sandbox: SolanaSandbox): Money<Omit<SplPayerOptions, "rpcUrl">> {
  const { network, rpcUrl, token } = sandbox;
  return {
    name: "USDC on Solana",
    price: "$0.01",
    amount: 10_000n,
    network,
    options: () => ({ network, receive: sandbox.receive() }),
    async newPayee() {
      const payee = Keypair.generate().publicKey.toBase58();
      await token.mint(payee, 0n);
      return payee;
    },
    newPayer: async (parts) => splPayer(await sandbox.newBuyer(), { rpcUrl, ...parts }),
    received: async (to) => (await token.transfers({ to })).map(unitsOf),
  };
}

/** SOL by the buyer's own transaction. */
export function sol(sandbox: SolanaSandbox): Money<TransactionParts> {
  const { network, rpcUrl, native } = sandbox;
  return {
    name: "SOL",
    price: "0.001 SOL",
    amount: 1_000_000n,
    network,
    options: () => ({ network, receive: sandbox.receive() }),
    newPayee: async () => Keypair.generate().publicKey.toBase58(),
    newPayer: async (parts) => solPayer(await sandbox.newBuyer(), { rpcUrl, ...parts }),
    received: async (to) => (await native.transfers({ to })).map(unitsOf),
  };
}

/** ETH by the buyer's own transaction. */
export function eth(sandbox: Sandbox): Money<TransactionParts> {
  const { network, rpcUrl, native } = sandbox;
  return {
    name: "ETH",
    price: "0.0002 ETH",
    amount: 200_000_000_000_000n,
    network,
    options: () => ({ network, receive: sandbox.receive() }),
    newPayee: async () => `0x${randomBytes(20).toString("hex")}`,
    async newPayer(parts) {
      const account = await sandbox.newBuyer();
      await native.setBalances([account.address], 10n ** 18n);
      return evmTransferPayer(account, { rpcUrl, ...parts });
    },
    received: async (to) => (await native.transfers({ to: to as `0x${string}` })).map(unitsOf),
  };
}
