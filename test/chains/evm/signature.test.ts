import fc from "fast-check";
import { encodeFunctionData, hashTypedData, keccak256, parseAbi, serializeErc6492Signature, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { addressOf, isSound, loadBackend, loadRecovery, RECOVERIES } from "../../../src/chains/evm/backend.js";
import {
  aggregate3,
  authorizationState,
  balanceOf,
  isValidSignature,
  settlementCall,
} from "../../../src/chains/evm/calldata.js";
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, TRANSFER } from "../../../src/chains/evm/evidence.js";
import { fromBytes, type Hex, toBytes, word } from "../../../src/chains/evm/hex.js";
import { isSignedBy, readSignature } from "../../../src/chains/evm/signature.js";
import { authorizationDigest, domainSeparator, type TokenDomain } from "../../../src/chains/evm/typed-data.js";
import { keccak256 as ours } from "../../../src/keccak.js";

const domain: TokenDomain = {
  name: "USDC",
  version: "2",
  chainId: 84532,
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
};
// Source: protocol §3.1.
const authorization = {
  from: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
  to: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  value: 10_000n,
  validAfter: 0n,
  validBefore: 1_893_456_000n,
  nonce: `0x${"11".repeat(32)}`,
} as const;
const digest = "0x7418c5730e5b1d28b3a3b5616f476479526a4668612cb2deb15e58e8cce0956b";
const signature =
  "0xbc72909f94e2cebee2d4b1375df79e97871474f959804e254bef016d0dca67f576cd8a65a6505cc16668db796372ed51e1bbf10efe7988803ab21ad1a2e697a01c";

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;
const primaryType = "TransferWithAuthorization" as const;
const toViem = ({ asset, ...rest }: TokenDomain) => ({ ...rest, verifyingContract: asset as Hex });

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe("typed data", () => {
  it("gives the digest of the protocol's vector", () => {
    expect(fromBytes(authorizationDigest(domain, authorization))).toBe(digest);
  });

  it.each([
    [
      "USD Coin",
      8453,
      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
    ],
    ["USDC", 84532, domain.asset, "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818"],
    [
      "USD Coin",
      1,
      "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
      "0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
    ],
    [
      "USD Coin",
      137,
      "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
      "0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca",
    ],
    [
      "USDC",
      80002,
      "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582",
      "0x5cddc98319864e897e4469bd1d13c2288c677047b54b8cca12bd342adb6be9eb",
    ],
    [
      "USD Coin",
      42161,
      "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
      "0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78",
    ],
    [
      "USD Coin",
      43114,
      "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
      "0xbbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3",
    ],
    [
      "USD Coin",
      43113,
      "0x5425890298aed601595a70AB815c96711a31Bc65",
      "0xfe9fa105a0e9629446730e544caa6b8d05d8d4fc93451750dc50e2ddd6d374b3",
    ],
  ])("computes the domain separator of %s on chain %i", (name, chainId, asset, separator) => {
    expect(domainSeparator({ name, version: "2", chainId, asset })).toBe(separator);
  });
});

describe.each(RECOVERIES)("recovery by %s", (name) => {
  it("agrees with viem on random authorizations, and on none that was altered", async () => {
    const recover = await loadRecovery(name);
    if (!recover) throw new Error(`${name} is not installed`);
    const backend = { name, recover, keccak: ours };
    const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(fromBytes);
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 1n, max: ORDER - 1n }),
        fc.record({ to: bytes(20), value: uint, validAfter: uint, validBefore: uint, nonce: bytes(32) }),
        fc.record({ name: fc.string({ unit: "binary" }), version: fc.string(), chainId: fc.nat(), asset: bytes(20) }),
        async (key, parts, someDomain) => {
          const account = privateKeyToAccount(`0x${word(key)}`);
          const message = { ...parts, from: account.address.toLowerCase() as Hex };
          const typed = { domain: toViem(someDomain), types, primaryType, message };
          expect(fromBytes(authorizationDigest(someDomain, message))).toBe(hashTypedData(typed));
          const signed = readSignature(await account.signTypedData(typed));
          expect(await isSignedBy(backend, someDomain, message, signed)).toBe(true);
          expect(await isSignedBy(backend, someDomain, { ...message, value: message.value ^ 1n }, signed)).toBe(false);
        },
      ),
      { seed: 20260714, numRuns: name.includes("js") ? 30 : 100 },
    );
  });

  it("finds the key of the protocol's vector", async () => {
    const recover = await loadRecovery(name);
    const key = await recover?.(toBytes(digest), toBytes(signature).subarray(0, 64), 1);
    expect(key && addressOf(key, ours)).toBe(authorization.from);
  });

  it("gives no key for r or s outside the curve, and does not throw", async () => {
    const recover = await loadRecovery(name);
    for (const part of ["00".repeat(32), "ff".repeat(32)]) {
      const s = signature.slice(66, 130);
      expect(await recover?.(toBytes(digest), toBytes(part + s), 0)).toBeUndefined();
      expect(await recover?.(toBytes(digest), toBytes(s + part), 0)).toBeUndefined();
    }
  });
});

