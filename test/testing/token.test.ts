import {
  type Address,
  createPublicClient,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
  http,
  parseSignature,
  serializeSignature,
  signatureToCompactSignature,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createSandbox, type Sandbox } from "../../src/testing/sandbox.js";
import { testToken } from "../../src/testing/token.artifact.js";

let sandbox: Sandbox;
let clean: string;
let buyer: PrivateKeyAccount;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  // Each test starts from an untouched chain; a snapshot serves once.
  if (clean) await sandbox.chain.revert(clean);
  clean = z.string().parse(await sandbox.chain.snapshot());
  buyer = await sandbox.newBuyer(50_000n);
});

type Signed = Awaited<ReturnType<Sandbox["signAuthorization"]>>;
type Direction = "transferWithAuthorization" | "receiveWithAuthorization";
const abi = testToken.abi;

/** Calldata of one overload: bytes, or v, r and s. */
function calldata(
  signed: Signed,
  overload: "bytes" | "vrs",
  functionName: Direction = "transferWithAuthorization",
): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = signed.message;
  const message = [from, to, value, validAfter, validBefore, nonce] as const;
  if (overload === "bytes") return encodeFunctionData({ abi, functionName, args: [...message, signed.signature] });
  const { r, s, v } = parseSignature(signed.signature);
  return encodeFunctionData({ abi, functionName, args: [...message, Number(v), r, s] });
}

/** Sends from the settler (or another unlocked sender) and answers with the logs' names in order, or the revert text. */
async function submit(data: Hex, from: Address = sandbox.settler.address): Promise<string[] | string> {
  const call = { from, to: sandbox.token.address, data };
  try {
    await sandbox.chain.rpc("eth_call", [call, "latest"]);
  } catch (error) {
    return String(error)
      .replace(/.*execution reverted:? ?/, "")
      .trim();
  }
  await sandbox.chain.rpc("anvil_impersonateAccount", [from]);
  await sandbox.chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]);
  const hash = z.string().parse(await sandbox.chain.rpc("eth_sendTransaction", [call]));
  const client = createPublicClient({ transport: http(sandbox.rpcUrl) });
  const receipt = await client.waitForTransactionReceipt({ hash: hash as Hex, pollingInterval: 5 });
  expect(receipt.status).toBe("success");
  return receipt.logs.map((log) => decodeEventLog({ abi, data: log.data, topics: log.topics }).eventName);
}
const pays = async (parts: Parameters<Sandbox["signAuthorization"]>[1] = { value: 10_000n }) =>
  submit(calldata(await sandbox.signAuthorization(buyer, parts), "bytes"));
const moved = ["AuthorizationUsed", "Transfer"];
const sellerHas = () => sandbox.token.balanceOf(sandbox.seller);

