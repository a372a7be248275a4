// The two chains of the demo and the money on them. Of each asset it knows what a purchase has to know: how a funded buyer
// comes by it, who holds how much, and what the network took.
import { local, type PaywallOptions, type Receiver } from "tollgate";
import type { GatewayOptions } from "tollgate/gateway";
import {
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  evmTransferPayer,
  type Payer,
  type Sandbox,
  type SolanaSandbox,
  solPayer,
  splPayer,
} from "tollgate/testing";
import { createPublicClient, getAddress, type Hex, http } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createWallet, type DemoWallet } from "./wallet.js";

export interface Asset {
  readonly symbol: string;
  readonly decimals: number;
  /** Who is paid. */
  readonly seller: string;
  newBuyer(): Promise<Buyer>;
  balanceOf(address: string): Promise<bigint>;
  /** What the buyer paid to the network in this asset, beside the price. */
  feeOf(transaction: string): Promise<bigint>;
}

export interface Buyer {
  readonly address: string;
  readonly payer: Payer;
  /** What the buyer does before the seller sees the payment. */
  readonly act: string;
}

export interface Chains {
  /** Where they are, in lines. */
  readonly lines: readonly string[];
  readonly assets: Readonly<Record<"usdcOnBase" | "usdcOnSolana" | "eth" | "sol", Asset>>;
  readonly terms: {
    readonly payTo: { readonly evm: string; readonly solana: string };
    readonly networks: Required<PaywallOptions>["networks"];
  };
  /** A receiver that settles on both, with keys of the seller's own. */
  receive(): Receiver;
  /** The same two for a gateway, which has keys of its own: whoever shares one must share a store. */
  readonly networks: NonNullable<GatewayOptions["networks"]>;
  /** Your own, to buy with. */
  readonly wallet: DemoWallet;
  close(): Promise<void>;
}

export async function startChains(): Promise<Chains> {
  const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const wallet = await createWallet(evm);
  return {
    lines: [
      `A local chain answers as Base Sepolia at ${evm.rpcUrl}; the test token is at ${evm.token.address}.`,
      `Another answers as Solana's devnet at ${solana.rpcUrl}; USDC is the mint ${solana.token.address}.`,
    ],
    assets: { ...assetsOnBase(evm), ...assetsOnSolana(solana) },
    terms: { payTo: { evm: evm.payTo, solana: solana.payTo }, networks: [evm.network, solana.network] },
    receive: () =>
      local({
        networks: {
          [evm.network]: { rpcUrl: evm.rpcUrl, settler: evm.settler },
          [solana.network]: { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
        },
      }),
    networks: {
      [evm.network]: { rpcUrl: evm.rpcUrl, settler: await newSettlerOnBase(evm) },
      [solana.network]: { rpcUrl: solana.rpcUrl, settler: await newSettlerOnSolana(solana) },
    },
    wallet,
    async close() {
      wallet.close();
      await Promise.all([evm.close(), solana.close()]);
    },
  };
}

async function newSettlerOnBase({ native }: Sandbox): Promise<Hex> {
  const key = generatePrivateKey();
  await native.setBalances([privateKeyToAddress(key)], 10n ** 18n);
  return key;
}

/** As the seed of the key, in hex. */
async function newSettlerOnSolana(sandbox: SolanaSandbox): Promise<string> {
  const { secretKey } = await sandbox.newBuyer({ balance: 0n });
  return Buffer.from(secretKey.slice(0, 32)).toString("hex");
}

function assetsOnBase(sandbox: Sandbox): Pick<Chains["assets"], "usdcOnBase" | "eth"> {
  const { token, native, payTo, newBuyer, rpcUrl } = sandbox;
  const usdcOnBase: Asset = {
    symbol: "USDC",
    decimals: 6,
    seller: payTo,
    async newBuyer() {
      const account = await newBuyer();
      return { address: account.address, payer: eip3009Payer(account), act: "signs an authorization" };
    },
    balanceOf: (address) => token.balanceOf(getAddress(address)),
    feeOf: async () => 0n,
  };
  const eth: Asset = {
    symbol: "ETH",
    decimals: 18,
    seller: payTo,
    async newBuyer() {
      const account = await newBuyer(0n);
      await native.setBalances([account.address], 10n ** 17n);
      // As a browser's wallet does it: what the seller gets to see is the id alone, and the secret.
      const payer = evmTransferPayer(account, { rpcUrl, broadcast: true, show: "id" });
      return { address: account.address, payer, act: "sends a transaction of his own" };
    },
    balanceOf: (address) => native.balanceOf(getAddress(address)),
    async feeOf(transaction) {
      const client = createPublicClient({ transport: http(rpcUrl) });
      const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash: transaction as Hex });
      return gasUsed * effectiveGasPrice;
    },
  };
  return { usdcOnBase, eth };
}

function assetsOnSolana(sandbox: SolanaSandbox): Pick<Chains["assets"], "usdcOnSolana" | "sol"> {
  const { token, native, payTo, rpcUrl } = sandbox;
  const usdcOnSolana: Asset = {
    symbol: "USDC",
    decimals: token.decimals,
    seller: payTo,
    async newBuyer() {
      const wallet = await sandbox.newBuyer({ lamports: 0n });
      const payer = splPayer(wallet, { rpcUrl });
      return { address: wallet.publicKey.toBase58(), payer, act: "signs a transfer that the seller completes" };
    },
    balanceOf: token.balanceOf,
    feeOf: async () => 0n,
  };
  const sol: Asset = {
    symbol: "SOL",
    decimals: native.decimals,
    seller: payTo,
    async newBuyer() {
      const wallet = await sandbox.newBuyer({ balance: 0n });
      const payer = solPayer(wallet, { rpcUrl });
      return { address: wallet.publicKey.toBase58(), payer, act: "signs a transaction that the seller sends" };
    },
    balanceOf: native.balanceOf,
    async feeOf(transaction) {
      const landed = await sandbox.connection().getTransaction(transaction, { maxSupportedTransactionVersion: 0 });
      if (!landed?.meta) throw new Error(`The chain does not know the transaction ${transaction}`);
      return BigInt(landed.meta.fee);
    },
  };
  return { usdcOnSolana, sol };
}
