import { PublicKey, SystemProgram } from "@solana/web3.js";
import { beforeAll, describe, expect, it } from "vitest";
import { idOf } from "../../src/chains/solana/identity.js";
import type { Offer } from "../../src/client/offer.js";
import { TOKEN_2022, TOKEN_PROGRAM } from "../../src/networks.js";
import * as native from "../chains/solana/native-payment.js";
import {
  CLIENTS,
  FEE_PAYER,
  LIGHTHOUSE,
  limit,
  memo,
  PAY_TO,
  PAYER,
  price,
  STRANGER,
  transfer,
} from "../chains/solana/payment.js";
import { offerOf, sol, spl } from "./challenges.js";
import { mismatch as inspect, moveSol, paySol, paySpl, SOLANA_PAYER } from "./signed.js";

let token: Offer;
let lamports: Offer;
beforeAll(async () => {
  [token, lamports] = await Promise.all([offerOf(spl()), offerOf(sol())]);
});
const mismatch = (offer: Offer, payload: unknown, payer = SOLANA_PAYER) => inspect(offer, payload, { payer });
const seller = FEE_PAYER.key.toBase58();
const signing = { pubkey: PAYER.key, isSigner: true, isWritable: true };
const lighthouse = (instruction: number) => native.call(LIGHTHOUSE, Uint8Array.of(instruction, 1), [signing]);

describe("a token payment on Solana", () => {
  it.each(Object.keys(CLIENTS))("as %s builds it passes", async (client) => {
    expect(await mismatch(token, paySpl(CLIENTS[client]?.()))).toBeUndefined();
  });

  it.each([
    ["of one unit more", [limit(20_000), price(1n), transfer({ amount: 10_001n })], /amount mismatch.*10001/],
    ["of one unit less", [limit(20_000), price(1n), transfer({ amount: 9_999n })], /amount mismatch/],
    ["to somebody else", [limit(20_000), price(1n), transfer({ destination: native.keyOf(9).publicKey })], /recipient/],
    ["of another mint", [limit(20_000), price(1n), transfer({ mint: native.keyOf(9).publicKey })], /mint mismatch/],
    ["twice", [limit(20_000), price(1n), transfer(), transfer()], /unknown fourth/],
    [
      "with lamports beside it",
      [
        limit(20_000),
        price(1n),
        transfer(),
        SystemProgram.transfer({ fromPubkey: PAYER.key, toPubkey: PAY_TO, lamports: 1 }),
      ],
      /unknown fourth.*system/,
    ],
    ["that makes an account of Lighthouse", [limit(20_000), price(1n), transfer(), lighthouse(0)], /Lighthouse/],
    ["that closes one", [limit(20_000), price(1n), transfer(), lighthouse(1)], /Lighthouse/],
  ])("%s does not", async (_what, instructions, reason) => {
    expect(await mismatch(token, paySpl(instructions))).toMatch(reason);
  });

  it("for which the payer, or anybody but the seller, pays the fee does not", async () => {
    expect(await mismatch(token, paySpl(undefined, { feePayer: STRANGER.key }))).toMatch(/fee payer mismatch/);
    expect(await mismatch(token, paySpl(undefined, { feePayer: PAYER.key }))).toMatch(/fee payer mismatch/);
    expect(
      await mismatch(
        await offerOf(spl({ extra: { feePayer: SOLANA_PAYER } })),
        paySpl(undefined, { feePayer: PAYER.key }),
      ),
    ).toMatch(/signature/);
  });

  it("of another payer than the wallet says does not, nor one that nobody has signed", async () => {
    expect(await mismatch(token, paySpl(), seller)).toMatch(/expected the money to be/);
    const { transaction } = paySpl();
    const bytes = Buffer.from(transaction, "base64");
    bytes.fill(0, 65, 129);
    expect(await mismatch(token, { transaction: bytes.toString("base64") })).toMatch(/signature invalid/);
  });

  it("carries the seller's memo where the offer names one", async () => {
    const wanting = await offerOf(spl({ extra: { feePayer: seller, memo: "order 7" } }));
    const paid = (text: string) => paySpl([limit(20_000), price(1n), transfer(), memo(text)]);
    expect(await mismatch(wanting, paid("order 7"))).toBeUndefined();
    expect(await mismatch(wanting, paid("order 8"))).toMatch(/memo mismatch/);
    expect(await mismatch(wanting, paySpl(CLIENTS.ts1?.()))).toMatch(/memo count/);
  });

  it("is of the token program that our table knows, or that the offer names", async () => {
    const asset = "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7";
    const paid = (mint: string, program: string) =>
      paySpl([limit(20_000), price(1n), transfer({ mint: new PublicKey(mint), program: new PublicKey(program) })]);
    const usdg = await offerOf(spl({ asset }));
    expect(await mismatch(usdg, paid(asset, TOKEN_2022))).toBeUndefined();
    expect(await mismatch(usdg, paid(asset, TOKEN_PROGRAM))).toMatch(/token program/);
    const unknown = native.keyOf(9).publicKey.toBase58();
    const named = await offerOf(spl({ asset: unknown, extra: { feePayer: seller, tokenProgram: TOKEN_2022 } }));
    expect(await mismatch(named, paid(unknown, TOKEN_2022))).toBeUndefined();
    expect(await mismatch(named, paid(unknown, TOKEN_PROGRAM))).toMatch(/token program/);
    const open = await offerOf(spl({ asset: unknown }));
    for (const program of [TOKEN_2022, TOKEN_PROGRAM])
      expect(await mismatch(open, paid(unknown, program))).toBeUndefined();
  });

  it("is shown as bytes, never as an id, and with nothing beside them", async () => {
    const { transaction } = paySpl();
    expect(await mismatch(token, { transaction: idOf(paySol([moveSol()]).transaction) })).toMatch(
      /expected the bytes|standard base64/,
    );
    expect(await mismatch(token, { transaction, secret: `0x${"00".repeat(32)}` })).toMatch(/member secret/);
    for (const payload of [
      {},
      { transaction: 7 },
      { transaction: "" },
      { transaction: "AAAA" },
      { transaction: `${transaction}AAAA` },
    ]) {
      expect(await mismatch(token, payload)).toBeTypeOf("string");
    }
  });
});

