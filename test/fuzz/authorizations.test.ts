// Every field of an authorization at every boundary, against a seller on a real chain: no goods, no debit, and each
// refusal says why. And the other way round: spellings of one proof are one proof.
import { concatHex, type Hex, numberToHex, parseSignature } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, readChallenge, type Sandbox, signPayment } from "../../src/testing/index.js";
import { type Seller, send, startSeller } from "../e2e/seller.js";
import { forgeries, type Payload } from "./support/forgeries.js";

let sandbox: Sandbox;
let seller: Seller;
let buyer: Awaited<ReturnType<Sandbox["newBuyer"]>>;
beforeAll(async () => {
  sandbox = await createSandbox();
  const { payTo, network } = sandbox;
  seller = await startSeller("Express 5", { payTo, network, receive: sandbox.receive() });
  await seller.ready();
  buyer = await sandbox.newBuyer();
});
afterAll(async () => {
  await seller.close();
  await sandbox.close();
});

const challenge = async (version: 1 | 2) => readChallenge(await fetch(`${seller.url}/report`), version);
const encode = (payload: object) => Buffer.from(JSON.stringify(payload)).toString("base64");
const take = () => sandbox.token.balanceOf(sandbox.seller);

describe("forged authorizations", () => {
  it("buy nothing, move nothing, and are each refused with a code", async () => {
    const offers = { 1: await challenge(1), 2: await challenge(2) };
    const stranger = await sandbox.newBuyer();
    const wallet = await sandbox.wallets.deployed(stranger);
    const all = forgeries({
      amount: 10_000n,
      buyer: buyer.address,
      payTo: sandbox.payTo,
      token: sandbox.domain.verifyingContract,
      settler: sandbox.settler.address,
      stranger: stranger.address,
      wallet: wallet.address,
      now: BigInt(Math.floor(Date.now() / 1000)),
    });
    expect(all.length).toBeGreaterThanOrEqual(500);

    const wrong: string[] = [];
    const codes = new Map<unknown, number>();
    for (const { name, version, signing, alter } of all) {
      const offer = offers[version].accepts[0]!;
      const signed = await signPayment({ account: buyer, offer, version, challenge: offers[version], ...signing });
      const payload = structuredClone(signed.payload) as Payload;
      alter(payload);
      const got = await send(`${seller.url}/report`, { headers: { [signed.name]: encode(payload) } });
      const { code, payment } = got?.json ?? {};
      codes.set(code, (codes.get(code) ?? 0) + 1);
      const refused =
        got && (got.status === 400 || got.status === 402) && typeof code === "string" && payment === "none";
      if (!refused) wrong.push(`v${version} ${name}: ${got?.status} ${code} ${payment}`);
    }
    console.info(`${all.length} forged authorizations:`, Object.fromEntries(codes));
    expect(wrong).toEqual([]);
    expect(seller.runs).toHaveLength(0);
    expect(await take()).toBe(0n);
    for (const code of [
      "signature_invalid",
      "amount_mismatch",
      "recipient_mismatch",
      "payment_valid_too_long",
      "offer_mismatch",
    ])
      expect(codes.get(code) ?? 0, code).toBeGreaterThan(3);
  }, 120_000);
});

describe("spellings of one proof", () => {
  const parity = (signature: Hex, offset: number): Hex => {
    const { r, s, yParity } = parseSignature(signature);
    return concatHex([r, s, numberToHex(yParity + offset, { size: 1 })]);
  };
  const upper = (hex: unknown) => `0x${String(hex).slice(2).toUpperCase()}`;
  const lower = (hex: unknown) => String(hex).toLowerCase();
  const eachHex = (payload: Payload, spell: (hex: unknown) => string) => {
    const { authorization } = payload.payload;
    for (const field of ["from", "to", "nonce"]) authorization[field] = spell(authorization[field]);
    payload.payload.signature = spell(payload.payload.signature);
  };
  const SPELLINGS: readonly [name: string, (payload: Payload) => void][] = [
    ["as signed", () => undefined],
    ["v of 0 or 1", ({ payload }) => Object.assign(payload, { signature: parity(payload.signature as Hex, 0) })],
    ["v of 27 or 28", ({ payload }) => Object.assign(payload, { signature: parity(payload.signature as Hex, 27) })],
    ["upper-case hex", (payload) => eachHex(payload, upper)],
    ["lower-case hex", (payload) => eachHex(payload, lower)],
    [
      "members in another order",
      ({ payload }) => {
        payload.authorization = Object.fromEntries(Object.entries(payload.authorization).reverse());
      },
    ],
    [
      "unknown members",
      (payload) => void Object.assign(payload, { note: "x" }, { payload: { ...payload.payload, note: "y" } }),
    ],
  ];

  it.each(SPELLINGS)("%s pays first, and no other spelling pays or is served again", async (_name, first) => {
    for (const version of [1, 2] as const) {
      const [before, runs] = [await take(), seller.runs.length];
      const offered = await challenge(version);
      const signed = await signPayment({ account: buyer, offer: offered.accepts[0]!, version, challenge: offered });
      const spelled = (spell: (payload: Payload) => void) => {
        const payload = structuredClone(signed.payload) as Payload;
        spell(payload);
        return send(`${seller.url}/report`, { headers: { [signed.name]: encode(payload) } });
      };
      expect(await spelled(first)).toMatchObject({ status: 200, body: "the goods" });
      for (const [, again] of SPELLINGS) {
        expect(await spelled(again)).toMatchObject({ status: 409, json: { code: "payment_already_used" } });
      }
      expect([await take(), seller.runs.length]).toEqual([before + 10_000n, runs + 1]);
    }
  });
});
