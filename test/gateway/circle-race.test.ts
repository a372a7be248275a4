// One payment shown at many places at once: sellers and servers who share nothing but the gateway hand out the goods once between
// them, whoever comes first, and the money moves once.
import { Keypair } from "@solana/web3.js";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { hosted } from "../../src/receive/hosted.js";
import { readChallenge, signPayment } from "../../src/testing/index.js";
import { type Seller, send, startSeller } from "../e2e/seller.js";
import { olderStore } from "../e2e/world.js";
import type { Running } from "../support/process.js";
import { reasonToSkip, SERVERS, startPublishedServer } from "../support/published.js";
import { outliveFirstSecond } from "./first-second.js";
import { type Kind, onEvm, onSolana } from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

const COPIES = 20;
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

let world: BothWorld;
let apiKey: string;
let account: string;
beforeAll(async () => {
  world = await createBothWorld();
  account = await world.newAccount("seller");
  apiKey = await world.newKey({ account, scopes: ["receive"] });
  await outliveFirstSecond(world.solana);
});
afterAll(() => world?.close());

/** One payment of version 1, which has no retry key, for what is sold there. */
async function sign(kind: Kind, url: string): Promise<Readonly<Record<string, string>>> {
  const { version } = kind;
  const challenge = await readChallenge(await fetch(url), version);
  const payer = await kind.newPayer();
  const offer = challenge.accepts.find((one) => payer.takes(one));
  if (!offer) throw new Error("the 402 holds no offer that this buyer can pay");
  return (await signPayment({ payer, offer, version, challenge })).headers;
}

/** Shows the payment to all of them at once, in turn; then once more to each. Who got the goods, and how often. */
async function showAll(urls: readonly string[], headers: Readonly<Record<string, string>>): Promise<number> {
  const show = (url: string) => send(url, { headers });
  const first = await Promise.all(Array.from({ length: COPIES }, (_, copy) => show(urls[copy % urls.length] ?? "")));
  const later = await Promise.all(urls.map(show));
  return [...first, ...later].filter((got) => got?.status === 200).length;
}

const KINDS: readonly (readonly [string, string, () => Kind])[] = [
  ["USDC on EVM", "$0.01", () => onEvm(world.evm, "usdc", 1)],
  ["USDC on Solana", "$0.01", () => onSolana(world.solana, "usdc", 1)],
  ["ETH", "0.0002 ETH", () => onEvm(world.evm, "eth", 1)],
  ["SOL", "0.001 SOL", () => onSolana(world.solana, "sol", 1)],
];

describe("two sellers behind hosted() with stores of their own", () => {
  const sellers: Seller[] = [];
  afterEach(async () => {
    for (const seller of sellers.splice(0)) await seller.close();
  });

  it.each(KINDS)("sell once between them for one payment in %s that both are shown", async (_name, price, kindOf) => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    for (const framework of ["Express 5", "Hono"] as const) {
      const receive = hosted({ baseUrl: world.url, apiKey, logger: silentLogger });
      const options = { payTo, network: kind.network, receive, store: olderStore() };
      sellers.push(await startSeller(framework, options, price));
    }
    await Promise.all(sellers.map((seller) => seller.ready()));
    const urls = sellers.map(({ url }) => `${url}/report`);
    expect(await showAll(urls, await sign(kind, urls[0] ?? ""))).toBe(1);
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});

describe.skipIf(skipped).each(SERVERS)(
  "two published servers of %s with this gateway as their facilitator",
  (server) => {
    const running: Running[] = [];
    afterEach(async () => {
      for (const one of running.splice(0)) await one.stop();
    });

    it.each(["evm", "solana"] as const)(
      "sell once between them on %s for one payment that both are shown",
      async (family) => {
        const payees = {
          evm: privateKeyToAddress(generatePrivateKey()),
          solana: Keypair.generate().publicKey.toBase58(),
        };
        await world.solana.token.mint(payees.solana, 0n);
        const terms = { facilitatorUrl: world.url, apiKey, ...payees };
        running.push(
          ...(await Promise.all([startPublishedServer(server, terms), startPublishedServer(server, terms)])),
        );
        const version = server === "x402-express" ? 1 : 2;
        const kind = family === "evm" ? onEvm(world.evm, "usdc", version) : onSolana(world.solana, "usdc", version);
        const urls = running.map(({ firstLine }) => `${firstLine}/${family}`);
        expect(await showAll(urls, await sign(kind, urls[0] ?? ""))).toBe(1);
        expect(await kind.received(payees[family])).toEqual([kind.units]);
      },
      90_000,
    );
  },
);
