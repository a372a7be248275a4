// A gateway that answers anything but the transaction that collects the payment: nothing is signed, announced or sent, the
// operator hears of it, and the payment stays as good as it was.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBytes, type Hex } from "../../src/chains/evm/hex.js";
import { type TransactionFields, writeTransaction } from "../../src/chains/evm/transaction.js";
import { readUnsigned } from "../../src/chains/evm/transfer-bytes.js";
import type { BoundProof } from "../../src/proof.js";
import type { Requirement } from "../../src/requirement.js";
import { eip3009Payer, evmTransferPayer, solPayer, splPayer } from "../../src/testing/index.js";
import { settleContext } from "../chains/evm/world.js";
import { REQUIREMENT, traceOf } from "../support/bound-proof.js";
import { answer, type ScriptedAnswer } from "../support/scripted-facilitator.js";
import { type Collecting, createCollecting, type Family, lie, withTransaction } from "./collecting.js";

let collecting: Collecting;
beforeAll(async () => {
  collecting = await createCollecting();
});
afterAll(() => collecting.close());

const STRANGER: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const BY_TRANSACTION = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;

async function usdc(): Promise<BoundProof> {
  const { evm, payTo, prove } = collecting;
  return prove({ ...REQUIREMENT, payTo: payTo.evm }, eip3009Payer(await evm.newBuyer()));
}

async function eth(): Promise<BoundProof> {
  const { evm, payTo, prove } = collecting;
  const account = await evm.newBuyer();
  await evm.native.setBalances([account.address], 10n ** 18n);
  const { extra: _, ...place } = REQUIREMENT;
  const requirement: Requirement = {
    ...{ ...place, method: "transaction", asset: "native", payTo: payTo.evm, confirmations: 1 },
    extra: BY_TRANSACTION,
  };
  return prove(requirement, evmTransferPayer(account, { rpcUrl: evm.rpcUrl }));
}

async function onSolana(method: "spl" | "transaction"): Promise<BoundProof> {
  const { solana, payTo, prove } = collecting;
  const { rpcUrl, caip2: network, usdc: mint } = solana;
  const common = { scheme: "exact", network, payTo: payTo.solana, maxTimeoutSeconds: 60 } as const;
  const wallet = await solana.newBuyer();
  if (method === "transaction") {
    const sol = {
      ...common,
      method,
      asset: "native",
      amount: 1_000_000n,
      extra: BY_TRANSACTION,
      confirmations: 1,
    } as const;
    return prove(sol, solPayer(wallet, { rpcUrl }));
  }
  const extra = { feePayer: payTo.solana, decimals: 6 };
  return prove({ ...common, method, asset: mint, amount: 10_000n, extra }, splPayer(wallet, { rpcUrl }));
}

/** The honest transaction with some of its members replaced. */
const withFields = (change: (fields: TransactionFields) => Partial<TransactionFields>): ScriptedAnswer =>
  withTransaction((bytes) => {
    const fields = readUnsigned(bytes);
    if (!fields) throw new Error("the honest gateway's transaction cannot be read");
    return writeTransaction({ ...fields, ...change(fields) });
  });

/** Settles against this one answer; nothing may come of it, and the next, honest one collects the payment. */
async function refuses(family: Family, proof: BoundProof, lied: ScriptedAnswer, said: RegExp): Promise<void> {
  const { gateway, open, alarms, sent, world } = collecting;
  alarms.length = 0;
  const left = sent(family);
  const receiver = open({ gateway: { baseUrl: gateway.url, apiKey: world.apiKey, timeoutMs: 6_000 } });
  gateway.script(lied);
  const context = settleContext(20_000);
  expect(await receiver.settle(proof, context)).toMatchObject({ outcome: "unavailable" });
  expect([sent(family), context.announced]).toEqual([left, []]);
  expect(alarms).toEqual([expect.stringMatching(said)]);
  const text = JSON.stringify(alarms);
  for (const secret of [world.apiKey, collecting.secrets.evm.slice(2), secretOf(proof)])
    expect(text).not.toContain(secret);
  const honest = settleContext(20_000);
  expect(await receiver.settle(proof, honest)).toMatchObject({ outcome: "settled" });
  expect(sent(family)).toBeGreaterThan(left);
}