describe("a transfer of SOL", () => {
  it("that is exactly the offer passes, with a budget and a memo", async () => {
    expect(await mismatch(lamports, paySol([moveSol()]))).toBeUndefined();
    const whole = [
      native.limit(30_000),
      native.price(1_000_000n),
      moveSol(),
      native.memo("a".repeat(32)),
      lighthouse(9),
    ];
    expect(await mismatch(lamports, paySol(whole))).toBeUndefined();
  });

  it.each([
    ["of one lamport more", [moveSol(10_001n)], /10000 lamports, got 10001/],
    ["of one lamport less", [moveSol(9_999n)], /10000 lamports, got 9999/],
    ["to somebody else", [moveSol(10_000n, STRANGER.key)], /recipient mismatch/],
    ["twice", [moveSol(), moveSol()], /second one/],
    ["with another program", [moveSol(), native.call(STRANGER.key, Uint8Array.of(1))], /unknown optional/],
    ["that makes an account of Lighthouse", [moveSol(), lighthouse(0)], /Lighthouse/],
    ["with a fee that drains the payer", [native.limit(1_400_000), native.price(10n ** 9n), moveSol()], /fee is/],
    ["with a fee for units that nobody limited", [native.price(1_000_000_000n), moveSol()], /fee is/],
    [
      "with a memo that looks like a limit before a fee that drains",
      [
        native.call(native.MEMO, Uint8Array.of(2, 0, 0, 0, 0)),
        native.limit(1_400_000),
        native.price(10n ** 9n),
        moveSol(),
      ],
      /fee is/,
    ],
  ])("%s does not", async (_what, instructions, reason) => {
    expect(await mismatch(lamports, paySol(instructions))).toMatch(reason);
  });

  it("signed by somebody else than the wallet says does not", async () => {
    expect(await mismatch(lamports, paySol([moveSol()]), seller)).toMatch(/signed by/);
  });

  it("carries the hash of the secret that is shown beside it", async () => {
    const { secret, reference } = native.secretOf("a");
    const paid = paySol([moveSol(), native.memo(reference)]);
    expect(await mismatch(lamports, { ...paid, secret })).toBeUndefined();
    expect(await mismatch(lamports, { ...paid, secret: native.secretOf("b").secret })).toMatch(/secret/);
    expect(await mismatch(lamports, { ...paySol([moveSol()]), secret })).toMatch(/secret/);
  });
});
