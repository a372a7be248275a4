// Faults of Solana paywalls and their buyers, over HTTP on the real programs: compute limits, signature slots, stale hints,
// tokens that keep something back, accounts that are missing.
import { verify } from "node:crypto";
import { Keypair, type PublicKey, VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.js";
import type { Price } from "../../src/price.js";
import { facilitator } from "../../src/receive/facilitator.js";
import {
  createSolanaSandbox,
  type Offer,
  readChallenge,
  type SolanaSandbox,
  signPayment,
  splPayer,
} from "../../src/testing/index.js";
import { TOKEN_2022_PROGRAM } from "../../src/testing/solana/programs.js";
import { type Money, usdcOnSolana } from "../e2e/money.js";
import { type Framework, type Got, send, startSeller } from "../e2e/seller.js";
import { openWorld, type TransactionPayment, withPayload } from "../e2e/world.js";
import { startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnSolana } from "../support/settle-on-solana.js";

const FRAMEWORKS: readonly Framework[] = ["Express 5", "Hono"];
const LIMIT = "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction";
const refusalOf = ({ status, json }: Got) => [status, json.error, json.expected, json.got];

let sandbox: SolanaSandbox;
let money: Money<Omit<Parameters<typeof splPayer>[1], "rpcUrl">>;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
  money = usdcOnSolana(sandbox);
});
afterAll(() => sandbox?.close());