describe("an authorization", () => {
  it.each(["bytes", "vrs"] as const)(
    "moves the money by the %s overload, AuthorizationUsed before Transfer",
    async (overload) => {
      const signed = await sandbox.signAuthorization(buyer, { value: 10_000n });
      expect(calldata(signed, overload).slice(0, 10)).toBe(overload === "bytes" ? "0xcf092995" : "0xe3ee160e");
      expect(await submit(calldata(signed, overload))).toEqual(moved);
      expect(await sellerHas()).toBe(10_000n);
      expect(await submit(calldata(signed, overload))).toBe("FiatTokenV2: authorization is used or canceled");
      expect(await sellerHas()).toBe(10_000n);
    },
  );

  it.each(["bytes", "vrs"] as const)(
    "for the payee alone works by the %s overload only from the payee",
    async (overload) => {
      const signed = await sandbox.signAuthorization(buyer, { value: 1n }, "ReceiveWithAuthorization");
      const data = calldata(signed, overload, "receiveWithAuthorization");
      expect(await submit(data)).toBe("FiatTokenV2: caller must be the payee");
      expect(await submit(calldata(signed, overload))).toBe("FiatTokenV2: invalid signature");
      expect(await submit(data, sandbox.seller)).toEqual(moved);
    },
  );

  it.each(["bytes", "vrs"] as const)("is cancelled by the %s overload and can then not be used", async (overload) => {
    const signed = await sandbox.signAuthorization(buyer, { value: 1n });
    const { nonce } = signed.message;
    const signature = await sandbox.signCancellation(buyer, nonce);
    const { r, s, v } = parseSignature(signature);
    const cancel = (sender: Hex) =>
      encodeFunctionData({ abi, functionName: "cancelAuthorization", args: [sender, nonce, signature] });
    const vrs = [buyer.address, nonce, Number(v), r, s] as const;
    const data =
      overload === "bytes"
        ? cancel(buyer.address)
        : encodeFunctionData({ abi, functionName: "cancelAuthorization", args: vrs });
    expect(await submit(cancel(sandbox.seller))).toBe("FiatTokenV2: invalid signature");
    expect(await submit(data)).toEqual(["AuthorizationCanceled"]);
    expect(await sandbox.token.authorizationState(buyer.address, nonce)).toBe(true);
    expect(await submit(calldata(signed, overload))).toBe("FiatTokenV2: authorization is used or canceled");
  });

  it("is valid strictly between its two times", async () => {
    const now = BigInt(await sandbox.chain.time()) + 1_000n;
    const at = async (validAfter: bigint, validBefore: bigint) => {
      const signed = await sandbox.signAuthorization(buyer, { value: 1n, validAfter, validBefore });
      const tail = [{ from: sandbox.settler.address, to: sandbox.token.address, data: calldata(signed, "bytes") }];
      const override = [...tail, "latest", {}, { time: `0x${now.toString(16)}` }];
      return sandbox.chain.rpc("eth_call", override).then(
        () => "moves",
        (error: unknown) => String(error).replace(/.*execution reverted: ?/, ""),
      );
    };
    expect(await at(now - 1n, now + 1n)).toBe("moves");
    expect(await at(now, now + 1n)).toBe("FiatTokenV2: authorization is not yet valid");
    expect(await at(now - 1n, now)).toBe("FiatTokenV2: authorization is expired");
  });

  it("needs the money, a payee, and a signature over exactly these values", async () => {
    expect(await pays({ value: 50_001n })).toBe("ERC20: transfer amount exceeds balance");
    expect(await pays({ value: 1n, to: `0x${"00".repeat(20)}` })).toBe("ERC20: transfer to the zero address");
    const signed = await sandbox.signAuthorization(buyer, { value: 1n });
    const altered = { ...signed, message: { ...signed.message, value: 2n } };
    expect(await submit(calldata(altered, "bytes"))).toBe("FiatTokenV2: invalid signature");
  });

  it("is refused in every other form of its signature", async () => {
    const signed = await sandbox.signAuthorization(buyer, { value: 1n });
    const { r, s, yParity } = parseSignature(signed.signature);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const twin = `0x${(order - BigInt(s)).toString(16).padStart(64, "0")}` as const;
    const highS = serializeSignature({ r, s: twin, yParity: 1 - yParity });
    const compact = signatureToCompactSignature({ r, s, yParity });
    const as = (signature: Hex) => submit(calldata({ ...signed, signature }, "bytes"));
    expect(await as(highS)).toBe("ECRecover: invalid signature 's' value");
    expect(await as(`0x${signed.signature.slice(2, -2)}0${yParity}`)).toBe("ECRecover: invalid signature 'v' value");
    expect(await as(`${compact.r}${compact.yParityAndS.slice(2)}`)).toBe("ECRecover: invalid signature length");
    expect(await as(signed.signature)).toEqual(moved);
  });
});

describe("a paying contract", () => {
  it("pays through ERC-1271 by both overloads and never by its own key's ECDSA", async () => {
    const wallet = await sandbox.wallets.deployed(buyer);
    await sandbox.token.setBalances([wallet.address], 100n);
    const signed = await sandbox.signAuthorization(wallet, { value: 1n });
    expect(await submit(calldata(signed, "vrs"))).toEqual(moved);
    await sandbox.wallets.setMode(wallet, buyer.address, "rejects");
    expect(await submit(calldata(await sandbox.signAuthorization(wallet, { value: 1n }), "bytes"))).toBe(
      "FiatTokenV2: invalid signature",
    );
    await sandbox.wallets.setMode(wallet, buyer.address, "accepts");
    const unsigned = { ...(await sandbox.signAuthorization(wallet, { value: 1n })), signature: "0x" as const };
    expect(await submit(calldata(unsigned, "bytes"))).toEqual(moved);
  });

  it("that burns all gas makes the transfer fail", async () => {
    const wallet = await sandbox.wallets.deployed(buyer, "burns-gas");
    await sandbox.token.setBalances([wallet.address], 100n);
    expect(await submit(calldata(await sandbox.signAuthorization(wallet, { value: 1n }), "bytes"))).not.toEqual(moved);
    expect(await sandbox.token.balanceOf(wallet.address)).toBe(100n);
  });

  it("that is not deployed yet signs as ERC-6492, and can pay once it is", async () => {
    const wallet = sandbox.wallets.counterfactual(buyer);
    await sandbox.token.setBalances([wallet.address], 100n);
    const wrapped = await sandbox.signAuthorization(wallet, { value: 1n });
    expect(wrapped.signature.slice(-64)).toBe("6492".repeat(16));
    const client = createPublicClient({ transport: http(sandbox.rpcUrl) });
    expect(await client.getCode({ address: wallet.address })).toBeUndefined();
    await wallet.deploy();
    expect(await client.getCode({ address: wallet.address })).toMatch(/^0x60/);
    const inner = await sandbox.signAuthorization({ ...buyer, address: wallet.address }, { value: 1n });
    expect(await submit(calldata(inner, "bytes"))).toEqual(moved);
  });

  it("by EIP-7702 is judged by its delegate, not by the account's key", async () => {
    await sandbox.wallets.delegated(buyer);
    expect(await pays()).toEqual(moved);
    await sandbox.wallets.delegated(buyer, "rejects");
    expect(await pays()).toBe("FiatTokenV2: invalid signature");
  });
});

