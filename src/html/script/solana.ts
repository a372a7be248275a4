// Pays with a Solana wallet of this browser, found and asked by the wallet standard. The server makes the transaction, because
// the page may ask no node for a blockhash; the wallet shows what is in it, and the person signs it or does not.
import type { PageData } from "../page-data.js";
import type { Asked } from "./evm.js";
import { done, type Result, stop } from "./result.js";

interface Account {
  readonly address: string;
}

interface StandardWallet {
  readonly name: string;
  readonly icon?: string;
  readonly chains: readonly string[];
  readonly accounts: readonly Account[];
  readonly features: Readonly<Record<string, unknown>>;
}

interface Features {
  readonly "standard:connect"?: { connect(): Promise<{ readonly accounts: readonly Account[] }> };
  readonly "solana:signTransaction"?: {
    signTransaction(...inputs: readonly object[]): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
  };
}

export interface SolanaWallet {
  readonly family: "solana";
  readonly name: string;
  readonly icon: string | undefined;
  readonly wallet: StandardWallet;
}

/** Clusters by the names of the wallet standard. */
const CLUSTERS: Readonly<Record<string, string>> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana:mainnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "solana:devnet",
  "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z": "solana:testnet",
};

/** Calls back for every wallet that can sign transactions of Solana, now or later. */
export function findSolanaWallets(found: (wallet: SolanaWallet) => void): void {
  const known = new Set<StandardWallet>();
  const register = (...wallets: readonly StandardWallet[]) => {
    for (const wallet of wallets) {
      if (known.has(wallet)) continue;
      known.add(wallet);
      const { "standard:connect": connect, "solana:signTransaction": sign } = wallet.features as Features;
      const icon = wallet.icon?.startsWith("data:image/") ? wallet.icon : undefined;
      if (connect && sign && wallet.chains.some((chain) => chain.startsWith("solana:"))) {
        found({ family: "solana", name: wallet.name, icon, wallet });
      }
    }
    return () => {};
  };
  const api = Object.freeze({ register });
  addEventListener("wallet-standard:register-wallet", (event) => {
    (event as CustomEvent<(given: typeof api) => void>).detail(api);
  });
  dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
}

/** @param draft asks the server for the unsigned transaction of this payer */
export async function payBySolana(
  { wallet }: SolanaWallet,
  { offer, step }: Asked,
  draft: (payer: string) => Promise<Result<PageData>>,
): Promise<Result<object>> {
  const { "standard:connect": connecting, "solana:signTransaction": signing } = wallet.features as Features;
  step(0, "Connect your wallet: it asks you now.");
  const accounts = await asked(async () => (await connecting?.connect())?.accounts ?? wallet.accounts, "to connect");
  if (!accounts.ok) return accounts;
  const [account] = accounts.value;
  if (!account) return stop("Your wallet shows no account. Unlock it and try again.");
  const fresh = await draft(account.address);
  if (!fresh.ok) return fresh;
  const made = fresh.value.draft;
  if (!made || "problem" in made) return stop(made?.problem ?? "This seller cannot be paid on Solana from a browser.");
  step(1, `Sign in your wallet: ${offer.price}, and nothing else.`);
  const transaction = Uint8Array.from(atob(made.transaction), (character) => character.charCodeAt(0));
  const chain = CLUSTERS[offer.given.network] ?? offer.given.network;
  const signed = await asked(
    async () => (await signing?.signTransaction({ account, transaction, chain }))?.[0]?.signedTransaction,
    "to sign. Nothing was taken",
  );
  if (!signed.ok) return signed;
  if (!signed.value) return stop("Your wallet gave no signed transaction. Nothing was taken.");
  return done({ transaction: btoa(String.fromCharCode(...signed.value)) });
}

/** `what`: how the question is called in the words of a refusal. */
export async function asked<Value>(run: () => Promise<Value>, what: string): Promise<Result<Value>> {
  try {
    return done(await run());
  } catch (error) {
    const { code, message } = Object(error) as { readonly code?: number; readonly message?: string };
    if (code === 4001 || /reject|declin|cancel/i.test(message ?? "")) return stop(`You declined ${what}.`, "declined");
    return stop(`Your wallet could not do it: ${message ?? String(error)}`);
  }
}
