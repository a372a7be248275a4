import fc from "fast-check";
import { type Hex, serializeTransaction, toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { toBytes } from "../../../src/chains/evm/hex.js";
import { createRpc, type Rpc } from "../../../src/chains/evm/rpc.js";
import { writeTransaction } from "../../../src/chains/evm/transaction.js";
import { type DraftOptions, draftTransfer, type WantedTransfer } from "../../../src/chains/evm/transfer.js";
import { digestOf, joinSignature, readUnsigned } from "../../../src/chains/evm/transfer-bytes.js";
import { fault } from "../../support/scripted-rpc.js";
import { CHAIN_ID, createTransfers, ETHER, newSecret, PRICE, signedOf, TOKEN, type Transfers } from "./transfers.js";
import { verifyContext } from "./world.js";

let world: Transfers;
let rpc: Rpc;
let buyer: PrivateKeyAccount;
beforeAll(async () => {
  world = await createTransfers();
  rpc = createRpc({ urls: [world.rpc.url], chainId: CHAIN_ID, timeoutMs: 3_000 });
  buyer = await world.buyer();
});
afterAll(async () => {
  rpc.close();
  await world.close();
});
afterEach(async () => {
  world.rpc.clear();
  await world.sandbox.chain.setAutomine(true);
  await world.setTokenMode("plain");
});

const draft = (parts: Partial<WantedTransfer> = {}, options: DraftOptions = {}) =>
  draftTransfer(
    rpc,
    CHAIN_ID,
    { from: buyer.address, to: world.sandbox.seller, asset: "native", amount: PRICE, ...parts },
    options,
  );

/** The members of a draft that is expected to be one. */
async function drafted(...given: Parameters<typeof draft>) {
  const made = await draft(...given);
  if (!made.ok) throw new Error(JSON.stringify(made, (_, value) => (typeof value === "bigint" ? `${value}` : value)));
  return made;
}

async function signedBy(account: PrivateKeyAccount, ...given: Parameters<typeof draft>) {
  const { fields } = await drafted(...given);
  const signature = toBytes(await account.sign({ hash: toHex(digestOf(writeTransaction(fields))) }));
  const signed = await joinSignature(fields, signature, account.address);
  if (!signed) throw new Error("the draft was not signed");
  return signed;
}

const newContract = async (runtime: Hex): Promise<Hex> => {
  const { address } = privateKeyToAccount(generatePrivateKey());
  await world.sandbox.chain.rpc("anvil_setCode", [address, runtime]);
  return address;
};
/** Reverts whatever it is sent: PUSH0 PUSH0 REVERT. */
const refuser = () => newContract("0x5f5ffd");

describe("the draft of a transfer", () => {
  it("in native currency, and in a token, is a proof that the paywall takes unsent", async () => {
    for (const asset of ["native", TOKEN]) {
      const { secret, reference } = await newSecret();
      const { raw, nonce } = await signedBy(buyer, { asset, reference });
      const proof = await world.prove(signedOf(raw, Number(nonce)), world.requirement(asset), { secret });
      expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
    }
  });

  it("stays such a proof while the base fee rises for a full block", async () => {
    const { fields, head } = await drafted();
    expect(head.baseFeePerGas).toBeGreaterThan(0n);
    const risen = ((head.baseFeePerGas ?? 0n) * 9n) / 8n;
    expect(fields.maxFeePerGas - fields.maxPriorityFeePerGas).toBeGreaterThanOrEqual(risen * 2n);
  });

  it("ends with its reference and has nothing else in its calldata", async () => {
    const { reference } = await newSecret();
    expect((await drafted({ reference })).fields).toMatchObject({ data: reference, value: PRICE });
    expect((await drafted()).fields).toMatchObject({ data: "0x", value: PRICE });
    const token = (await drafted({ asset: TOKEN, reference })).fields;
    const seller = world.sandbox.seller.slice(2).toLowerCase().padStart(64, "0");
    const amount = PRICE.toString(16).padStart(64, "0");
    expect(token).toMatchObject({ to: TOKEN.toLowerCase(), value: 0n });
    expect(token.data).toBe(`0xa9059cbb${seller}${amount}${reference.slice(2)}`);
  });

  it("has a quarter more gas than the node estimates, and pays for it at most what it says", async () => {
    const { fields, fee } = await drafted();
    expect(fields.gas).toBe(21_000n + 21_000n / 4n);
    expect(fee).toBe(fields.gas * fields.maxFeePerGas);
  });

  it("takes the account's next nonce after those that wait, or the one that it is given", async () => {
    const account = await world.buyer();
    await world.sandbox.chain.setAutomine(false);
    const requirement = world.requirement();
    await world.submit(await world.sign(account, requirement, { nonce: 0 }));
    await world.submit(await world.sign(account, requirement, { nonce: 1 }));
    expect((await drafted({ from: account.address })).fields.nonce).toBe(2n);
    expect((await drafted({ from: account.address }, { nonce: 7 })).fields.nonce).toBe(7n);
    await world.sandbox.chain.mine();
  });

  it("spends a priority fee as the tip of every unit of gas", async () => {
    const priorityFee = ETHER / 10_000n;
    const { fields, head } = await drafted({ priorityFee });
    expect(fields.maxPriorityFeePerGas).toBe(priorityFee / fields.gas);
    expect(fields.maxFeePerGas).toBeGreaterThanOrEqual((head.baseFeePerGas ?? 0n) * 2n + fields.maxPriorityFeePerGas);
  });

  it("refuses a priority fee that is less than a wei for each unit of gas, and names the least", async () => {
    const refused = await draft({ priorityFee: 100n });
    expect(refused).toEqual({ ok: false, problem: "fee_too_low", limit: 26_250n });
    expect((await drafted({ priorityFee: 26_250n })).fields.maxPriorityFeePerGas).toBe(1n);
  });

  it("refuses a priority fee with which gas costs more than the limit, and names the most", async () => {
    const maxFeePerGas = 100n * 10n ** 9n;
    const refused = await draft({ priorityFee: ETHER }, { maxFeePerGas });
    if (refused.ok || refused.problem !== "fee_too_high") throw new Error("a fee over the limit was taken");
    expect((await drafted({ priorityFee: refused.limit }, { maxFeePerGas })).fields.maxFeePerGas).toBe(maxFeePerGas);
  });

  it("is not made while gas costs more than the limit", async () => {
    expect(await draft({}, { maxFeePerGas: 1n })).toMatchObject({ ok: false, problem: "expensive" });
  });
});

describe("no transfer is drafted", () => {
  it("that its sender cannot pay for: the amount, or the amount and its gas", async () => {
    const account = await world.buyer();
    const poor = (amount: bigint, asset = "native") => draft({ from: account.address, amount, asset });
    expect(await poor(ETHER + 1n)).toEqual({ ok: false, problem: "balance", needed: ETHER + 1n, got: ETHER });
    const fees = await poor(ETHER);
    expect(fees).toMatchObject({ ok: false, problem: "fees", got: ETHER });
    expect(await poor(1_000_001n, TOKEN)).toEqual({
      ok: false,
      problem: "balance",
      needed: 1_000_001n,
      got: 1_000_000n,
    });
    await world.sandbox.chain.rpc("anvil_setBalance", [account.address, "0x0"]);
    expect(await poor(1n, TOKEN)).toMatchObject({ ok: false, problem: "fees", got: 0n });
  });

  it("out of money that is on its way out already", async () => {
    const account = await world.buyer();
    await world.sandbox.chain.setAutomine(false);
    const half = ETHER / 2n;
    await world.submit(await world.sign(account, world.requirement(), { amount: half }));
    expect(await draft({ from: account.address, amount: half })).toMatchObject({ ok: false, problem: "balance" });
    await world.sandbox.chain.mine();
  });

  it.each([
    ["the zero address", () => `0x${"0".repeat(40)}`],
    ["the token itself", () => TOKEN],
    ["text that is no address", () => "0x1234"],
    ["an address with a wrong checksum", () => "0x5fBdB2315678afecb367f032d93F642f64180aa3"],
  ])("to %s", async (_, to) => {
    expect(await draft({ to: to(), asset: TOKEN })).toMatchObject({ ok: false, problem: "recipient" });
  });

  it("of native currency to a contract that refuses it", async () => {
    expect(await draft({ to: await refuser() })).toMatchObject({ ok: false, problem: "recipient" });
  });

  it("that the token refuses: the recipient's fault only where anybody else would get it", async () => {
    const { token } = world.sandbox;
    const account = await world.sandbox.newBuyer();
    await world.sandbox.native.setBalances([account.address], ETHER);
    const wanted = { from: account.address, asset: token.address };
    await token.setBlacklisted(world.sandbox.seller, true);
    const blocked = await draft(wanted);
    await token.setBlacklisted(world.sandbox.seller, false);
    expect(blocked).toMatchObject({ problem: "recipient", message: expect.stringContaining("blacklisted") });
    await token.setPaused(true);
    const paused = await draft(wanted);
    await token.setPaused(false);
    expect(paused).toMatchObject({ problem: "refused", message: expect.stringContaining("paused") });
    expect(await draft(wanted)).toMatchObject({ ok: true });
  });

  it("that the token only pretends to make", async () => {
    await world.setTokenMode("answers-false");
    expect(await draft({ asset: TOKEN })).toMatchObject({ ok: false, problem: "refused" });
  });

  it("of a token that is none on this chain, or of more units than there can be", async () => {
    const { address } = privateKeyToAccount(generatePrivateKey());
    expect(await draft({ asset: address })).toMatchObject({ ok: false, problem: "no_token" });
    expect(await draft({ asset: TOKEN, amount: 2n ** 256n })).toMatchObject({ ok: false, problem: "refused" });
  });

  it.each([
    ["breaks the connection", "*", fault.resetBefore()],
    ["is on another chain", "eth_chainId", fault.wrongChain(1)],
    ["gives no readable nonce", "eth_getTransactionCount", fault.lie("many")],
    ["gives no readable balance", "eth_getBalance", fault.lie(null)],
    ["names no base fee", "eth_getBlockByNumber", fault.twist(withoutBaseFee)],
    ["fails at the simulation", "eth_call", fault.error(-32000, "the backend is busy")],
  ])("by a node that %s", async (_, method, next) => {
    world.rpc.script(method, next, 4);
    expect(await draft()).toMatchObject({ ok: false, problem: "unreachable" });
  });
});

function withoutBaseFee(block: unknown): unknown {
  const { baseFeePerGas: _, ...rest } = z.looseObject({ baseFeePerGas: z.string() }).parse(block);
  return rest;
}

describe("the unsigned bytes of a transfer", () => {
  it("are those that viem writes, and are read back as they were written", () => {
    const quantity = fc.bigInt({ min: 0n, max: 2n ** 96n - 1n });
    const members = fc.record({
      chainId: fc.bigInt({ min: 1n, max: 2n ** 40n }),
      nonce: fc.bigInt({ min: 0n, max: 2n ** 40n }),
      maxFeePerGas: quantity,
      gas: fc.bigInt({ min: 0n, max: 2n ** 32n }),
      value: quantity,
      data: fc.uint8Array({ maxLength: 120 }),
      to: fc.uint8Array({ minLength: 20, maxLength: 20 }),
    });
    fc.assert(
      fc.property(members, ({ data, to, ...rest }) => {
        const fields = { ...rest, maxPriorityFeePerGas: rest.maxFeePerGas / 3n, data: toHex(data), to: toHex(to) };
        const bytes = writeTransaction(fields);
        const viem = { ...fields, chainId: Number(rest.chainId), nonce: Number(rest.nonce), type: "eip1559" } as const;
        expect(toHex(bytes)).toBe(serializeTransaction(viem));
        expect(readUnsigned(bytes)).toEqual(fields);
      }),
      { seed: 1559, numRuns: 300 },
    );
  });

  it("are nothing else: no signed transaction, no access list, no other spelling", async () => {
    const { fields } = await drafted();
    const bytes = writeTransaction(fields);
    const { raw } = await signedBy(buyer);
    expect(readUnsigned(toBytes(raw))).toBeUndefined();
    expect(readUnsigned(bytes.subarray(1))).toBeUndefined();
    expect(readUnsigned(Uint8Array.of(...bytes, 0))).toBeUndefined();
    const accessList = [{ address: TOKEN, storageKeys: [] }] as const;
    const listed = serializeTransaction({ type: "eip1559", chainId: CHAIN_ID, to: TOKEN, accessList });
    expect(readUnsigned(toBytes(listed))).toBeUndefined();
  });
});

describe("a signature", () => {
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

  it("with a high s becomes its low twin, with either spelling of its parity", async () => {
    const { fields } = await drafted();
    const signature = toBytes(await buyer.sign({ hash: toHex(digestOf(writeTransaction(fields))) }));
    const known = await joinSignature(fields, signature, buyer.address);
    const s = ORDER - BigInt(toHex(signature.subarray(32, 64)));
    const last = signature[64] ?? 0;
    for (const parity of [28 - (last - 27), 1 - (last - 27)]) {
      const twin = Uint8Array.of(...signature.subarray(0, 32), ...toBytes(toHex(s, { size: 32 })), parity);
      expect(await joinSignature(fields, twin, buyer.address)).toEqual(known);
    }
  });

  it("of another key, of another transfer, or of too few bytes is none", async () => {
    const { fields } = await drafted();
    const stranger = privateKeyToAccount(generatePrivateKey());
    const hash = toHex(digestOf(writeTransaction(fields)));
    const signature = toBytes(await buyer.sign({ hash }));
    expect(await joinSignature(fields, toBytes(await stranger.sign({ hash })), buyer.address)).toBeUndefined();
    expect(await joinSignature({ ...fields, value: 1n }, signature, buyer.address)).toBeUndefined();
    expect(await joinSignature(fields, signature.subarray(0, 64), buyer.address)).toBeUndefined();
  });
});
