// Wallets of a browser in a test: what a page finds by EIP-6963 or by the wallet standard, signed by local keys in the process of
// the test, which counts what it is asked.
import { createPrivateKey, sign } from "node:crypto";
import { type Keypair, VersionedTransaction } from "@solana/web3.js";
import type { Page } from "playwright-core";
import { createWalletClient, type Hex, http, type PrivateKeyAccount } from "viem";
import { callNode } from "../../src/testing/json-rpc.js";

/** A call that a wallet was asked, by its method. */
export interface InjectedEvm {
  readonly asked: string[];
  /** What the person answers instead of yes, by method: a code of EIP-1193. */
  readonly declines: Map<string, number>;
  /** What the wallet answers in place of the truth, by method. */
  readonly answers: Map<string, (params: readonly unknown[]) => unknown>;
  /** Called before the wallet answers. */
  before: (method: string) => Promise<void> | void;
  chainId: number;
}

interface Call {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Announces a wallet to every document of the page. */
export async function injectEvmWallet(
  page: Page,
  account: PrivateKeyAccount,
  rpcUrl: string,
  { legacy = false, name = "Test Wallet" } = {},
): Promise<InjectedEvm> {
  const wallet: InjectedEvm = { asked: [], declines: new Map(), answers: new Map(), before: () => {}, chainId: 84532 };
  const client = createWalletClient({ account, transport: http(rpcUrl) });
  const answer = async ({ method, params = [] }: Call): Promise<unknown> => {
    const instead = wallet.answers.get(method);
    if (instead) return instead(params);
    switch (method) {
      case "eth_requestAccounts":
      case "eth_accounts":
        return [account.address];
      case "eth_chainId":
        return `0x${wallet.chainId.toString(16)}`;
      case "wallet_switchEthereumChain":
        wallet.chainId = Number((params[0] as { readonly chainId: string }).chainId);
        return null;
      case "personal_sign":
        return account.signMessage({ message: { raw: params[0] as Hex } });
      case "eth_signTypedData_v4":
        return account.signTypedData(JSON.parse(String(params[1])));
      case "eth_sendTransaction": {
        const { to, value, data, chainId } = params[0] as Readonly<Partial<Record<string, Hex>>> & { readonly to: Hex };
        // As wallets do: a transaction that names another network than theirs is not sent.
        if (chainId !== undefined && Number(chainId) !== wallet.chainId) throw new Error("invalid chain id");
        return client.sendTransaction({ chain: null, to, value: BigInt(value ?? 0), ...(data && { data }) });
      }
      default:
        return callNode(rpcUrl, method, params as unknown[]);
    }
  };
  await page.exposeFunction("askWallet", async (call: Call) => {
    wallet.asked.push(call.method);
    await wallet.before(call.method);
    const declined = wallet.declines.get(call.method);
    if (declined !== undefined) return { error: { code: declined, message: "declined in the test" } };
    try {
      return { result: await answer(call) };
    } catch (error) {
      return { error: { code: -32000, message: String(error) } };
    }
  });
  await page.addInitScript(`(${announceEvm.toString()})(${JSON.stringify({ legacy, name, icon: ICON })})`);
  return wallet;
}

/** Runs in the page, as text: the types are those of a browser, which the tests do not have. */
function announceEvm({ legacy, name, icon }: { legacy: boolean; name: string; icon: string }): void {
  const scope = globalThis as unknown as {
    askWallet(call: Call): Promise<{ result?: unknown; error?: { code: number; message: string } }>;
    ethereum?: unknown;
    CustomEvent: new (name: string, init: object) => Event;
    dispatchEvent(event: Event): void;
    addEventListener(name: string, listener: () => void): void;
  };
  const provider = {
    async request(call: Call) {
      const { result, error } = await scope.askWallet(call);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
  };
  if (legacy) {
    scope.ethereum = provider;
    return;
  }
  const detail = Object.freeze({ info: { uuid: "test-1", name, icon, rdns: "test.wallet" }, provider });
  const announce = () => scope.dispatchEvent(new scope.CustomEvent("eip6963:announceProvider", { detail }));
  scope.addEventListener("eip6963:requestProvider", announce);
  announce();
}

export interface InjectedSolana {
  readonly asked: string[];
  declines: boolean;
}

/** Registers a wallet by the wallet standard. */
export async function injectSolanaWallet(page: Page, keypair: Keypair): Promise<InjectedSolana> {
  const wallet: InjectedSolana = { asked: [], declines: false };
  await page.exposeFunction("askSolana", (method: string, base64?: string) => {
    wallet.asked.push(method);
    if (wallet.declines) return { error: "User rejected the request." };
    if (method === "connect") return { result: keypair.publicKey.toBase58() };
    if (method === "signMessage") return { result: signText(keypair, Buffer.from(base64 ?? "", "base64")) };
    const transaction = VersionedTransaction.deserialize(Buffer.from(base64 ?? "", "base64"));
    transaction.sign([keypair]);
    return { result: Buffer.from(transaction.serialize()).toString("base64") };
  });
  await page.addInitScript(`(${registerSolana.toString()})(${JSON.stringify(ICON)})`);
  return wallet;
}

/** PKCS #8 of an ed25519 seed is this and the seed. Source: RFC 8410. */
const SEED_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

function signText({ secretKey }: Keypair, bytes: Buffer): string {
  const der = Buffer.concat([SEED_HEAD, secretKey.subarray(0, 32)]);
  return sign(null, bytes, createPrivateKey({ key: der, format: "der", type: "pkcs8" })).toString("base64");
}

function registerSolana(icon: string): void {
  const scope = globalThis as unknown as {
    askSolana(method: string, base64?: string): Promise<{ result: string; error?: string }>;
    CustomEvent: new (name: string, init: object) => Event;
    dispatchEvent(event: Event): void;
    addEventListener(name: string, listener: (event: { detail: { register(wallet: object): void } }) => void): void;
  };
  const ask = async (method: string, base64?: string) => {
    const { result, error } = await scope.askSolana(method, base64);
    if (error !== undefined) throw new Error(error);
    return result;
  };
  const wallet = {
    version: "1.0.0",
    name: "Sun Wallet",
    icon,
    chains: ["solana:devnet"],
    accounts: [],
    features: {
      "standard:connect": {
        version: "1.0.0",
        connect: async () => ({ accounts: [{ address: await ask("connect"), chains: ["solana:devnet"] }] }),
      },
      "solana:signMessage": {
        version: "1.1.0",
        async signMessage({ message }: { message: Uint8Array }) {
          const signature = await ask("signMessage", btoa(String.fromCharCode(...message)));
          return [{ signedMessage: message, signature: Uint8Array.from(atob(signature), (one) => one.charCodeAt(0)) }];
        },
      },
      "solana:signTransaction": {
        version: "1.0.0",
        supportedTransactionVersions: [0],
        async signTransaction({ transaction }: { transaction: Uint8Array }) {
          const signed = await ask("signTransaction", btoa(String.fromCharCode(...transaction)));
          return [{ signedTransaction: Uint8Array.from(atob(signed), (one) => one.charCodeAt(0)) }];
        },
      },
    },
  };
  const callback = ({ register }: { register(wallet: object): void }) => register(wallet);
  scope.dispatchEvent(new scope.CustomEvent("wallet-standard:register-wallet", { detail: callback }));
  scope.addEventListener("wallet-standard:app-ready", ({ detail }) => callback(detail));
}

/** One blue dot. */
const ICON =
  "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxjaXJjbGUgY3g9IjQiIGN5PSI0IiByPSI0IiBmaWxsPSIjMjU2M2ViIi8+PC9zdmc+";
