// `tollgate pay` where a seller refuses, asks twice or lies, with a wallet that a gateway holds, and what is kept until an answer is
// written out.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { holdProofs } from "../../src/cli/pay/state.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { openSeller, type Script } from "../client/scripted-seller.js";
import { NOW, proofOf } from "../client/store-contract.js";
import { createGatewayWorld } from "../gateway/world.js";
import { openTown, type Shop, type Town } from "./paying.js";

let town: Town;
beforeAll(async () => {
  town = await openTown();
});
afterAll(() => town?.close());

async function ownShop(): Promise<Shop> {
  const opened = await town.openShop();
  onTestFinished(() => opened.close());
  return opened;
}

/** Asks as a real shop does, and answers paid requests by the script. */
async function openLiar(paid: Script) {
  const shop = await ownShop();
  const real = await fetch(`${shop.origin}/report`);
  const challenge = { status: 402, headers: { "PAYMENT-REQUIRED": real.headers.get("payment-required") ?? "" } };
  const seller = await openSeller((request, count) => (request.proof === undefined ? challenge : paid(request, count)));
  onTestFinished(() => seller.close());
  return {
    ...seller,
    requests: seller.requests,
    challenge,
    proofs: () => seller.requests.flatMap(({ proof }) => proof ?? []),
  };
}

describe("a seller who", () => {
  it("refuses the payment: 5, the same proof by the same command, and 3 once he has refused it twice", async () => {
    const buyer = await town.newBuyer();
    const liar = await openLiar(() => liar.challenge);
    const first = await buyer.pay([liar.url, "--yes"]);
    expect([first.code, first.stderr]).toEqual([
      5,
      expect.stringMatching(/refused the payment.*Run the same command again/s),
    ]);
    const second = await buyer.pay([liar.url, "--yes"]);
    expect([second.code, second.stderr]).toEqual([
      3,
      expect.stringMatching(/It was refused twice, so the same command would pay anew/),
    ]);
    expect(new Set(liar.proofs()).size).toBe(1);
    expect(liar.proofs()).toHaveLength(2);
  });

  it("answers 404 to a payment, without a receipt: 5, in JSON too, and the same proof again", async () => {
    const buyer = await town.newBuyer();
    const liar = await openLiar(() => ({ status: 404, body: "gone" }));
    for (let i = 0; i < 2; i++) {
      const { code, stdout } = await buyer.pay([liar.url, "--yes", "--json"]);
      expect([code, JSON.parse(stdout)]).toMatchObject([
        5,
        { status: 404, body: "gone", receipt: { status: "sent" }, error: { exitCode: 5 } },
      ]);
    }
    expect(new Set(liar.proofs()).size).toBe(1);
  });

  it("does not answer at all to a payment: 5, and JSON says so", async () => {
    const buyer = await town.newBuyer();
    const liar = await openLiar(() => "drop");
    const { code, stdout } = await buyer.pay([liar.url, "--yes", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      5,
      { status: null, body: null, receipt: { status: "sent" }, error: { exitCode: 5 } },
    ]);
    expect(new Set(liar.proofs()).size).toBe(1);
  });

  it("leads a payment to another place: nothing of it goes there", async () => {
    const buyer = await town.newBuyer();
    const elsewhere = await openSeller(() => ({ status: 200, body: "caught" }));
    onTestFinished(() => elsewhere.close());
    const liar = await openLiar(() => ({ status: 307, headers: { Location: elsewhere.url } }));
    await buyer.pay([liar.url, "--yes"]);
    expect(elsewhere.paid).toEqual([]);
  });

  it("asks over plain http beyond this machine is not paid", async () => {
    const buyer = await town.newBuyer();
    const shop = await ownShop();
    const real = await fetch(`${shop.origin}/report`);
    const headers = { "PAYMENT-REQUIRED": real.headers.get("payment-required") ?? "" };
    const seller = await openSeller(() => ({ status: 402, headers }), "0.0.0.0");
    onTestFinished(() => seller.close());
    const { code, stderr } = await buyer.pay([seller.url, "--yes"]);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/plain http.*--allow-http/s)]);
    expect(seller.paid).toEqual([]);
    await buyer.pay([seller.url, "--yes", "--allow-http"]);
    expect(seller.paid).toHaveLength(1);
  });
});

it("a wallet that a gateway holds pays tokens, and no native currency", async () => {
  const world = await createGatewayWorld({ chains: { evm: town.evm } });
  onTestFinished(() => world.close());
  const shop = await ownShop();
  const { address, apiKey } = await world.newWallet({ family: "evm" });
  const buyer = await town.newBuyer();
  const env = { TOLLGATE_WALLET_KEY: "", TOLLGATE_GATEWAY_URL: world.url, TOLLGATE_API_KEY: apiKey };
  const bought = await buyer.pay([`${shop.origin}/report`, "--yes", "--wallet", address], { env });
  expect([bought.code, bought.stdout]).toEqual([0, "the goods\n"]);
  expect(await shop.debits()).toEqual([10_000n]);
  const ether = await buyer.pay([`${shop.origin}/ether`, "--yes", "--wallet", address, "--max", "1 ETH"], { env });
  expect([ether.code, ether.stderr]).toEqual([
    3,
    expect.stringMatching(/a hosted wallet pays tokens only on the command line/),
  ]);
  expect(await shop.debits("ETH")).toEqual([]);
  expect(bought.stderr + ether.stderr).not.toContain(apiKey.slice(8));
});

it("a proof that left is kept until it is let go of; one that never left is forgotten at once", async () => {
  const memory = memoryBuyerStore();
  const { store, release } = holdProofs(memory, (id) => id === "sent");
  await store.keep(proofOf("a", "sent"));
  await store.keep(proofOf("b", "unsent"));
  await store.forget("a", "sent");
  await store.forget("b", "unsent");
  expect(await memory.pending("b", NOW)).toBeUndefined();
  expect(await memory.pending("a", NOW)).toBeDefined();
  await release();
  expect(await memory.pending("a", NOW)).toBeUndefined();
});
