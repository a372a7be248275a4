// What a transaction is known by: the same for every way in which it can be shown, another one for every other message.
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { identifyTransaction } from "../../../src/chains/solana/identity.js";
import type { Identity } from "../../../src/receive/receiver.js";
import { CLIENTS, compile, encode, MINT, memo, PAYER, pay, STRANGER, wire } from "./payment.js";
import { createWorld, fault, settleContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

async function identify(transaction: string): Promise<Identity> {
  const identified = await identifyTransaction({ transaction });
  if (!identified.ok) throw new Error(`not identified: ${identified.got}`);
  return identified;
}
const ask = (transaction: string) =>
  world.chain.identify({ transaction }, world.requirement.network, AbortSignal.timeout(5_000));

describe("the bytes of a token payment", () => {
  it("name the second signer as payer and the mint as asset", async () => {
    const transaction = pay();
    const identity = await identify(transaction);
    expect(identity).toMatchObject({ payer: PAYER.key.toBase58(), asset: MINT.toBase58(), transaction });
    expect(identity.key).toMatch(/^[0-9a-f]{64}$/);
  });

  it("are one proof whatever stands in slot 0: 50 variants (A20)", async () => {
    const bytes = wire(compile(CLIENTS.ts2!()));
    const found = new Set<string>();
    for (let i = 0; i < 50; i++) {
      bytes.fill(i, 1, 65);
      const { key, canonical } = await identify(bytes.toString("base64"));
      found.add(`${key} ${canonical}`);
    }
    expect(found.size).toBe(1);
  });

  it("are another proof of the same payment with another payer's signature, and another payment with another memo", async () => {
    const one = await identify(pay());
    const bytes = Buffer.from(pay(), "base64");
    bytes[65]! ^= 1;
    const bent = await identify(bytes.toString("base64"));
    expect(bent.key).toBe(one.key);
    expect(bent.canonical).not.toBe(one.canonical);
    const other = await identify(pay([...CLIENTS.ts1!(), memo("another")]));
    expect(other.key).not.toBe(one.key);
  });

  it("with one signer name that one", async () => {
    const alone = encode(compile(CLIENTS.ts2!(), { feePayer: PAYER.key }), [STRANGER]);
    expect(await identify(alone)).toMatchObject({ payer: PAYER.key.toBase58() });
  });
});

describe("no transaction", () => {
  it.each([
    ["text", "bm90IGEgdHJhbnNhY3Rpb24=".repeat(5)],
    ["an EVM hash", `0x${"ab".repeat(32)}`],
    ["a base58 address", Keypair.generate().publicKey.toBase58()],
    [
      "bytes with one more at the end",
      Buffer.concat([wire(compile(CLIENTS.ts2!())), Buffer.alloc(1)]).toString("base64"),
    ],
    ["half of one", wire(compile(CLIENTS.ts2!())).subarray(0, 200).toString("base64")],
  ])("%s is malformed, and nobody is asked", async (_, transaction) => {
    const asked = world.rpc.count();
    expect(await ask(transaction)).toMatchObject({ ok: false, code: "payment_malformed" });
    expect(world.rpc.count()).toBe(asked);
  });
});

describe("the id of a transaction", () => {
  it("on the chain is the same proof as its bytes", async () => {
    const proof = await world.proof();
    const context = settleContext();
    expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "settled" });
    const [{ id } = { id: "" }] = context.announced;
    const { transaction: _, ...own } = await identify(proof.transaction);
    expect(await ask(id)).toMatchObject(own);
  });

  it("that nobody has seen may come yet", async () => {
    const id = encodeBase58(new Uint8Array(64).fill(9));
    expect(await ask(id)).toEqual({ ok: false, code: "payment_not_seen", got: id });
    expect(await identifyTransaction({ transaction: id })).toMatchObject({ ok: false, code: "unsupported_scheme" });
  });

  it("is not answered with another transaction, whatever the node says", async () => {
    const { chain, rpc } = world;
    const [one, two] = [settleContext(), settleContext()];
    await chain.settle(await world.proof(), one);
    await chain.settle(await world.proof(), two);
    const [id, other] = [one, two].map(({ announced }) => announced[0]?.id ?? "");
    const theirs = await fetchRaw(other!);
    const bent = Buffer.from(theirs.transaction[0], "base64");
    const ours = Buffer.from((await fetchRaw(id!)).transaction[0], "base64");
    // The other's message under our signatures.
    bent.set(ours.subarray(0, 129));
    for (const lie of [
      theirs,
      { ...theirs, transaction: [bent.toString("base64"), "base64"] },
      {},
      { ...theirs, meta: null },
    ]) {
      rpc.script("getTransaction", fault.lie(lie));
      expect(await ask(id!)).toEqual({ ok: false, code: "receiver_bad_response" });
    }
    rpc.script("getTransaction", fault.resetBefore());
    expect(await ask(id!)).toEqual({ ok: false, code: "receiver_unreachable" });
  });

  async function fetchRaw(id: string): Promise<{ transaction: [string, string]; meta: unknown; slot: number }> {
    const params = [id, { encoding: "base64", commitment: "confirmed", maxSupportedTransactionVersion: 0 }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getTransaction", params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(world.sandbox.rpcUrl, { method: "POST", headers, body });
    return ((await response.json()) as { result: { transaction: [string, string]; meta: unknown; slot: number } })
      .result;
  }
});