/** What of a proof may never be read in a log. */
const secretOf = (proof: BoundProof): string =>
  proof.kind === "authorization" ? proof.signature.slice(2, 66) : proof.transaction.slice(8, 60);

const NOT_IT = /^The gateway's transaction is not what collects this payment/;

describe("an authorization is not collected by", () => {
  it.each<[string, ScriptedAnswer]>([
    ["a call to another contract", withFields(() => ({ to: STRANGER }))],
    ["a transaction that moves native currency", withFields(() => ({ value: 1n }))],
    ["calldata with another payee", withFields(({ data }) => ({ data: swapPayee(data) }))],
    ["calldata with more behind it", withFields(({ data }) => ({ data: `${data}00` }))],
    ["no calldata", withFields(() => ({ data: "0x" }))],
    ["more gas than a payment needs", withFields(() => ({ gas: 500_001n }))],
    ["less gas than it was simulated with", withFields(({ gas }) => ({ gas: gas - 1n }))],
    ["a transaction of another chain", withFields(() => ({ chainId: 8453n }))],
    ["gas at any price", withFields(() => ({ maxFeePerGas: 10n ** 12n + 1n }))],
    ["a tip above the whole", withFields(({ maxFeePerGas }) => ({ maxPriorityFeePerGas: maxFeePerGas + 1n }))],
    ["bytes that are no transaction", withTransaction(() => Uint8Array.of(2, 0xc0))],
    ["the bytes and one more", withTransaction((bytes) => Uint8Array.of(...bytes, 0))],
    ["no base64", lie((body) => ({ ...body, transaction: "0x02" }))],
    ["a transaction that needs no signature", lie((body) => ({ ...body, signatureRequired: false }))],
    ["one for another recipient", lie((body) => ({ ...body, recipient: STRANGER }))],
    ["one on another network", lie((body) => ({ ...body, network: "eip155:8453" }))],
    ["success as text", lie((body) => ({ ...body, success: "true" }))],
  ])("%s", async (_name, lied) => refuses("evm", await usdc(), lied, NOT_IT));

  it("the transaction of another payment", async () => {
    const { gateway } = collecting;
    let built: unknown;
    gateway.script(
      lie((body) => {
        built = body.transaction;
        return { ...body, success: false };
      }),
    );
    const receiver = collecting.open();
    expect(await receiver.settle(await usdc(), settleContext())).toMatchObject({ outcome: "unavailable" });
    expect(built).toBeTypeOf("string");
    await refuses(
      "evm",
      await usdc(),
      lie((body) => ({ ...body, transaction: built })),
      NOT_IT,
    );
  });
});

describe("a payment is not collected over", () => {
  it.each<[string, ScriptedAnswer, RegExp]>([
    ["a page", answer.html(), NOT_IT],
    ["nothing at all", answer.empty(), NOT_IT],
    ["a redirect", answer.redirect("http://127.0.0.1:9/"), NOT_IT],
    ["a path that is not there", answer.text("", 404), NOT_IT],
    ["a proxy's error", answer.html(502), NOT_IT],
    ["silence", answer.hang(), /^The gateway gives no transaction/],
    ["a connection that breaks", answer.reset(), /^The gateway gives no transaction/],
    ["half an answer", answer.cutOff(), /^The gateway gives no transaction/],
    ["an endless answer", answer.huge(), /^The gateway gives no transaction/],
    ["the gateway's own 503", refusal(503, "UNAVAILABLE"), /^The gateway gives no transaction/],
    ["a key that it refuses", refusal(401, "UNAUTHORIZED"), /^The gateway refuses the API key/],
    ["terms that it does not take", refusal(400, "INSUFFICIENT_BALANCE"), /^The gateway builds no transaction/],
  ])("%s", async (_name, lied, said) => refuses("evm", await usdc(), lied, said));
});

