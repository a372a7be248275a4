import { type Hex, parseTransaction, serializeTransaction, toRlp } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { fromBytes, toBytes } from "../../../src/chains/evm/hex.js";
import { readList } from "../../../src/chains/evm/rlp.js";
import { readTransaction } from "../../../src/chains/evm/transaction.js";
import { signedOf } from "./transfers.js";

const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const plain = {
  type: "eip1559",
  chainId: 84532,
  nonce: 7,
  maxPriorityFeePerGas: 1n,
  maxFeePerGas: 1000n,
  gas: 21_000n,
  to,
  value: 10n,
} as const;

const sign = async (parts: object = {}): Promise<Hex> => account.signTransaction({ ...plain, ...parts });
const read = (raw: Hex) => readTransaction(toBytes(raw));

/** Numbers that a test repeats: a linear congruential generator. */
function seeded(seed: bigint): (below: bigint) => bigint {
  let state = seed;
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
    return ((state >> 16n) * (state + 1n)) % below;
  };
}

type Items = readonly (Hex | Hex[])[];

/** The members of a signed transaction, to be put together otherwise. */
function members(raw: Hex): Items {
  const items = readList(toBytes(raw).subarray(1)) ?? [];
  return items.map((item) => (item.list ? [] : fromBytes(item.content)));
}
const together = (items: Items): Hex => `0x02${toRlp(items as Hex[]).slice(2)}`;

