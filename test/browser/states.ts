// The states of the page, each with the shop it needs and the way that leads there.
import { Keypair } from "@solana/web3.js";
import { privateKeyToAccount } from "viem/accounts";
import type { PageOption } from "../../src/page-option.js";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Sandbox } from "../../src/testing/index.js";
import { openShop, type Shop, type Table } from "./shop.js";
import type { Visit } from "./visit.js";
import { type InjectedEvm, injectEvmWallet, injectSolanaWallet } from "./wallets.js";

export interface State {
  readonly table?: Table;
  readonly description?: string;
  readonly page?: PageOption;
  readonly receive?: (honest: Receiver) => Receiver;
  /** Both chains are offered. */
  readonly both?: boolean;
  /** The start-up checks fail. */
  readonly unready?: boolean;
  reach(at: Visit, world: { readonly shop: Shop; readonly sandbox: Sandbox }): Promise<void>;
}

const SELLER_ON_SOLANA = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const FEE_PAYER = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";

export function openStateShop(
  sandbox: Sandbox,
  { table, description, page, receive, both, unready }: State,
): Promise<Shop> {
  const honest = sandbox.receive();
  const { networks: _, ...everywhere } = honest;
  // Offers on two chains, without a second chain: nobody pays on it here.
  const offering: Receiver = { ...everywhere, feePayer: () => FEE_PAYER, ready: async () => ({ state: "ready" }) };
  const shared = {
    description: description ?? "The sales of this week, by region and product",
    ...(page !== undefined && { page }),
    receive: receive ? receive(honest) : both ? offering : honest,
    handlerTimeoutMs: 10_000,
  };
  const prices = table ?? { "/*": "$0.01" };
  if (!both) return openShop("Express", { ...shared, payTo: sandbox.payTo, network: sandbox.network }, prices, unready);
  const payTo = { evm: sandbox.payTo, solana: SELLER_ON_SOLANA };
  return openShop("Express", { ...shared, payTo, networks: ["base-sepolia", "solana-devnet"] }, prices);
}

const KEY = `0x${"17".repeat(32)}` as const;
const ACCOUNT = privateKeyToAccount(KEY);
const never = () => new Promise<void>(() => {});

async function withWallet(
  { page }: Visit,
  { shop, sandbox }: { shop: Shop; sandbox: Sandbox },
  path = "/html",
): Promise<InjectedEvm> {
  await sandbox.token.setBalances([ACCOUNT.address], 1_000_000n);
  const wallet = await injectEvmWallet(page, ACCOUNT, sandbox.rpcUrl, { name: "MetaTest" });
  await page.goto(shop.origin + path);
  await page.getByRole("button", { name: /^Pay with/ }).waitFor();
  return wallet;
}

/** Presses pay, and waits for these words. */
async function payUntil({ page, button }: Visit, words: string | RegExp): Promise<void> {
  await button(/^Pay with/).click({ noWaitAfter: true });
  await page.locator("#tg-status").getByText(words).first().waitFor();
}

const unknown = (honest: Receiver): Receiver => ({
  ...honest,
  settle: async () => ({ outcome: "unknown", message: "cut" }),
  lookup: async () => ({ outcome: "unknown", message: "cut" }),
});

