// The kinds of money that the examples are paid in: who has it, and what of it has moved from a buyer to the examples' payee.
import {
  eip3009Payer,
  evmTransferPayer,
  type Payer,
  type Sandbox,
  type SolanaSandbox,
  solPayer,
  splPayer,
} from "tollgate/testing";
import { getAddress } from "viem";
import { vi } from "vitest";

/** Who is paid, as the examples have it: addresses that nobody has the key of. */
export const EXAMPLE_PAYEES = {
  evm: "0x000000000000000000000000000000000000dEaD",
  solana: "YourSoLanaAddressHere1111111111111111111112",
} as const;

export interface Money {
  readonly payTo: string;
  /** A funded buyer nobody else has. */
  newBuyer(): Promise<{ readonly address: string; readonly payer: Payer }>;
  /** Atomic units of each debit of this buyer that went to the payee, oldest first. */
  debits(buyer: string): Promise<readonly bigint[]>;
}

const secondsNow = (): number => Math.floor(Date.now() / 1000);

const unitsOf = ({ value }: { readonly value: bigint }): bigint => value;

/** The buyer holds no ETH: somebody else pays the gas. */
export function usdcOnBase({ newBuyer, token }: Sandbox): Money {
  const payTo = EXAMPLE_PAYEES.evm;
  return {
    payTo,
    async newBuyer() {
      const account = await newBuyer();
      return { address: account.address, payer: eip3009Payer(account) };
    },
    debits: async (buyer) => (await token.transfers({ from: getAddress(buyer), to: payTo })).map(unitsOf),
  };
}

/** Sent by the buyer himself, who then waits until `confirmations` blocks stand on it. */
export function eth({ newBuyer, native, chain, rpcUrl }: Sandbox, confirmations = 1): Money {
  const payTo = EXAMPLE_PAYEES.evm;
  return {
    payTo,
    async newBuyer() {
      const account = await newBuyer(0n);
      await native.setBalances([account.address], 10n ** 17n);
      // Blocks tell whole seconds, and what was mined in the one in which the example began buys nothing.
      const began = secondsNow();
      await vi.waitUntil(() => secondsNow() > began, { timeout: 10_000, interval: 20 });
      const payer = evmTransferPayer(account, { rpcUrl, broadcast: true, show: "id" });
      const sign: Payer["sign"] = async (offer, version) => {
        const made = await payer.sign(offer, version);
        if (confirmations > 1) await chain.mine(confirmations - 1);
        return made;
      };
      return { address: account.address, payer: { ...payer, sign } };
    },
    debits: async (buyer) => (await native.transfers({ from: getAddress(buyer), to: payTo })).map(unitsOf),
  };
}

/** The buyer holds no SOL: the seller's key pays the network fee. The payee needs a token account before the seller starts. */
export function usdcOnSolana(sandbox: SolanaSandbox): Money {
  const { token, rpcUrl } = sandbox;
  const payTo = EXAMPLE_PAYEES.solana;
  return {
    payTo,
    async newBuyer() {
      const wallet = await sandbox.newBuyer({ lamports: 0n });
      return { address: wallet.publicKey.toBase58(), payer: splPayer(wallet, { rpcUrl }) };
    },
    debits: async (buyer) => (await token.transfers({ from: buyer, to: payTo })).map(unitsOf),
  };
}

/** Signed by the buyer and sent by the seller. */
export function sol(sandbox: SolanaSandbox): Money {
  const { native, rpcUrl } = sandbox;
  const payTo = EXAMPLE_PAYEES.solana;
  return {
    payTo,
    async newBuyer() {
      const wallet = await sandbox.newBuyer({ balance: 0n });
      return { address: wallet.publicKey.toBase58(), payer: solPayer(wallet, { rpcUrl }) };
    },
    debits: async (buyer) => (await native.transfers({ from: buyer, to: payTo })).map(unitsOf),
  };
}