describe("the bytes of a signed transaction", () => {
  it("are read as viem reads them, 300 times over", async () => {
    const random = seeded(42n);
    for (let i = 0; i < 300; i++) {
      const sizes = [2n, 256n, 2n ** 32n, 2n ** 64n];
      const size = () => sizes[Number(random(4n))] ?? 1n;
      const data: Hex = `0x${"a5".repeat(Number(random(120n)))}`;
      const [maxPriorityFeePerGas, more] = [random(size()), random(size())];
      const parts = {
        chainId: Number(random(2n ** 40n)) + 1,
        nonce: Number(random(2n ** 50n)),
        maxPriorityFeePerGas,
        maxFeePerGas: maxPriorityFeePerGas + more,
        gas: random(size()),
        value: random(size()),
        data,
      };
      const raw = await sign(parts);
      const expected = parseTransaction(raw);
      const result = await read(raw);
      expect(result).toMatchObject({
        ok: true,
        transaction: {
          raw,
          hash: signedOf(raw, 0).hash,
          sender: account.address.toLowerCase(),
          chainId: BigInt(parts.chainId),
          nonce: BigInt(expected.nonce ?? 0),
          maxFeePerGas: expected.maxFeePerGas ?? 0n,
          gas: expected.gas ?? 0n,
          value: expected.value ?? 0n,
          to: to.toLowerCase(),
          data: expected.data ?? "0x",
        },
      });
    }
  });

  it("are another transaction, or none, where any one bit of them is changed", async () => {
    const bytes = toBytes(await sign({ data: `0x${"11".repeat(32)}` }));
    for (let bit = 0; bit < bytes.length * 8; bit += 3) {
      const changed = bytes.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const result = await readTransaction(changed);
      const same = result.ok && result.transaction.sender === account.address.toLowerCase();
      expect(same, `bit ${bit}`).toBe(false);
    }
  }, 60_000);

  it("are refused where they are cut, go on, or are empty", async () => {
    const raw = await sign();
    const malformed = { ok: false, code: "payment_malformed" };
    expect(await read("0x")).toMatchObject(malformed);
    expect(await read(`${raw}00`)).toMatchObject(malformed);
    for (let length = 1; length < toBytes(raw).length; length++) {
      expect(await readTransaction(toBytes(raw).subarray(0, length))).toMatchObject(malformed);
    }
  });

  it.each([
    ["a leading zero in a number", (items: Items): Items => items.with(6, "0x000a")],
    ["a zero that is written", (items: Items): Items => items.with(2, "0x00")],
    ["a recipient of 19 bytes", (items: Items): Items => items.with(5, `0x${"11".repeat(19)}`)],
    ["a number of 33 bytes", (items: Items): Items => items.with(6, `0x${"11".repeat(33)}`)],
    ["a member too many", (items: Items): Items => [...items, "0x01"]],
    ["a member too few", (items: Items): Items => items.slice(0, 11)],
    ["a list in place of a number", (items: Items): Items => items.with(6, [])],
    ["a number in place of the access list", (items: Items): Items => items.with(8, "0x")],
  ])("are refused with %s", async (_, change) => {
    const changed = together(change(members(await sign())));
    expect(await read(changed)).toMatchObject({ ok: false, code: "payment_malformed" });
  });

  it("are refused where a length is written longer than it need be", async () => {
    const raw = await sign();
    const list = raw.slice(4);
    const length = Number.parseInt(list.slice(2, 4), 16);
    expect(list.slice(0, 2)).toBe("f8");
    const longer: Hex = `0x02f900${length.toString(16)}${list.slice(4)}`;
    expect(await read(longer)).toMatchObject({ code: "payment_malformed", got: "bytes that are no canonical RLP" });
    // The value 10 as a string of one byte with a header.
    const [before, after] = [`94${to.slice(2).toLowerCase()}`, list.slice(4)];
    const spelled = after.replace(`${before}0a`, `${before}810a`);
    const grown: Hex = `0x02f8${(length + 1).toString(16)}${spelled}`;
    expect(spelled).not.toBe(after);
    expect(await read(grown)).toMatchObject({ code: "payment_malformed", got: "bytes that are no canonical RLP" });
  });

  it("are refused with the malleable twin of their signature, a foreign parity or no signature at all", async () => {
    const raw = await sign();
    const items = members(raw);
    const { yParity = 0, s = "0x0" } = parseTransaction(raw);
    const high: Hex = `0x${(ORDER - BigInt(s)).toString(16).padStart(64, "0")}`;
    const twin = together(items.with(9, yParity === 0 ? "0x01" : "0x").with(11, high));
    const invalid = { ok: false, code: "signature_invalid" };
    expect(await read(twin)).toMatchObject({ ...invalid, got: "a signature with a high s" });
    expect(await read(together(items.with(9, "0x1b")))).toMatchObject({ ...invalid, got: "a parity of 27" });
    expect(await read(together(items.with(10, "0x").with(11, "0x")))).toMatchObject(invalid);
    expect(await read(serializeTransaction({ ...plain, maxFeePerGas: 1000n }))).toMatchObject({
      code: "payment_malformed",
    });
  });

  it.each([
    ["a legacy transaction", { type: "legacy", gasPrice: 1n }],
    ["type 1 (EIP-2930)", { type: "eip2930", gasPrice: 1n, accessList: [] }],
    ["type 3 (EIP-4844)", { type: "eip4844", blobVersionedHashes: [`0x01${"00".repeat(31)}`], maxFeePerBlobGas: 1n }],
    ["type 4 (EIP-7702)", { type: "eip7702", authorizationList: [] }],
  ] as const)("are refused by name where they are %s", async (got, parts) => {
    const { maxFeePerGas, maxPriorityFeePerGas, ...legacy } = plain;
    const old = "gasPrice" in parts;
    const raw = await account.signTransaction({ ...(old ? legacy : plain), ...parts } as never);
    expect(await read(raw)).toEqual({
      ok: false,
      code: "payment_rejected",
      expected: "a transaction of type 2 (EIP-1559)",
      got,
    });
  });

  it("are refused with an access list, or where they create a contract", async () => {
    const accessList = [{ address: to, storageKeys: [] }];
    expect(await read(await sign({ accessList }))).toMatchObject({ code: "payment_rejected", got: "an access list" });
    const created = await read(await sign({ to: undefined, data: "0x00" }));
    expect(created).toMatchObject({ code: "payment_rejected", got: "the creation of a contract" });
  });

  it("are refused as malformed where they are text, or begin with a type that nobody knows", async () => {
    expect(await readTransaction(new TextEncoder().encode("hello"))).toMatchObject({ code: "payment_malformed" });
    expect(await read("0x7e00")).toMatchObject({ code: "payment_malformed" });
  });
});