describe("the signature of a plain account", () => {
  const check = async (text: Hex) => isSignedBy(await loadBackend(), domain, authorization, readSignature(text));

  it("is taken with v of 27 or 28, and with 0 or 1 in their place", async () => {
    expect(await check(signature)).toBe(true);
    expect(await check(`${signature.slice(0, -2)}01` as Hex)).toBe(true);
    expect(await check(`${signature.slice(0, -2)}1b` as Hex)).toBe(false);
    expect(await check(`${signature.slice(0, -2)}1d` as Hex)).toBe(false);
  });

  it("is refused with a high s, although it recovers to the same key", async () => {
    const twin = word(ORDER - BigInt(`0x${signature.slice(66, 130)}`));
    expect(await check(`${signature.slice(0, 66)}${twin}1b` as Hex)).toBe(false);
  });

  it("is refused in the compact form of 64 bytes and with a byte too many", async () => {
    expect(await check(signature.slice(0, -2) as Hex)).toBe(false);
    expect(await check(`${signature}00`)).toBe(false);
  });

  it("is left to no implementation that fails the known vector, or finds its key behind every digest", async () => {
    const recover = await loadRecovery("viem (js)");
    const right = await recover?.(toBytes(digest), toBytes(signature).subarray(0, 64), 1);
    expect(await isSound(() => undefined)).toBe(false);
    expect(await isSound(() => new Uint8Array(64))).toBe(false);
    expect(await isSound(() => right)).toBe(false);
    expect(recover && (await isSound(recover))).toBe(true);
  });

  it("uses the fastest implementation that is installed, and names it", async () => {
    expect((await loadBackend()).name).toBe("secp256k1 (native)");
  });
});

describe("an ERC-6492 signature", () => {
  const factory = "0x00000000000000000000000000000000000fac70";

  it("is unwrapped as viem wraps it", () => {
    const wrapped = serializeErc6492Signature({ address: factory, data: "0x010203", signature });
    expect(readSignature(wrapped)).toEqual({ form: "wrapped", factory, deployment: "0x010203", inner: signature });
  });

  it("is of no form when its offsets lead outside of it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const form = readSignature(`${fromBytes(bytes)}${"6492".repeat(16)}`);
        expect(form.form === "other" || form.form === "wrapped").toBe(true);
      }),
      { seed: 6492, numRuns: 500 },
    );
    const wrapped = serializeErc6492Signature({ address: factory, data: "0x01", signature });
    expect(readSignature(wrapped.replace(word(0x60), word(2n ** 255n)) as Hex)).toEqual({ form: "other" });
  });
});

describe("calldata", () => {
  const abi = parseAbi([
    "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
    "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
    "function balanceOf(address)",
    "function authorizationState(address,bytes32)",
    "function isValidSignature(bytes32,bytes)",
    "function aggregate3((address,bool,bytes)[])",
  ]);
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const head = [from, to, value, validAfter, validBefore, nonce] as const;
  const asset = domain.asset as Hex;
  const encode = (functionName: never, args: never) => encodeFunctionData({ abi, functionName, args });

  it("is what viem encodes, for each kind of payer", () => {
    const form = readSignature(signature);
    const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`] as const;
    const vrs = encode("transferWithAuthorization" as never, [...head, 28, r, s] as never);
    const bytes = encode("transferWithAuthorization" as never, [...head, signature] as never);
    expect(settlementCall("eoa", asset, authorization, signature, form)).toMatchObject({
      to: asset,
      data: vrs,
      gas: 120_000n,
    });
    expect(settlementCall("contract", asset, authorization, signature, form)).toMatchObject({
      data: bytes,
      gas: 500_000n,
    });
  });

  it("deploys and pays in one call of Multicall3, where only the deployment may fail", () => {
    const deployment = "0xabcdef";
    const wrapped = serializeErc6492Signature({ address: asset, data: deployment, signature });
    const call = settlementCall("counterfactual", asset, authorization, wrapped, readSignature(wrapped));
    const inner = encode("transferWithAuthorization" as never, [...head, signature] as never);
    const calls = [
      [asset.toLowerCase(), true, deployment],
      [asset, false, inner],
    ];
    expect(call?.data).toBe(encode("aggregate3" as never, [calls] as never));
  });

  it("reads as viem reads", () => {
    expect(balanceOf(from)).toBe(encode("balanceOf" as never, [from] as never));
    expect(authorizationState(from, nonce)).toBe(encode("authorizationState" as never, [from, nonce] as never));
    expect(isValidSignature(digest, "0x1234")).toBe(encode("isValidSignature" as never, [digest, "0x1234"] as never));
    expect(aggregate3([])).toBe(encode("aggregate3" as never, [[]] as never));
  });

  it("knows the events by their hashes", () => {
    expect(keccak256(stringToHex("AuthorizationUsed(address,bytes32)"))).toBe(AUTHORIZATION_USED);
    expect(keccak256(stringToHex("AuthorizationCanceled(address,bytes32)"))).toBe(AUTHORIZATION_CANCELED);
    expect(keccak256(stringToHex("Transfer(address,address,uint256)"))).toBe(TRANSFER);
  });
});