export const STATES: Readonly<Record<string, State>> = {
  "a price": { reach: async (at, world) => void (await withWallet(at, world)) },
  "no wallet": {
    async reach({ page }, { shop }) {
      await page.goto(`${shop.origin}/html?week=48`);
      await page.getByText("No Ethereum wallet").waitFor();
    },
  },
  "a choice": {
    both: true,
    async reach(at, world) {
      await injectSolanaWallet(at.page, Keypair.fromSeed(new Uint8Array(32).fill(3)));
      await withWallet(at, world);
    },
  },
  connecting: {
    async reach(at, world) {
      const wallet = await withWallet(at, world);
      wallet.before = (method) => (method === "eth_requestAccounts" ? never() : undefined);
      await payUntil(at, "Connect your wallet");
    },
  },
  signing: {
    async reach(at, world) {
      const wallet = await withWallet(at, world);
      wallet.before = (method) => (method === "eth_signTypedData_v4" ? never() : undefined);
      await payUntil(at, "Sign in your wallet");
    },
  },
  settling: {
    table: { "/*": "0.0002 ETH" },
    async reach(at, world) {
      await world.sandbox.native.mint(ACCOUNT.address, 10n ** 18n);
      const wallet = await withWallet(at, world);
      wallet.before = (method) => (method === "eth_getTransactionReceipt" ? never() : undefined);
      await payUntil(at, "is on its way");
    },
  },
  declined: {
    async reach(at, world) {
      (await withWallet(at, world)).declines.set("eth_signTypedData_v4", 4001);
      await payUntil(at, "You declined to sign");
    },
  },
  "the wrong chain": {
    async reach(at, world) {
      const wallet = await withWallet(at, world);
      wallet.chainId = 1;
      wallet.declines.set("wallet_switchEthereumChain", 4001);
      await payUntil(at, "This price is paid on Base Sepolia");
    },
  },
  "no money": {
    async reach(at, world) {
      await withWallet(at, world);
      await world.sandbox.token.setBalances([ACCOUNT.address], 12n);
      await payUntil(at, "Not enough money");
    },
  },
  "an outcome that is not known": {
    receive: unknown,
    async reach(at, world) {
      await keepAsItIs(at);
      await withWallet(at, world);
      await payUntil(at, "The same payment is sent again in a moment");
    },
  },
  "tired of asking": {
    receive: unknown,
    async reach(at, world) {
      await keepAsItIs(at);
      await withWallet(at, world);
      await payUntil(at, "The same payment is sent again in a moment");
      await tire(at);
      await at.page.getByText("is sent again when you say so").waitFor();
    },
  },
  "paid, a download": {
    async reach(at, world) {
      await withWallet(at, world, "/download");
      await payUntil(at, "Paid: 0.01 USDC.");
    },
  },
  "bought before": {
    async reach(at, world) {
      await withWallet(at, world);
      await at.button(/^Pay with/).click();
      await at.page.getByText("own script ran").waitFor();
      // Longer ago than its answer is kept.
      await at.page.context().addCookies([{ name: "other", value: "1", url: world.shop.origin }]);
      await at.page.reload();
      await at.page.getByText("You have bought this before").waitFor();
    },
  },
  refused: {
    receive: (honest) => ({ ...honest, verify: async () => ({ outcome: "invalid", code: "payment_rejected" }) }),
    async reach(at, world) {
      await withWallet(at, world);
      await payUntil(at, "Nothing was taken.");
    },
  },
  "a lost transfer": {
    table: { "/*": "0.0002 ETH" },
    async reach(at, world) {
      await world.sandbox.native.mint(ACCOUNT.address, 10n ** 18n);
      const wallet = await withWallet(at, world);
      wallet.declines.set("eth_sendTransaction", -32603);
      await payUntil(at, "A transfer of 0.0002 ETH was begun here");
    },
  },
  "a seller who cannot sell": {
    receive: (honest) => ({
      ...honest,
      ready: async () => ({ state: "misconfigured", problems: [{ check: "x", expected: "a", got: "b", remedy: "c" }] }),
    }),
    unready: true,
    async reach({ page }, { shop }) {
      await page.goto(`${shop.origin}/html`);
      await page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  "a brand": {
    page: {
      name: "The Weekly Ledger",
      color: "#7c3aed",
      logo: `data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="#7c3aed"/><path d="M2 6V2h1v3h3v1z" fill="#fff"/></svg>')}`,
    },
    reach: async (at, world) => void (await withWallet(at, world)),
  },
  "a pale brand": {
    page: { name: "Snow & Paper", color: "#fefce8" },
    both: true,
    reach: async (at, world) => void (await withWallet(at, world)),
  },
  "a dark brand": {
    page: { name: "Night Papers", color: "#0b1220" },
    async reach(at, world) {
      (await withWallet(at, world)).before = (method) => (method === "eth_requestAccounts" ? never() : undefined);
      await at.button(/^Pay with/).focus();
    },
  },
  "Arabic and emoji": {
    description: "تقرير المبيعات الأسبوعي حسب المنطقة والمنتج 📈🧾",
    page: { name: "متجر الأخبار" },
    reach: async (at, world) => void (await withWallet(at, world)),
  },
  "long words": {
    table: {
      "/*": {
        price: {
          amount: "123456789012345678901234567",
          asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
          network: "base-sepolia",
        },
      },
    },
    description: `${"Donaudampfschifffahrtsgesellschaft".repeat(6)} and ${"so on ".repeat(30)}`,
    page: { name: "W".repeat(80) },
    reach: async (at, world) => void (await withWallet(at, world, `/${"long".repeat(40)}`)),
  },
};

/** The page sends nothing again by itself, which takes it a second or more: else it might be loaded anew at any moment. */
async function keepAsItIs({ page }: Visit): Promise<void> {
  await page.addInitScript(`{
    const { setTimeout } = window;
    window.setTimeout = (run, ms, ...rest) => (ms >= 1000 ? 0 : setTimeout(run, ms, ...rest));
  }`);
}

/** As after six tries, without the waiting. */
async function tire({ page }: Visit): Promise<void> {
  await page.evaluate(`(() => {
    const [key] = Object.keys(localStorage);
    localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), tries: 6 }));
  })()`);
  await page.reload();
}