describe("a bad token", () => {
  it("that is paused moves and cancels nothing", async () => {
    await sandbox.token.setPaused(true);
    expect(await pays()).toBe("Pausable: paused");
    await sandbox.token.setPaused(false);
    expect(await pays()).toEqual(moved);
  });

  it("refuses a blacklisted payer and a blacklisted payee", async () => {
    for (const account of [buyer.address, sandbox.seller]) {
      await sandbox.token.setBlacklisted(account, true);
      expect(await pays()).toBe("Blacklistable: account is blacklisted");
      await sandbox.token.setBlacklisted(account, false);
    }
  });

  it("with a fee delivers less and logs what was delivered", async () => {
    await sandbox.token.setFeeBasisPoints(100);
    expect(await pays()).toEqual([...moved, "Transfer"]);
    expect(await sellerHas()).toBe(9_900n);
    expect(await sandbox.token.transfers({ to: sandbox.seller })).toMatchObject([{ value: 9_900n }]);
    expect(await sandbox.token.balanceOf(buyer.address)).toBe(40_000n);
  });

  it("with silent reuse succeeds on a used nonce and moves nothing", async () => {
    await sandbox.token.setSilentReuse(true);
    const data = calldata(await sandbox.signAuthorization(buyer, { value: 10_000n }), "vrs");
    expect(await submit(data)).toEqual(moved);
    expect(await submit(data)).toEqual(["AuthorizationUsed"]);
    expect(await sellerHas()).toBe(10_000n);
  });

  it("that is mute moves the money without a Transfer log", async () => {
    await sandbox.token.setMute(true);
    expect(await pays()).toEqual(["AuthorizationUsed"]);
    expect(await sellerHas()).toBe(10_000n);
  });

  it("under another name or version refuses what was signed for the first", async () => {
    await sandbox.token.setDomain("USD Coin", "");
    expect(await pays()).toBe("FiatTokenV2: invalid signature");
    await sandbox.token.setDomain("", "3");
    expect(await pays()).toBe("FiatTokenV2: invalid signature");
    await sandbox.token.setDomain("", "");
    expect(await pays()).toEqual(moved);
    await sandbox.token.setDecimals(0);
    const client = createPublicClient({ transport: http(sandbox.rpcUrl) });
    expect(await client.readContract({ ...sandbox.token, functionName: "decimals" })).toBe(0);
  });
});

describe("the ERC-20 side", () => {
  it("transfers, approves and spends allowances with USDC's words", async () => {
    const call = (data: Hex, from: Address = buyer.address) => submit(data, from);
    const { address: other } = await sandbox.newBuyer(0n);
    const take = encodeFunctionData({ abi, functionName: "transferFrom", args: [buyer.address, other, 5n] });
    expect(await call(encodeFunctionData({ abi, functionName: "transfer", args: [other, 3n] }))).toEqual(["Transfer"]);
    expect(await call(take, other)).toBe("ERC20: transfer amount exceeds allowance");
    expect(await call(encodeFunctionData({ abi, functionName: "approve", args: [other, 5n] }))).toEqual(["Approval"]);
    expect(await call(take, other)).toEqual(["Transfer"]);
    expect(await call(take, other)).toBe("ERC20: transfer amount exceeds allowance");
    expect(await sandbox.token.balanceOf(other)).toBe(8n);
    expect(await call(encodeFunctionData({ abi, functionName: "transfer", args: [buyer.address, 9n] }), other)).toBe(
      "ERC20: transfer amount exceeds balance",
    );
  });
});
