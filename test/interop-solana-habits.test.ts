// What each published x402 client asks of a Solana node, what it needs of an offer and what it then sends, written down and
// held: an offer or a node of ours that leaves one of them out fails here. The seller is a stand-in of the tests' own.
import { ComputeBudgetInstruction, type Keypair, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { TOKEN_2022_PROGRAM } from "../src/testing/solana/programs.js";
import { createSolanaSandbox, type SolanaSandbox } from "../src/testing/solana/sandbox.js";
import { BUYERS, type Buyer, buyOnSolanaWith, reasonToSkip } from "./support/published.js";
import { type RecordingRpc, startRecordingRpc } from "./support/recording-rpc.js";
import { type Offering, type StandInSeller, startStandInSeller } from "./support/stand-in-seller.js";

/** Each buyer is a process that loads much before it buys. */
vi.setConfig({ testTimeout: 90_000 });
const price = 10_000n; // "$0.01" in atomic USDC
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

/** How a buyer pays an offer whose `extra` holds the fee payer alone. None of them opens a WebSocket. */
interface Habit {
  /** The protocol versions that it reads; with both in one 402 it takes the second. */
  readonly versions: readonly (1 | 2)[];
  /** Its calls for one payment, in order. */
  readonly asks: readonly Ask[];
  /** The compute limit; `simulated` = one of some hundred units, as the simulation says. */
  readonly units: number | "simulated";
  /** Whether it writes a memo: the offer's, or 16 random bytes in hex. */
  readonly memo: boolean;
}
type Ask = "getAccountInfo" | "getLatestBlockhash" | "simulateTransaction";

const X402_1: Habit = {
  versions: [1],
  asks: ["getAccountInfo", "simulateTransaction", "getLatestBlockhash"],
  units: "simulated",
  memo: false,
};
const X402_2: Habit = { versions: [1, 2], asks: ["getAccountInfo", "getLatestBlockhash"], units: 20_000, memo: true };
const HABITS: Readonly<Record<Buyer, Habit>> = {
  "x402-fetch": X402_1,
  "x402-axios": X402_1,
  "x402-v2-fetch": X402_2,
  "x402-v2-axios": X402_2,
  faremeter: { versions: [1, 2], asks: ["getLatestBlockhash", "getAccountInfo"], units: 50_000, memo: true },
};
const each = BUYERS.flatMap((name) => HABITS[name].versions.map((version) => ({ name, version, ...HABITS[name] })));

let sandbox: SolanaSandbox;
let node: RecordingRpc;
let seller: StandInSeller;
let buyer: Keypair;

beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  node = await startRecordingRpc(sandbox.rpcUrl);
  seller = await startStandInSeller(sandbox, price);
});
afterAll(async () => {
  seller?.close();
  node?.close();
  await sandbox?.close();
});
beforeEach(async () => {
  buyer = await sandbox.newBuyer();
});

