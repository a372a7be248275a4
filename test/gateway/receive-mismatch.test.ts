// What does not fit: every field that a proof can say otherwise than the request, on both chains, named with what was expected
// and what came. Nothing of it is settled, and the seller's terms rule.
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eip3009Payer, solPayer, splPayer } from "../../src/testing/index.js";
import type { Answer } from "./call.js";
import {
  decode,
  encode,
  type Kind,
  newEvmAddress,
  newMinedPayer,
  onEvm,
  onSolana,
  receive,
  sign,
  verdictOf,
} from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;

beforeAll(async () => {
  world = await createBothWorld();
});
afterAll(() => world.close());

const firstDetail = ({ body }: Answer): string => {
  const [detail] = (body.error?.details ?? []) as unknown as readonly { readonly message: string }[];
  return detail?.message ?? "";
};

/** Presents a proof that is not good, and shows that no money has moved. */
async function refused(
  kind: Kind,
  payTo: string,
  proof: string,
  more: object = {},
): Promise<readonly [string, string]> {
  const answer = await receive(world, kind, payTo, proof, { ...more });
  expect(await kind.received(payTo)).toEqual([]);
  return [verdictOf(answer), firstDetail(answer)];
}

const BAD = "400 INVALID_PAYMENT_PROOF";

describe("what a v2 proof says that it accepted", () => {
  const changes = [
    ["network", "eip155:8453"],
    ["asset", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
    ["payTo", "0x000000000000000000000000000000000000dEaD"],
    ["amount", "9999"],
    ["scheme", "upto"],
  ] as const;
  it.each(changes)("must agree in %s", async (field, value) => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo, {
      change: (payload) => ({ ...payload, accepted: { ...(payload.accepted as object), [field]: value } }),
    });
    const [verdict, detail] = await refused(kind, payTo, proof);
    expect(verdict).toBe(`${BAD} ${field === "scheme" ? "unsupported_scheme" : "offer_mismatch"}`);
    expect(detail.toLowerCase()).toContain(value.toLowerCase());
    expect(detail).toContain(field);
  });

  it("may have a time of its own and extra members of the seller's", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const offer = {
      ...kind.offer(payTo),
      maxTimeoutSeconds: 300,
      extra: { ...kind.offer(payTo).extra, note: "a seller's own" },
    };
    expect(verdictOf(await receive(world, kind, payTo, await sign(kind, payTo, { offer })))).toBe("confirmed");
  });

  it("may not have more money than the request where it is an authorization, and may where it is a transaction", async () => {
    const usdc = onEvm(world.evm, "usdc", 2);
    const seller = await usdc.newPayee();
    const tooMuch = await sign(usdc, seller, { offer: { ...usdc.offer(seller), amount: "10001" } });
    expect((await refused(usdc, seller, tooMuch))[0]).toBe(`${BAD} offer_mismatch`);

    const eth = onEvm(world.evm, "eth", 2);
    const other = await eth.newPayee();
    const payer = await newMinedPayer(world.evm);
    const more = await sign(eth, other, { payer, offer: { ...eth.offer(other), amount: `${eth.units * 2n}` } });
    const answer = await receive(world, eth, other, more);
    expect(verdictOf(answer)).toBe("confirmed");
    expect(answer.body).toMatchObject({ amountAtomic: `${eth.units * 2n}`, expectedAmount: 0.0002, amount: 0.0004 });
  });
});