describe("what the buyer has signed is not collected by", () => {
  const flipped = withTransaction((bytes) => bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte)));
  const longer = withTransaction((bytes) => Uint8Array.of(...bytes, 0));
  const another =
    (other: () => Promise<BoundProof>): ScriptedAnswer =>
    async (exchange) => {
      const proof = await other();
      if (proof.kind !== "transaction") throw new Error("a transaction was to be signed");
      await withTransaction(() => Buffer.from(proof.transaction, "base64"))(exchange);
    };

  it.each<[string, Family, () => Promise<BoundProof>, ScriptedAnswer]>([
    ["another message (USDC on Solana)", "solana", () => onSolana("spl"), flipped],
    ["another buyer's message (USDC on Solana)", "solana", () => onSolana("spl"), another(() => onSolana("spl"))],
    ["more bytes (USDC on Solana)", "solana", () => onSolana("spl"), longer],
    ["other bytes (SOL)", "solana", () => onSolana("transaction"), flipped],
    ["another buyer's bytes (SOL)", "solana", () => onSolana("transaction"), another(() => onSolana("transaction"))],
    ["other bytes (ETH)", "evm", eth, flipped],
    ["more bytes (ETH)", "evm", eth, longer],
  ])("%s", async (_name, family, prove, lied) => refuses(family, await prove(), lied, NOT_IT));

  it("a transaction whose empty slot was filled is signed all the same: the buyer's message stands in it", async () => {
    const { gateway, open } = collecting;
    gateway.script(withTransaction((bytes) => bytes.map((byte, i) => (i > 0 && i < 65 ? 7 : byte))));
    expect(await open().settle(await onSolana("spl"), settleContext(20_000))).toMatchObject({ outcome: "settled" });
  });
});

describe("the gateway's word that a payment was collected already", () => {
  const used = lie((body) => ({ ...body, status: "confirmed", transaction: null, signatureRequired: false }));
  const refused = refusal(400, "INVALID_PAYMENT_PROOF", "already_used");

  it.each<[string, Family, () => Promise<BoundProof>, ScriptedAnswer, string]>([
    ["an authorization", "evm", usdc, used, "unknown"],
    ["an authorization (already_used)", "evm", usdc, refused, "unknown"],
    ["an authorization (409)", "evm", usdc, refusal(409, "CONFLICT"), "unknown"],
    ["USDC on Solana", "solana", () => onSolana("spl"), refused, "unavailable"],
    ["SOL", "solana", () => onSolana("transaction"), used, "unavailable"],
    ["ETH", "evm", eth, used, "unavailable"],
  ])(
    "is nothing without the chain's: %s is neither sent nor billed anew",
    async (_name, family, prove, lied, outcome) => {
      const { gateway, open, sent } = collecting;
      const [proof, left] = [await prove(), sent(family)];
      gateway.script(lied);
      const receiver = open();
      const context = settleContext(4_000);
      expect(await receiver.settle(proof, context)).toMatchObject({ outcome });
      expect([sent(family), context.announced]).toEqual([left, []]);
      const found = await receiver.lookup(traceOf(proof), AbortSignal.timeout(5_000));
      expect(found).toMatchObject({ outcome: "unknown" });
      expect(await receiver.settle(proof, settleContext(20_000))).toMatchObject({ outcome: "settled" });
    },
  );
});

/** An error in the gateway's own words. */
function refusal(status: number, code: string, path?: string): ScriptedAnswer {
  const details = path === undefined ? {} : { details: [{ path, message: "words" }] };
  return answer.json({ success: false, error: { code, message: "words", ...details } }, status);
}

/** The calldata with a stranger in place of the payee: the second word. */
function swapPayee(data: Hex): Hex {
  const bytes = Buffer.from(data.slice(2), "hex");
  bytes.set(Buffer.from(STRANGER.slice(2), "hex"), 4 + 32 + 12);
  return fromBytes(bytes);
}