describe.each(FRAMEWORKS)("Solana on %s", (framework) => {
  it("F5: two equal payments of one wallet that carry no memo are one: the second buys nothing", async () => {
    const world = await openWorld(framework, money);
    const wallet = await sandbox.newBuyer();
    const { blockhash } = await sandbox.connection().getLatestBlockhash();
    const payer = splPayer(wallet, { rpcUrl: sandbox.rpcUrl, blockhash, memo: null });
    const [first, second] = await Promise.all([world.sign({ payer }), world.sign({ payer })]);
    expect(second.bytes).toEqual(first.bytes);
    expect((await world.buy(first)).status).toBe(200);
    const refused = await world.buy(second);
    expect([refused.status, refused.json.code]).toEqual([409, "payment_already_used"]);
    // A buyer of version 2 writes a memo of 16 random bytes, so it never comes to that.
    const own = splPayer(wallet, { rpcUrl: sandbox.rpcUrl, blockhash });
    const unlike = await Promise.all([world.sign({ payer: own }), world.sign({ payer: own })]);
    const bought = await Promise.all(unlike.map((payment) => world.buy(payment)));
    expect(bought.map(({ status }) => status)).toEqual([200, 200]);
    expect(await world.counters()).toEqual({ runs: 3, debits: 3, bodies: 3 });
    await world.close();
  });

  it("F82: limits up to the seller's cap are taken; none, or a higher one, is refused and told the cap", async () => {
    const world = await openWorld(framework, money);
    const buyWith = async (parts: Parameters<typeof money.newPayer>[0]) =>
      world.buy(await world.sign({ payer: await money.newPayer(parts) }));
    for (const units of [20_000, 60_000, 100_000, 200_000]) expect((await buyWith({ units })).status).toBe(200);
    for (const units of [200_001, 1_400_000]) {
      const facts = ["at most 200000 units", `${units}`];
      expect(refusalOf(await buyWith({ units }))).toEqual([402, `${LIMIT}_too_high`, ...facts]);
    }
    const none = await buyWith({ change: ([, ...others]) => others });
    expect(refusalOf(none)).toEqual([402, LIMIT, "SetComputeUnitLimit first", "computeBudget 3"]);
    expect(await world.counters()).toEqual({ runs: 4, debits: 4, bodies: 4 });
    await world.close();
  });

  it("F82: a buyer who chooses nothing passes a seller who allows no more than published buyers ask for", async () => {
    const receive = sandbox.receive({ maxComputeUnits: 20_000, maxUnitPrice: 1n, maxTotalFeeLamports: 10_001n });
    const world = await openWorld(framework, money, { receive });
    for (const version of [1, 2] as const) expect((await world.buy(await world.sign({ version }))).status).toBe(200);
    const dearer = await world.buy(await world.sign({ payer: await money.newPayer({ units: 20_001 }) }));
    expect(refusalOf(dearer)).toEqual([402, `${LIMIT}_too_high`, "at most 20000 units", "20001"]);
    expect(await world.counters()).toEqual({ runs: 2, debits: 2, bodies: 2 });
    await world.close();
  });

  it.each([
    ["v0", 1, false],
    ["v0", 2, false],
    ["legacy", 1, true],
    ["legacy", 2, true],
  ] as const)(
    "F83: the fee payer's slot is there and empty in %s messages of version %i",
    async (_, version, legacy) => {
      const feePayer = sandbox.feePayer.publicKey.toBase58();
      const kinds = [
        { x402Version: 2, scheme: "exact", network: sandbox.caip2, extra: { feePayer } },
        { x402Version: 1, scheme: "exact", network: sandbox.network, extra: { feePayer } },
      ];
      const remote = await startScriptedFacilitator({ settle: settleOnSolana(sandbox), kinds });
      const receive = facilitator({ url: remote.url, logger: silentLogger });
      const world = await openWorld(framework, money, { receive });
      const payment = await world.sign({ version, payer: await money.newPayer({ legacy }) });
      expect((await world.buy(payment)).status).toBe(200);
      const shown = remote.requests.filter(({ endpoint }) => endpoint !== "supported");
      expect(shown.map(({ endpoint }) => endpoint)).toEqual(["verify", "settle"]);
      for (const { body } of shown) {
        const { signatures, message } = VersionedTransaction.deserialize(bytesIn(body));
        expect([message.version, signatures.length]).toEqual([legacy ? "legacy" : 0, 2]);
        expect(signatures[0]).toEqual(new Uint8Array(64));
        expect(isSignedBy(message.staticAccountKeys[1]!, message.serialize(), signatures[1]!)).toBe(true);
      }
      expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
      await world.close();
      await remote.close();
    },
  );

  it("F83: a payment that leaves the fee payer's slot out is told so, and is no fault of the server", async () => {
    const world = await openWorld(framework, money);
    const payment = await world.sign();
    const [, ...rest] = payment.bytes;
    const short = Buffer.from([1, ...rest.slice(64)]).toString("base64");
    const got = await world.buy({ headers: withPayload(payment.headers, { transaction: short }) });
    expect([got.status, got.json.code]).toEqual([400, "payment_malformed"]);
    expect(String(got.json.got)).toMatch(/signatures/);
    expect((await world.buy(payment)).status).toBe(200);
    await world.close();
  });

  it("F85: a blockhash hint that is empty, no blockhash, or two minutes old stops nobody", async () => {
    const world = await openWorld(framework, money);
    const { blockhash: old } = await sandbox.connection().getLatestBlockhash();
    sandbox.chain.advanceSlots(300);
    for (const recentBlockhash of ["", "abc", old]) {
      const challenge = await readChallenge(await fetch(`${world.seller.url}/report`), 2);
      const [offer] = challenge.accepts;
      // None of our own making: whoever has no node of his own must know a node (protocol §4.1).
      expect(Object.keys(offer?.extra ?? {}).sort()).toEqual(["decimals", "feePayer"]);
      const hinted = { ...offer!, extra: { ...offer?.extra, recentBlockhash, lastValidBlockHeight: "1" } };
      const payment = await signPayment({ payer: await money.newPayer(), offer: hinted, version: 2, challenge });
      expect(blockhashOf(payment)).not.toBe(old);
      expect((await world.buy(payment)).status).toBe(200);
    }
    const stale = await world.buy(await world.sign({ payer: await money.newPayer({ blockhash: old }) }));
    expect([stale.status, stale.json.code]).toEqual([402, "payment_expired"]);
    expect(await world.counters()).toEqual({ runs: 3, debits: 3, bodies: 3 });
    await world.close();
  });

  it("F86: a Token-2022 mint that keeps back 1 % is refused at start, and its routes sell nothing", async () => {
    const mint = sandbox.chain.createMint({ token2022: true, transferFeeBps: 100 });
    const payTo = Keypair.generate().publicKey.toBase58();
    sandbox.chain.mintTo(mint, payTo, 0n);
    const price = { amount: "10000", asset: mint, decimals: 6, tokenProgram: TOKEN_2022_PROGRAM };
    const closed = await openSeller(framework, payTo, price);
    await expect(closed.seller.ready()).rejects.toThrow(/a transfer fee of 1 %.*allow: \["transfer-fee"\]/s);
    await closed.sellsNothing({ asset: mint, extra: { tokenProgram: TOKEN_2022_PROGRAM } });

    // With the seller's consent it is paid like any other, by the program that owns the mint.
    const tokens = [{ address: mint, allow: ["transfer-fee" as const] }];
    const open = await openSeller(framework, payTo, price, sandbox.receive({ tokens }));
    await open.seller.ready();
    const wallet = await sandbox.newBuyer();
    sandbox.chain.mintTo(mint, wallet.publicKey.toBase58(), 10_000n);
    const challenge = await readChallenge(await fetch(`${open.seller.url}/report`), 2);
    const payer = splPayer(wallet, { rpcUrl: sandbox.rpcUrl });
    const { headers } = await signPayment({ payer, offer: challenge.accepts[0]!, version: 2, challenge });
    expect((await send(`${open.seller.url}/report`, { headers }))?.status).toBe(200);
    expect(sandbox.chain.tokens(mint, wallet.publicKey.toBase58())).toBe(0n);
    await open.seller.close();
  });

  it("F87: a seller without a token account is told at start how to open it, and sells nothing", async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    const { seller, sellsNothing } = await openSeller(framework, payTo, "$0.01");
    await expect(seller.ready()).rejects.toThrow(
      new RegExp(`nothing at this address.*spl-token create-account ${sandbox.usdc} --owner ${payTo}`, "s"),
    );
    await sellsNothing();
    expect(sandbox.chain.tokens(sandbox.usdc, payTo)).toBe(0n);
  });
});