describe("what was signed", () => {
  it("must be for the wallet of the request", async () => {
    for (const version of [1, 2] as const) {
      const kind = onEvm(world.evm, "usdc", version);
      const [payTo, thief] = [await kind.newPayee(), await kind.newPayee()];
      const payer = eip3009Payer(await world.evm.newBuyer(), { overrides: { to: thief as `0x${string}` } });
      const [verdict, detail] = await refused(kind, payTo, await sign(kind, payTo, { payer }));
      expect(verdict).toBe(`${BAD} recipient_mismatch`);
      expect(detail.toLowerCase()).toContain(thief.toLowerCase());
    }
  });

  it("must be exactly the amount of the request", async () => {
    const kind = onEvm(world.evm, "usdc", 1);
    const payTo = await kind.newPayee();
    const payer = eip3009Payer(await world.evm.newBuyer(), { overrides: { value: 9_999n } });
    const [verdict, detail] = await refused(kind, payTo, await sign(kind, payTo, { payer }));
    expect([verdict, detail]).toEqual([`${BAD} amount_mismatch`, "expected value 10000, got value 9999"]);
  });

  it("must be signed by its payer, in time, and not for longer than offered", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const wrong = [
      [() => ({ domain: { name: "Another" } }), "signature_invalid"],
      [(now: bigint) => ({ overrides: { validBefore: now - 1n } }), "payment_expired"],
      [(now: bigint) => ({ overrides: { validBefore: now + 5n } }), "payment_expires_too_soon"],
      [(now: bigint) => ({ overrides: { validAfter: now + 60n } }), "payment_not_yet_valid"],
      [(now: bigint) => ({ overrides: { validBefore: now + 3_600n } }), "payment_valid_too_long"],
    ] as const;
    for (const [partsAt, code] of wrong) {
      const buyer = await world.evm.newBuyer();
      // Of each one's own second: what ends soon has not ended while the others were shown.
      const payer = eip3009Payer(buyer, partsAt(BigInt(Math.floor(Date.now() / 1000))));
      expect((await refused(kind, payTo, await sign(kind, payTo, { payer })))[0]).toBe(`${BAD} ${code}`);
    }
    const poor = eip3009Payer(await world.evm.newBuyer(0n));
    expect((await refused(kind, payTo, await sign(kind, payTo, { payer: poor })))[0]).toBe(`${BAD} insufficient_funds`);
  });

  it("must pay the wallet, the token and the amount of the request on Solana", async () => {
    const { rpcUrl } = world.solana;
    const kind = onSolana(world.solana, "usdc", 2);
    const payTo = await kind.newPayee();
    const other = await kind.newPayee();
    const less = splPayer(await world.solana.newBuyer(), { rpcUrl, move: { amount: 9_999n } });
    expect((await refused(kind, payTo, await sign(kind, payTo, { payer: less })))[0]).toBe(`${BAD} amount_mismatch`);
    const forOther = await sign(kind, other);
    const relabelled = encode({ ...decode(forOther), accepted: { ...kind.offer(payTo) } });
    expect((await refused(kind, payTo, relabelled))[0]).toBe(`${BAD} recipient_mismatch`);
    const sponsored = splPayer(await world.solana.newBuyer(), {
      rpcUrl,
      feePayer: Keypair.generate().publicKey.toBase58(),
    });
    expect((await refused(kind, payTo, await sign(kind, payTo, { payer: sponsored })))[0]).toContain(BAD);

    const sol = onSolana(world.solana, "sol", 2);
    const wallet = await sol.newPayee();
    const little = solPayer(await world.solana.newBuyer(), { rpcUrl, lamports: 999_999n });
    expect((await refused(sol, wallet, await sign(sol, wallet, { payer: little })))[0]).toBe(`${BAD} amount_mismatch`);
  });

  it("must be the asset of the request, whatever it says of itself", async () => {
    const usdc = onEvm(world.evm, "token", 2);
    const eth = onEvm(world.evm, "eth", 2);
    const payTo = await usdc.newPayee();
    const inTokens = decode(await sign(usdc, payTo));
    const relabelled = encode({ ...inTokens, accepted: { ...(decode(await sign(eth, payTo)).accepted as object) } });
    expect((await refused(eth, payTo, relabelled))[0]).toContain(BAD);
    const unlabelled = await sign(onEvm(world.evm, "usdc", 1), payTo);
    expect((await refused(eth, payTo, unlabelled))[0]).toBe(`${BAD} unsupported_scheme`);
  });

  it("must be on the network of the request, in version 1 too", async () => {
    const kind = onEvm(world.evm, "usdc", 1);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo, { change: (payload) => ({ ...payload, network: "base" }) });
    const [verdict, detail] = await refused(kind, payTo, proof);
    expect(verdict).toBe(`${BAD} offer_mismatch`);
    expect(detail).toBe("expected network eip155:84532, got network eip155:8453");
  });
});

describe("a proof's resource", () => {
  it("is the request's, where both name one", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const named = await sign(kind, payTo, { resource: "https://shop.example/a" });
    const [verdict, detail] = await refused(kind, payTo, named, { resource: "https://shop.example/b" });
    expect([verdict, detail]).toEqual([
      `${BAD} offer_mismatch`,
      "expected resource https://shop.example/b, got resource https://shop.example/a",
    ]);
    const same = await receive(world, kind, payTo, named, { resource: "https://shop.example/a" });
    expect(verdictOf(same)).toBe("confirmed");
    const unnamed = await sign(kind, payTo, {});
    expect(verdictOf(await receive(world, kind, payTo, unnamed, { resource: "https://shop.example/c" }))).toBe(
      "confirmed",
    );
  });
});

describe("what is no proof", () => {
  it.each([
    ["text", "not base64!", "payment_malformed"],
    ["JSON of another kind", encode({ hello: "world" }), "payment_version_invalid"],
    ["another version", encode({ x402Version: 3, payload: {} }), "payment_version_invalid"],
    [
      "an authorization without a signature",
      encode({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload: { authorization: {} } }),
      "payment_malformed",
    ],
    [
      "another scheme",
      encode({ x402Version: 1, scheme: "upto", network: "base-sepolia", payload: {} }),
      "unsupported_scheme",
    ],
    [
      "bytes of no transaction",
      encode({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload: { transaction: "AAAA" } }),
      "payment_malformed",
    ],
  ])("is refused: %s", async (_what, proof, code) => {
    const kind = code === "payment_malformed" ? onEvm(world.evm, "token", 1) : onEvm(world.evm, "usdc", 1);
    expect((await refused(kind, newEvmAddress(), proof))[0]).toBe(`${BAD} ${code}`);
  });

  it("is no id of a transaction that the chain does not know, which may still come", async () => {
    const kind = onEvm(world.evm, "eth", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo, {
      change: (payload) => ({
        ...payload,
        payload: { transaction: `0x${"ab".repeat(32)}`, secret: `0x${"cd".repeat(32)}` },
      }),
    });
    expect((await refused(kind, payTo, proof))[0]).toBe("502 PAYMENT_VERIFICATION_FAILED payment_not_seen");
  });
});
