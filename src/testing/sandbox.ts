// A whole payment world on this machine: a local chain that answers as Base Sepolia, a stablecoin at its real address,
// a settler with gas, a seller and any number of buyers with money. Node only.
import { type Address, createPublicClient, type Hex, http, keccak256, stringToHex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { createNonceManager, jsonRpc, type NonceManager } from "viem/nonce";
import { type LocalNetworkOptions, local } from "../receive/local.js";
import type { Receiver } from "../receive/receiver.js";
import { type Anvil, type AnvilOptions, startAnvil } from "./anvil.js";
import {
  type AuthorizationMessage,
  type Signer,
  signAuthorization,
  signCancellation,
  type TokenDomain,
} from "./authorization.js";
import { createNativeAsset, type NativeAsset } from "./native-asset.js";
import { multicall3 } from "./token.artifact.js";
import { placeToken, type SandboxToken } from "./token.js";
import { createWallets, type Wallets } from "./wallets.js";

export interface SandboxOptions extends Pick<AnvilOptions, "blockTimeMs" | "port" | "slotsInEpoch"> {
  /** Atomic units that each buyer starts with, 1,000,000,000 (1,000 USDC). */
  readonly balance?: bigint;
}

export interface Sandbox {
  readonly rpcUrl: string;
  readonly chain: Anvil;
  readonly network: "base-sepolia";
  readonly token: SandboxToken;
  /** ETH. Buyers hold none of it at first: an authorization needs no gas. */
  readonly native: NativeAsset;
  /** EIP-712 domain of the token as it was placed. */
  readonly domain: TokenDomain;
  /** Holds nothing at first. */
  readonly seller: Address;
  /** The seller under the name that a paywall's options give it. */
  readonly payTo: Address;
  /** Holds gas. Its nonces are counted for this sandbox alone, so several can run in one process. */
  readonly settler: PrivateKeyAccount;
  readonly settlerKey: Hex;
  readonly wallets: Wallets;
  /** A receiver that settles on this chain; options of its network in place of the sandbox's, such as a proxy's `rpcUrl`. */
  receive(options?: Partial<LocalNetworkOptions>): Receiver;
  /** The n-th buyer of a fixed row, funded at its first use. */
  buyer(n?: number): Promise<PrivateKeyAccount>;
  /** A buyer nobody else has, funded. */
  newBuyer(balance?: bigint): Promise<PrivateKeyAccount>;
  /** Many fresh buyers with one request to the chain. */
  newBuyers(count: number, balance?: bigint): Promise<PrivateKeyAccount[]>;
  /** An authorization over the sandbox's token; the seller is the payee where none is named. */
  signAuthorization(
    signer: Signer,
    parts: Partial<AuthorizationMessage> & Pick<AuthorizationMessage, "value">,
    primaryType?: "TransferWithAuthorization" | "ReceiveWithAuthorization",
  ): Promise<{ message: AuthorizationMessage; signature: Hex }>;
  signCancellation(signer: Signer, nonce: Hex): Promise<Hex>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const chainId = 84532;
const usdc: Address = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const multicall3Address: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";
/** Known keys: the same label is the same account in every run. */
const keyOf = (label: string): Hex => keccak256(stringToHex(`tollgate sandbox ${label}`));

/**
 * Starts the chain and fills it. About a fifth of a second.
 * @example
 * const sandbox = await createSandbox();
 * const { network, payTo } = sandbox;
 * app.get("/report", paywall("$0.01", { network, payTo, receive: sandbox.receive() }), report);
 * await pay(url, {}, { account: await sandbox.newBuyer(), version: 2 });
 * await sandbox.token.balanceOf(sandbox.seller); // 10000n
 * await sandbox.close();
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { balance: startBalance = 1_000_000_000n, ...anvilOptions } = options;
  const chain = await startAnvil({ ...anvilOptions, chainId });
  try {
    return await fill(chain, startBalance);
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

async function fill(chain: Anvil, startBalance: bigint): Promise<Sandbox> {
  const settlerKey = keyOf("settler");
  const numbering = createNumbering();
  const settler = privateKeyToAccount(settlerKey, { nonceManager: numbering.manager });
  const seller = privateKeyToAccount(keyOf("seller")).address;
  const domain: TokenDomain = { name: "USDC", version: "2", chainId, verifyingContract: usdc };
  const [token, wallets] = await Promise.all([
    placeToken(chain, usdc),
    createWallets(chain),
    placeMulticall3(chain),
    chain.rpc("anvil_setBalance", [settler.address, `0x${(1000n * 10n ** 18n).toString(16)}`]),
  ]);

  // Anvil runs eth_call on its first block at Unix second 1: without another block every authorization is "not yet valid".
  await chain.mine();

  const row = new Map<number, Promise<PrivateKeyAccount>>();
  let fresh = 0;
  const newBuyers: Sandbox["newBuyers"] = async (count, balance = startBalance) => {
    const accounts = Array.from({ length: count }, () => privateKeyToAccount(keyOf(`fresh buyer ${fresh++}`)));
    await token.setBalances(
      accounts.map((account) => account.address),
      balance,
    );
    return accounts;
  };
  const close = () => chain.stop();

  return {
    rpcUrl: chain.url,
    chain: {
      ...chain,
      async reorg(depth) {
        await chain.reorg(depth);
        numbering.restart();
      },
    },
    network: "base-sepolia",
    token,
    native: createNativeAsset(chain),
    domain,
    seller,
    payTo: seller,
    settler,
    settlerKey,
    wallets,
    receive: (own) => local({ networks: { "base-sepolia": { rpcUrl: chain.url, settler, ...own } } }),
    buyer(n = 0) {
      const account = row.get(n) ?? fundedBuyer(token, n, startBalance);
      row.set(n, account);
      return account;
    },
    async newBuyer(balance) {
      const [account] = await newBuyers(1, balance);
      return account!;
    },
    newBuyers,
    signAuthorization: (signer, parts, primaryType) =>
      signAuthorization(signer, domain, { to: seller, ...parts }, primaryType),
    signCancellation: (signer, nonce) => signCancellation(signer, domain, nonce),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** viem's manager of account nonces never counts down, as a chain does that is reorganised: then a new one takes its place. */
function createNumbering(): { readonly manager: NonceManager; restart(): void } {
  let current = createNonceManager({ source: jsonRpc() });
  const manager: NonceManager = {
    consume: (parameters) => current.consume(parameters),
    increment: (parameters) => current.increment(parameters),
    get: (parameters) => current.get(parameters),
    reset: (parameters) => current.reset(parameters),
  };
  return {
    manager,
    restart() {
      current = createNonceManager({ source: jsonRpc() });
    },
  };
}

async function fundedBuyer(token: SandboxToken, n: number, balance: bigint): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(keyOf(`buyer ${n}`));
  await token.setBalances([account.address], balance);
  return account;
}

/** Anvil does not predeploy Multicall3: its creation code is run without a transaction and the result is placed. */
async function placeMulticall3(chain: Anvil): Promise<void> {
  const client = createPublicClient({ transport: http(chain.url) });
  const { data: code } = await client.call({ data: multicall3.bytecode });
  if (code === undefined) throw new Error("The creation code of Multicall3 returned nothing");
  await chain.rpc("anvil_setCode", [multicall3Address, code]);
}