/** A seller who may not come to be ready, and the proof that until then nothing is sold to anybody. */
async function openSeller(framework: Framework, payTo: string, price: Price, receive = sandbox.receive()) {
  const seller = await startSeller(framework, { payTo, network: sandbox.network, receive }, price);
  return {
    seller,
    async sellsNothing({ asset = sandbox.usdc, extra: more }: Partial<Pick<Offer, "asset" | "extra">> = {}) {
      const extra = { feePayer: sandbox.feePayer.publicKey.toBase58(), decimals: 6, ...more };
      const offer: Offer = { ...OFFER, network: sandbox.caip2, asset, payTo, extra };
      const { headers } = await signPayment({ payer: await money.newPayer(), offer, version: 2 });
      for (const asked of [{}, { headers }]) {
        const got = await send(`${seller.url}/report`, asked);
        expect([got?.status, got?.json.code]).toEqual([503, "misconfigured"]);
      }
      expect(seller.runs).toHaveLength(0);
      await seller.close();
    },
  };
}

const OFFER = { scheme: "exact", amount: "10000", maxTimeoutSeconds: 60 };

/** The transaction in what a facilitator is shown. */
function bytesIn(body: unknown): Uint8Array {
  const { paymentPayload } = body as { paymentPayload: { payload: { transaction: string } } };
  return new Uint8Array(Buffer.from(paymentPayload.payload.transaction, "base64"));
}

const blockhashOf = ({ bytes }: Pick<TransactionPayment, "bytes">) =>
  VersionedTransaction.deserialize(bytes).message.recentBlockhash;

function isSignedBy(key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(key.toBytes()).toString("base64url");
  return verify(null, message, { key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }, signature);
}
