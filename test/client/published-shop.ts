// A published seller on both local chains, with a gateway of ours as its facilitator, and one wallet for each chain that buys there.
import { createHash } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { onTestFinished } from "vitest";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { type PayingFetch, payingFetch } from "../../src/client/paying-fetch.js";
import { solanaWallet } from "../../src/client/solana-wallet.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { type Server, startPublishedServer } from "../support/published.js";

export interface Street {
  readonly evm: Sandbox;
  readonly solana: SolanaSandbox;
  readonly world: GatewayWorld;
  close(): Promise<void>;
}

export async function openStreet(): Promise<Street> {
  const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const world = await createGatewayWorld({ chains: { evm, solana } });
  return {
    ...{ evm, solana, world },
    async close() {
      await world.close();
      await Promise.all([evm.close(), solana.close()]);
    },
  };
}

export type Family = "evm" | "solana";

/** What the seller tells of the request that was paid for. */
export interface Goods {
  readonly method: string;
  readonly contentType: string | null;
  readonly sha256: string;
}

export interface Shop {
  readonly url: (family: Family) => string;
  readonly runs: () => Promise<number>;
  /** Atomic units of each debit that went to this shop. */
  readonly debits: (family: Family) => Promise<readonly bigint[]>;
}

/** Ends with the test. */
export async function openShop({ evm, solana, world }: Street, server: Server): Promise<Shop> {
  const payees = {
    evm: privateKeyToAddress(generatePrivateKey()),
    solana: Keypair.generate().publicKey.toBase58(),
  };
  await solana.token.mint(payees.solana, 0n);
  const apiKey = await world.newKey({ scopes: ["receive"] });
  const running = await startPublishedServer(server, { facilitatorUrl: world.url, apiKey, ...payees });
  onTestFinished(() => running.stop());
  const origin = running.firstLine;
  return {
    url: (family) => `${origin}/${family}`,
    runs: async () => (await fetch(`${origin}/runs`)).json() as Promise<number>,
    async debits(family) {
      const transfers =
        family === "evm"
          ? await evm.token.transfers({ to: getAddress(payees.evm) })
          : await solana.token.transfers({ to: payees.solana });
      return transfers.map(({ value }) => value);
    },
  };
}

/** Buys with a wallet of its own on each chain; the seller's offers decide. */
export async function newBuyer({ evm, solana }: Pick<Street, "evm" | "solana">): Promise<PayingFetch> {
  const [account, keypair] = await Promise.all([evm.newBuyer(), solana.newBuyer()]);
  return payingFetch({
    wallets: [evmWallet(account), solanaWallet(keypair, { rpcUrl: solana.rpcUrl })],
    budget: { perRequest: "$0.01", perDay: "$1" },
  });
}

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