describe.skipIf(skipped)("a published buyer on Solana", () => {
  it.each(each)("$name reads version $version, needs a fee payer in the offer and nothing else", async (habit) => {
    const { name, version, asks, units, memo } = habit;
    const { bought, asked, sent } = await offered({ versions: [version], extra: {} }, name);
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } });
    expect(asked).toEqual(asks);
    expect(sent).toMatchObject({ unitPrice: 1n, instructions: memo ? 4 : 3 });
    expect(sent?.memo ?? "").toMatch(memo ? /^[0-9a-f]{32}$/ : /^$/);
    if (units === "simulated") expect(sent?.units).toBeLessThan(20_000);
    else expect(sent?.units).toBe(units);
  });

  it.each(each)(
    "$name, version $version, takes from a full offer what it can",
    async ({ name, version, asks, memo }) => {
      // Not the newest: kit asks at `confirmed`.
      const hint = await sandbox.connection().getLatestBlockhash("finalized");
      const lastValidBlockHeight = String(hint.lastValidBlockHeight);
      const hints = { decimals: 6, recentBlockhash: hint.blockhash, lastValidBlockHeight };
      const extra = memo ? { ...hints, memo: "order 7" } : hints;
      const { bought, asked, sent } = await offered({ versions: [version], extra }, name);
      expect(bought).toMatchObject({ status: 200, receipt: { success: true } });
      expect(sent?.memo).toBe(memo ? "order 7" : undefined);

      // @x402/svm looks at the blockhash in version 2 alone, and at the mint whatever the offer says: it wants its program.
      const spared: readonly Ask[] =
        name === "faremeter" ? asks : HABITS[name] === X402_2 && version === 2 ? ["getLatestBlockhash"] : [];
      expect(asked).toEqual(asks.filter((ask) => !spared.includes(ask)));
      expect(sent?.blockhash === hint.blockhash).toBe(spared.includes("getLatestBlockhash"));
    },
  );

  it.each(each.filter(({ memo }) => !memo))("$name cannot pay where the offer demands a memo", async ({ name }) => {
    const { bought, sent } = await offered({ versions: [1, 2], extra: { memo: "order 7" } }, name);
    expect(bought.status).toBe(402);
    expect(JSON.parse(bought.body)).toMatchObject({ reason: "memo_count", got: "0" });
    expect(sent).toBeUndefined();
  });

  it.each(each)("$name, version $version, finds its offer between those of other chains and assets", async (habit) => {
    const { bought } = await offered(
      { versions: [habit.version], extra: { decimals: 6 }, list: amongOthers },
      habit.name,
    );
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } });
  });

  it("faremeter without a node of its own lives on blockhash and decimals in the offer, and on nothing less", async () => {
    const { blockhash: recentBlockhash } = await sandbox.connection().getLatestBlockhash();
    const alone = (extra: Offering["extra"]) => offered({ versions: [1, 2], extra }, "faremeter", null);
    const { bought } = await alone({ recentBlockhash, decimals: 6 });
    expect(bought).toMatchObject({ status: 200, receipt: { success: true } });
    await expect(alone({ decimals: 6 })).rejects.toThrow("couldn't get the latest Solana network block hash");
    await expect(alone({ recentBlockhash })).rejects.toThrow("couldn't get the decimal information for the mint");
  });
});

describe.skipIf(skipped)("a published buyer and a mint of Token-2022", () => {
  beforeAll(() => {
    // At the address of USDC: @x402/fetch and @x402/axios pay with no other unless told.
    sandbox.chain.createMint({ address: sandbox.usdc, token2022: true });
    sandbox.chain.mintTo(sandbox.usdc, sandbox.seller, 0n);
  });

  it.each(BUYERS)("%s pays with it; faremeter alone must be told the program", async (name) => {
    buyer = await sandbox.newBuyer({ balance: 2n * price });
    const untold = await offered({ versions: [1, 2], extra: {} }, name);
    const told = await offered({ versions: [1, 2], extra: { tokenProgram: TOKEN_2022_PROGRAM } }, name);
    expect([untold.bought.status, told.bought.status]).toEqual([name === "faremeter" ? 500 : 200, 200]);
    const { usdc: left } = await sandbox.balances(buyer.publicKey.toBase58());
    expect(left).toBe(name === "faremeter" ? price : 0n);
  });
});

/** As a route of ours that takes USDC and the currencies of two chains would say it; version 1 knows no native currency. */
function amongOthers(offer: Readonly<Record<string, unknown>>, version: 1 | 2) {
  const network = version === 1 ? "base-sepolia" : "eip155:84532";
  const payTo = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
  const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
  const evm = { ...offer, network, payTo, asset, extra: { name: "USDC", version: "2" } };
  const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" };
  const eth = { ...evm, asset: "0x0000000000000000000000000000000000000000", extra };
  const sol = { ...offer, asset: "11111111111111111111111111111111", extra };
  return version === 1 ? [evm, offer] : [evm, offer, eth, sol];
}

/** One purchase, with the calls that it made and the transaction that was paid with; `null` = without a node. */
async function offered(offering: Offering, name: Buyer, rpcUrl: string | null = node.url) {
  node.take();
  seller.take();
  seller.offer(offering);
  const wallet = { secretKey: [...buyer.secretKey], ...(rpcUrl === null ? {} : { rpcUrl }) };
  const [bought] = await buyOnSolanaWith(name, [{ url: seller.url, method: "GET", ...wallet }]);
  const [paid] = seller.take();
  return { bought: bought!, asked: node.take(), sent: paid === undefined ? undefined : readPayment(paid) };
}

/** A payment as web3.js reads it. */
function readPayment(transaction: string) {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"));
  const { instructions, recentBlockhash: blockhash } = TransactionMessage.decompile(message);
  const [limit, priority, , memo] = instructions;
  const { units } = ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit!);
  const { microLamports: unitPrice } = ComputeBudgetInstruction.decodeSetComputeUnitPrice(priority!);
  return { instructions: instructions.length, units, unitPrice, blockhash, memo: memo?.data.toString("utf8") };
}
