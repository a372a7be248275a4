// The published buyers buy from sellers of ours that receive through this gateway, on both chains: by `hosted()`, and by
// `facilitator()`, which knows the gateway as it knows any other facilitator.
import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { facilitator } from "../../src/receive/facilitator.js";
import { hosted } from "../../src/receive/hosted.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { BUYERS, type Buyer, buyOnSolanaWith, buyWith, reasonToSkip } from "../support/published.js";
import { type PublishedSeller, SELLERS } from "../support/published-sellers.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

/** Each buyer is a process that loads much before it buys. */
vi.setConfig({ testTimeout: 90_000 });
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);
/** "$0.01" in atomic USDC. */
const PRICE = 10_000n;
const FAMILIES = ["evm", "solana"] as const;
type Family = (typeof FAMILIES)[number];

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let apiKey: string;
beforeAll(async () => {
  if (skipped) return;
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  world = await createGatewayWorld({ chains: { evm, solana } });
  apiKey = await world.newKey({ account: await world.newAccount("seller"), scopes: ["receive"] });
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

const RECEIVERS: readonly (readonly [name: string, open: () => Receiver])[] = [
  ["hosted", () => hosted({ baseUrl: world.url, apiKey })],
  ["facilitator", () => facilitator({ url: world.url, headers: { Authorization: `Bearer ${apiKey}` } })],
];
/** Each receiver on a framework of its own: which one it is makes no difference here, and others test that. */
const CASES = RECEIVERS.flatMap(([name, open], index) => {
  const [framework, start] = SELLERS[index] ?? [];
  return start ? FAMILIES.map((family) => ({ name, open, framework, start, family })) : [];
});

describe.skipIf(skipped).each(CASES)("a seller behind $name on $framework, paid on $family", (kind) => {
  const { open, start, family } = kind;
  let seller: PublishedSeller;
  let payTo: string;

  beforeAll(async () => {
    payTo = family === "evm" ? privateKeyToAddress(generatePrivateKey()) : Keypair.generate().publicKey.toBase58();
    if (family === "solana") await solana.token.mint(payTo, 0n);
    const { network } = family === "evm" ? evm : solana;
    seller = await start("$0.01", { payTo, network, receive: open() });
  });
  afterAll(() => seller?.close());

  it.each(BUYERS)("sells to %s for a GET and for a POST, once each", async (buyer) => {
    const [runs, paid] = [seller.runs(), (await debits(family, payTo)).length];
    const order = { query: "weather", days: 3 };
    const [get, post] = await purchase(family, buyer, [
      { url: seller.url, method: "GET" },
      { url: `${seller.url}?page=2`, method: "POST", body: order },
    ]);
    for (const got of [get, post]) expect(got).toMatchObject({ status: 200, receipt: { success: true } });
    expect(JSON.parse(get?.body ?? "")).toMatchObject({ method: "GET", body: null });
    expect(JSON.parse(post?.body ?? "")).toMatchObject({ method: "POST", body: order });
    expect(post?.receipt?.transaction).not.toBe(get?.receipt?.transaction);
    expect(seller.runs() - runs).toBe(2);
    expect((await debits(family, payTo)).slice(paid)).toEqual([PRICE, PRICE]);
  });
});

const debits = async (family: Family, to: string): Promise<readonly bigint[]> =>
  (await (family === "evm" ? evm.token.transfers({ to: getAddress(to) }) : solana.token.transfers({ to }))).map(
    ({ value }) => value,
  );

interface Errand {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly body?: unknown;
}

/** One buyer with money of its own. */
async function purchase(family: Family, buyer: Buyer, errands: readonly Errand[]) {
  if (family === "evm") {
    const privateKey = generatePrivateKey();
    await evm.token.setBalances([privateKeyToAddress(privateKey)], 1_000_000n);
    return buyWith(
      buyer,
      errands.map((errand) => ({ ...errand, privateKey })),
    );
  }
  const wallet = { secretKey: [...(await solana.newBuyer()).secretKey], rpcUrl: solana.rpcUrl };
  return buyOnSolanaWith(
    buyer,
    errands.map((errand) => ({ ...errand, ...wallet })),
  );
}
