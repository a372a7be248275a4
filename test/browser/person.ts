// A person with an EVM wallet and one dollar, in a real Chromium, at a shop on a local chain: the one set-up of the page's tests,
// with what they count.
import type { Browser, Response } from "playwright-core";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { PaywallOptions } from "../../src/options.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { type FRAMEWORKS, openShop, type Shop, type Table } from "./shop.js";
import { type Visit, visit } from "./visit.js";
import { type InjectedEvm, injectEvmWallet } from "./wallets.js";

export const SIGN = "eth_signTypedData_v4";
export const SEND = "eth_sendTransaction";
/** Of everything, where a test says nothing else. */
export const PRICE = 10_000n;

export interface World {
  readonly sandbox: Sandbox;
  readonly browser: Browser;
}

/** One chain and one browser for the tests of a file; there from the first test on. */
export function useChainAndBrowser(): World {
  const world: { sandbox?: Sandbox; browser?: Browser } = {};
  beforeAll(async () => {
    if (reasonToSkip()) return;
    [world.sandbox, world.browser] = await Promise.all([createSandbox(), startChromium()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([world.browser?.close(), world.sandbox?.close()]);
  });
  return world as World;
}

export interface Person {
  readonly shop: Shop;
  readonly buyer: PrivateKeyAccount;
  readonly wallet: InjectedEvm;
  readonly at: Visit;
  open(path: string): Promise<Response | null>;
  pay(): Promise<void>;
  /** The bought page is there, and its own script ran. */
  bought(): Promise<void>;
  /** How often the wallet was asked this. */
  count(method: string): number;
  debits(): Promise<bigint[]>;
}

interface Wanted {
  readonly framework?: (typeof FRAMEWORKS)[number];
  readonly table?: Table;
  readonly options?: Partial<PaywallOptions>;
}

/** Closed with the test that wants it. */
export async function newPerson(
  { sandbox, browser }: World,
  { framework = "Express", table = { "/*": "$0.01" }, options = {} }: Wanted = {},
): Promise<Person> {
  const { payTo, network } = sandbox;
  const all = { payTo, network, receive: sandbox.receive(), ...options } as PaywallOptions;
  const shop = await openShop(framework, all, table);
  onTestFinished(() => shop.close());
  const buyer = await sandbox.newBuyer();
  const at = await visit(browser);
  const wallet = await injectEvmWallet(at.page, buyer, sandbox.rpcUrl);
  return {
    shop,
    buyer,
    wallet,
    at,
    open: (path) => at.page.goto(shop.origin + path),
    pay: () => at.button(/^Pay with/).click(),
    bought: async () => {
      try {
        await at.page.getByText("own script ran").waitFor();
      } catch (cause) {
        throw new Error(`the bought page did not come; the browser shows: ${await at.words()}`, { cause });
      }
    },
    count: (method) => wallet.asked.filter((one) => one === method).length,
    debits: async () => (await sandbox.token.transfers({ from: buyer.address })).map(({ value }) => value),
  };
}
