// What a paywall would refuse, `tollgate explain` does not call right; what is told as paid is what was signed; and no part of a
// signature is repeated, wherever it was put.
import { PublicKey } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { decodeProof } from "../../src/proof.js";
import { encodeHeader } from "../../src/wire/header.js";
import * as sol from "../chains/solana/native-payment.js";
import * as spl from "../chains/solana/payment.js";
import { run } from "./cli.js";
import { asV1, explainHeader, OFFER, payment, RESOURCE } from "./explaining.js";

const TOKEN = {
  scheme: "exact",
  network: spl.TERMS.network,
  amount: "10000",
  asset: spl.TERMS.mint,
  payTo: spl.TERMS.payTo,
  maxTimeoutSeconds: 60,
  extra: { feePayer: spl.TERMS.feePayer, decimals: 6 },
};
const tell = (accepted: object, payload: object) =>
  explainHeader("PAYMENT-SIGNATURE", { x402Version: 2, accepted, resource: RESOURCE, payload });

describe("what was signed is held against what was accepted", () => {
  it("a transaction that moves SOL pays no offer in USDC", async () => {
    const [payer, payee] = [sol.keyOf(7), sol.keyOf(8).publicKey];
    const blockhash = new PublicKey(Buffer.alloc(32, 9)).toBase58();
    const transaction = sol.encode(sol.sign(payer, [sol.transfer(payer.publicKey, payee, 10_000n)], { blockhash }));
    const extra = { ...TOKEN.extra, assetTransferMethod: "transaction" };
    const { code, flaws, found } = await tell({ ...TOKEN, payTo: payee.toBase58(), extra }, { transaction });
    expect([code, flaws]).toEqual([
      1,
      [`payload.transaction: expected a transfer of ${spl.TERMS.mint}, got a transfer of native`],
    ]);
    expect(found[0]?.says).toContain("Pays 0.00001 SOL on solana-devnet to ");
    expect(found[0]?.facts.accepted).toBe("0.01 USDC");
  });

  it.each([
    ["amount", { amount: 9_999n }, /expected 10000, got 9999/, "Pays 0.009999 USDC"],
    ["payee", { destination: spl.ata(spl.STRANGER.key) }, /recipient_mismatch/, "Pays 0.01 USDC"],
  ] as const)("another %s on Solana, whatever else the offer leaves out", async (_name, move, flaw, says) => {
    const transaction = spl.pay([spl.limit(20_000), spl.price(1n), spl.transfer(move)]);
    for (const accepted of [
      { ...TOKEN, scheme: "upto", extra: {} },
      { ...TOKEN, extra: { feePayer: null } },
      { ...TOKEN, extra: { feePayer: "nobody" } },
    ]) {
      const { code, flaws, found } = await tell(accepted, { transaction });
      expect([code, flaws]).toEqual([1, expect.arrayContaining([expect.stringMatching(flaw)])]);
      expect(found[0]?.says).toContain(says);
    }
  });

  it("names the account that is paid where it is not the payee's", async () => {
    const destination = spl.ata(spl.STRANGER.key);
    const { found } = await tell(TOKEN, {
      transaction: spl.pay([spl.limit(20_000), spl.price(1n), spl.transfer({ destination })]),
    });
    expect(found[0]?.says).toContain(`to the owner of ${destination.toBase58()} `);
  });

  it.each([
    [{ permit2Authorization: { amount: "999999999" } }, "permit2Authorization, which cannot"],
    [{ delegationManager: "0x12" }, "delegationManager, which cannot"],
  ])("%j cannot be checked, so that nothing is told as paid", async (payload, got) => {
    const { code, flaws, found } = await tell(OFFER, payload);
    expect([code, flaws]).toEqual([
      1,
      [`payload: expected an authorization or a transaction, which can be checked, got ${got}`],
    ]);
    expect(found[0]?.says).toBe("Pays what cannot be read on base-sepolia (x402 version 2)");
    expect(found[0]?.facts).not.toHaveProperty("price");
  });
});

describe("what a paywall refuses is a flaw", () => {
  it.each([
    ["a resource that is a text", { resource: "x" }, "resource: expected object, got "],
    ["a resource whose URL is a number", { resource: { url: 0 } }, "resource.url: expected string, got 0"],
    ["extensions that are a list", { extensions: [] }, "extensions: expected object, got a list of 0"],
    ["another scheme", { accepted: { ...OFFER, scheme: "exct" } }, 'accepted.scheme: expected exact, got "exct"'],
    ["no scheme", { accepted: { ...OFFER, scheme: "" } }, "accepted.scheme: expected "],
  ])("version 2: %s", async (_name, change, flaw) => {
    const made = { ...(await payment()), ...change };
    expect(decodeProof({ v1: undefined, v2: encodeHeader(made), idempotencyKey: undefined }).ok).toBe(false);
    const { code, flaws } = await explainHeader("PAYMENT-SIGNATURE", made);
    expect([code, flaws]).toEqual([1, [expect.stringContaining(flaw)]]);
  });

  it.each(["exct", "", 7])("version 1: scheme %j", async (scheme) => {
    const made = { ...asV1(await payment()), scheme };
    expect(decodeProof({ v1: encodeHeader(made), v2: undefined, idempotencyKey: undefined }).ok).toBe(false);
    const { code, flaws } = await explainHeader("X-PAYMENT", made);
    expect([code, flaws]).toEqual([1, [`scheme: expected exact, got ${JSON.stringify(scheme)}`]]);
  });

  it("a text of ninety letters that is no id of a transaction on Solana", async () => {
    const native = { ...TOKEN, asset: "1".repeat(32), extra: { assetTransferMethod: "transaction" } };
    for (const transaction of ["A".repeat(90), "5".repeat(80), "x"]) {
      const { code, flaws } = await tell(native, { transaction });
      expect([code, flaws]).toEqual([1, [expect.stringMatching(/^payload\.transaction: expected a legacy or v0/)]]);
    }
    const shown = await tell(native, { transaction: "5".repeat(88) });
    expect([shown.code, shown.found[0]?.says]).toEqual([
      0,
      "Pays what only the chain can tell on solana-devnet (x402 version 2)",
    ]);
    // A seller completes a token payment himself: one that is on the chain already pays nothing.
    expect((await tell(TOKEN, { transaction: "5".repeat(88) })).code).toBe(1);
  });
});

it("no signature is repeated in the place of something else", async () => {
  const made = await payment();
  const { signature } = made.payload;
  const transaction = spl.pay();
  const around = { ...made, payload: undefined };
  for (const [value, secret] of [
    [{ ...around, payload: transaction }, transaction],
    [{ ...around, payload: signature }, signature],
    [{ ...around, payload: JSON.stringify(made.payload) }, signature],
    [{ ...made, payload: { signature, authorization: signature } }, signature],
    [
      { ...made, payload: { ...made.payload, authorization: { ...made.payload.authorization, to: signature } } },
      signature,
    ],
    [{ ...made, resource: transaction }, transaction],
  ] as const) {
    const { code, stdout } = await run(["explain"], { input: `PAYMENT-SIGNATURE: ${encodeHeader(value)}` });
    expect(code).toBe(1);
    for (let at = 4; at + 24 < 120; at += 8) expect(stdout).not.toContain(secret.slice(at, at + 24));
    expect(stdout).toMatch(/\d+ characters of (?:hex|base64), not shown/);
  }
});
