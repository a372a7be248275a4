// What runs in the page: a buyer with a key of its own, driven by the test through `window.bundled`. What it is asked for and what
// it answers is text, so that it passes between the two.
import { createWalletClient, custom } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { BuyerError, evmWallet, payingFetch, solanaWallet } from "../../src/client/index.js";

export interface Errand {
  readonly url: string;
  readonly init?: RequestInit;
  readonly evmKey?: `0x${string}`;
  readonly solana?: { readonly secret: string; readonly rpcUrl: string };
  /** The account is reached as a browser's wallet is: through its provider. */
  readonly injected?: boolean;
}

export interface Outcome {
  readonly status?: number;
  readonly body?: string;
  /** `code money`. */
  readonly error?: string;
  readonly transactions: readonly (string | undefined)[];
}

const buyers = new Map<string, ReturnType<typeof payingFetch>>();

function buyerOf({ evmKey, solana, injected }: Errand): ReturnType<typeof payingFetch> {
  const id = JSON.stringify([evmKey, solana, injected]);
  const made = buyers.get(id) ?? createBuyer(evmKey, solana, injected);
  buyers.set(id, made);
  return made;
}

function createBuyer(evmKey: Errand["evmKey"], solana: Errand["solana"], injected: boolean | undefined) {
  const account = evmKey && privateKeyToAccount(evmKey);
  return payingFetch({
    wallets: [
      ...(account ? [evmWallet(injected ? walletClient(account) : account)] : []),
      ...(solana ? [solanaWallet(solana.secret, { rpcUrl: solana.rpcUrl })] : []),
    ],
    budget: { perRequest: "$0.01", perDay: "$1" },
    resend: { times: 1, maxDelayMs: 50 },
  });
}

/** An EIP-1193 provider that signs with the key, as an extension does. */
function walletClient(account: ReturnType<typeof privateKeyToAccount>) {
  return createWalletClient({
    account: account.address,
    transport: custom({
      async request({ method, params }: { method: string; params: [string, string] }) {
        if (method !== "eth_signTypedData_v4") throw new Error(`the provider knows no ${method}`);
        return account.signTypedData(JSON.parse(params[1]));
      },
    }),
  });
}

export async function buy(errand: Errand): Promise<Outcome> {
  const pay = buyerOf(errand);
  const receipts = async () => (await pay.receipts()).map(({ transaction }) => transaction);
  try {
    const response = await pay(errand.url, errand.init);
    return { status: response.status, body: await response.text(), transactions: await receipts() };
  } catch (error) {
    const known = error instanceof BuyerError;
    return { error: known ? `${error.code} ${error.money}` : String(error), transactions: await receipts() };
  }
}
