// POST /payment/receive over HTTP, on both real chains: every kind of proof in both versions, granted once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Kind, onEvm, onSolana, receive, sign, verdictOf } from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;

beforeAll(async () => {
  world = await createBothWorld();
});
afterAll(() => world.close());

const KINDS: readonly (readonly [string, () => Kind])[] = ([1, 2] as const).flatMap((version) => [
  [`USDC by authorization, v${version}`, () => onEvm(world.evm, "usdc", version)] as const,
  [`ETH by transaction, v${version}`, () => onEvm(world.evm, "eth", version)] as const,
  [`USDC by transaction, v${version}`, () => onEvm(world.evm, "token", version)] as const,
  [`USDC on Solana, v${version}`, () => onSolana(world.solana, "usdc", version)] as const,
  [`SOL by transaction, v${version}`, () => onSolana(world.solana, "sol", version)] as const,
]);

describe.each(KINDS)("a proof in %s", (_name, kindOf) => {
  it("is verified and settled, and its money has arrived", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const answer = await receive(world, kind, payTo, await sign(kind, payTo), { resource: "https://shop.example/a" });
    expect([verdictOf(answer), answer.body.error?.message]).toEqual(["confirmed", undefined]);
    expect(answer.body).toMatchObject({
      success: true,
      verified: true,
      network: kind.network,
      amountAtomic: `${kind.units}`,
      amount: Number(kind.amount),
      expectedAmount: Number(kind.amount),
      resource: "https://shop.example/a",
    });
    expect(answer.body.blockHeight).toBeTypeOf("number");
    expect(answer.body.signature).toBeTypeOf("string");
    expect(await kind.received(payTo)).toEqual([kind.units]);
    const status = await world.call("GET", `/payment/status/${String(answer.body.paymentId)}`);
    expect(status.body).toMatchObject({
      type: "received",
      recipient: answer.body.recipient,
      signature: answer.body.signature,
    });
    const history = status.body.history as unknown as readonly { readonly status: string }[];
    expect(history.map((row) => row.status).slice(0, 3)).toEqual(["created", "submitted", "confirmed"]);
  });

  it("is granted once, also to another account and key", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const other = await world.newKey({ account: await world.newAccount() });
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
    const theirs = await receive(world, kind, payTo, proof, { options: { key: other } });
    expect(verdictOf(theirs)).toBe("400 INVALID_PAYMENT_PROOF already_used");
    expect(theirs.body.error?.paymentId).toBeUndefined();
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });

  it("is verified only with settle: false, as often as one likes, and is as good as before", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    for (let round = 0; round < 2; round += 1) {
      const verified = await receive(world, kind, payTo, proof, { settle: false });
      expect(verified.body).toMatchObject({ verified: true, paymentId: null, status: null, signature: null });
    }
    expect(await kind.received(payTo)).toEqual([]);
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
    expect(verdictOf(await receive(world, kind, payTo, proof, { settle: false }))).toBe(
      "400 INVALID_PAYMENT_PROOF already_used",
    );
  });

  it("is granted once of twenty copies that race on two instances", async () => {
    const kind = kindOf();
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const second = await world.another();
    const copies = Array.from({ length: 20 }, (_, copy) =>
      receive(copy % 2 === 0 ? world : second, kind, payTo, proof),
    );
    const verdicts = (await Promise.all(copies)).map(verdictOf);
    expect(verdicts.filter((verdict) => verdict === "confirmed")).toHaveLength(1);
    expect(new Set(verdicts)).toEqual(new Set(["confirmed", "400 INVALID_PAYMENT_PROOF already_used"]));
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});

describe("an Idempotency-Key", () => {
  it("gives the same answer again to the same account, and nothing to another one", async () => {
    const kind = onEvm(world.evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const headers = { "Idempotency-Key": "a-settlement-of-the-shop" };
    const first = await receive(world, kind, payTo, proof, { options: { headers } });
    const again = await receive(world, kind, payTo, proof, { options: { headers } });
    expect(verdictOf(first)).toBe("confirmed");
    expect(again.body).toEqual(first.body);
    const other = await world.newKey({ account: await world.newAccount() });
    const theirs = await receive(world, kind, payTo, proof, { options: { headers, key: other } });
    expect(verdictOf(theirs)).toBe("400 INVALID_PAYMENT_PROOF already_used");
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});
