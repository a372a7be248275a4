import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { AuthorizationProof } from "../../../src/proof.js";
import { createWorld, fault, unixNow, verifyContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

const verify = (proof: AuthorizationProof, known = false) => world.receiver.verify(proof, verifyContext(known));
const invalid = (code: string, reason: string) => ({ outcome: "invalid", code, reason });

describe("a good payment", () => {
  it("is valid, with the payer and his balance, and changes nothing on the chain", async () => {
    const proof = await world.proof();
    const before = await world.sandbox.chain.rpc("eth_blockNumber");
    const verdict = { outcome: "valid", payer: proof.authorization.from, balance: 1_000_000_000n };
    expect(await verify(proof)).toEqual(verdict);
    expect(await verify(proof)).toEqual(verdict);
    expect(await world.sandbox.chain.rpc("eth_blockNumber")).toBe(before);
  });

  it("costs one HTTP request", async () => {
    const chainIds = world.rpc.count("eth_chainId");
    const calls = world.rpc.count();
    await verify(await world.proof());
    // Every batch begins with the chain id, so its count is the count of requests.
    expect(world.rpc.count("eth_chainId") - chainIds).toBe(1);
    expect(world.rpc.count() - calls).toBe(6);
  });

  it("is simulated as it will be sent: from the settler, with the gas limit of a plain account", async () => {
    await verify(await world.proof());
    const [call] = world.rpc
      .params("eth_call")
      .filter(([parts]) => JSON.stringify(parts).includes("0xe3ee160e"))
      .slice(-1);
    const settler = world.sandbox.settler.address.toLowerCase();
    expect(call?.[0]).toMatchObject({ from: settler, gas: "0x1d4c0", to: world.requirement.asset.toLowerCase() });
  });

  it("is valid in version 1 too", async () => {
    expect(await verify(await world.proof({ version: 1 }))).toMatchObject({ outcome: "valid" });
  });

  it("is judged by the pending block where the latest one is older than the authorization", async () => {
    await world.sandbox.chain.mine();
    const late = BigInt(await world.sandbox.chain.time());
    const proof = await world.proof({ overrides: { validAfter: late } });
    while (unixNow() <= late) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await verify(proof)).toMatchObject({ outcome: "valid" });
  });
});

describe("a payment of a plain account is refused", () => {
  it("when another key signed it", async () => {
    const victim = await world.sandbox.newBuyer();
    const forged = await world.proof({ overrides: { from: victim.address } });
    expect(await verify(forged)).toMatchObject(invalid("signature_invalid", "invalid_exact_evm_payload_signature"));
  });

  it.each([
    ["name", { name: "USD Coin" }],
    ["version", { version: "1" }],
    ["chain id", { chainId: 8453 }],
    ["token", { verifyingContract: `0x${"12".repeat(20)}` as const }],
  ])("when it was signed for another %s of the token's domain", async (_, domain) => {
    expect(await verify(await world.proof({ domain }))).toMatchObject({ code: "signature_invalid" });
  });

  it("when its signature is too long for a plain account, as not deployed", async () => {
    const proof = await world.proof();
    const longer = { ...proof, signature: `${proof.signature}00` as const };
    const word = "invalid_exact_evm_payload_undeployed_smart_wallet";
    expect(await verify(longer)).toMatchObject(invalid("wallet_not_deployed", word));
  });

  it("when it pays somebody else or another amount, without a call", async () => {
    const calls = world.rpc.count();
    const elsewhere = await world.proof({ overrides: { to: world.sandbox.settler.address } });
    const less = await world.proof({ overrides: { value: 9_999n } });
    const v1 = await world.proof({ overrides: { value: 10_001n }, version: 1 });
    const about = { expected: world.requirement.payTo, got: world.sandbox.settler.address.toLowerCase() };
    const recipient = "invalid_exact_evm_payload_recipient_mismatch";
    expect(await verify(elsewhere)).toEqual({ ...invalid("recipient_mismatch", recipient), ...about });
    const value = "invalid_exact_evm_payload_authorization_value";
    expect(await verify(less)).toMatchObject(invalid("amount_mismatch", `${value}_mismatch`));
    expect(await verify(v1)).toMatchObject(invalid("amount_mismatch", value));
    expect(world.rpc.count()).toBe(calls);
  });

  it("when it has expired or is not valid yet", async () => {
    const expired = await world.proof({ overrides: { validBefore: unixNow() - 1n } });
    const early = await world.proof({ overrides: { validAfter: unixNow() + 100n } });
    const word = "invalid_exact_evm_payload_authorization_valid";
    expect(await verify(expired)).toMatchObject(invalid("payment_expired", `${word}_before`));
    expect(await verify(early)).toMatchObject(invalid("payment_not_yet_valid", `${word}_after`));
  });

  it("when the payer holds too little, with both amounts", async () => {
    const account = await world.sandbox.newBuyer(9_999n);
    const verdict = { ...invalid("insufficient_funds", "insufficient_funds"), expected: "10000", got: "9999" };
    expect(await verify(await world.proof({ account }))).toEqual(verdict);
  });

  it("when the token is paused or the payer blacklisted, in the token's words", async () => {
    const account = await world.sandbox.newBuyer();
    const [v1, v2] = [await world.proof({ account, version: 1 }), await world.proof({ account })];
    await world.sandbox.token.setPaused(true);
    const word = "invalid_exact_evm_transaction_simulation_failed";
    const got = { got: "Pausable: paused" };
    expect(await verify(v2)).toEqual({ ...invalid("simulation_failed", word), ...got });
    expect(await verify(v1)).toEqual({ ...invalid("simulation_failed", "invalid_transaction_state"), ...got });
    await world.sandbox.token.setPaused(false);
    await world.sandbox.token.setBlacklisted(account.address, true);
    expect(await verify(v2)).toMatchObject({ code: "simulation_failed", got: "Blacklistable: account is blacklisted" });
  });

  it("when its nonce is used, unless the signature is bad: a forger learns nothing", async () => {
    const proof = await world.proof();
    await world.submit(proof);
    expect(await verify(proof)).toEqual({ outcome: "used" });
    const forged = { ...proof, signature: (await world.proof()).signature };
    expect(await verify(forged)).toMatchObject({ code: "signature_invalid" });
  });

  it("when its nonce is used and its time is over: it may have paid before", async () => {
    const end = BigInt(await world.sandbox.chain.time()) + 30n;
    const proof = await world.proof({ overrides: { validBefore: end } });
    await world.submit(proof);
    vi.useFakeTimers({ toFake: ["Date"], now: Number(end + 1n) * 1000 });
    try {
      expect(await verify(proof)).toEqual({ outcome: "used" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("when its nonce is used, also with a token that does not revert on it", async () => {
    const proof = await world.proof();
    await world.submit(proof);
    await world.sandbox.token.setSilentReuse(true);
    expect(await verify(proof)).toEqual({ outcome: "used" });
    await world.sandbox.token.setSilentReuse(false);
  });

  it("when its nonce is used, also with a token that does not revert on a second use", async () => {
    await world.sandbox.token.setSilentReuse(true);
    const proof = await world.proof();
    await world.submit(proof);
    const verdict = await verify(proof);
    await world.sandbox.token.setSilentReuse(false);
    expect(verdict).toEqual({ outcome: "used" });
  });

  it("by the simulation even where the signature is said to be known", async () => {
    const proof = await world.proof();
    const forged = { ...proof, signature: (await world.proof()).signature };
    expect(await verify(forged, true)).toMatchObject({ outcome: "invalid", code: "signature_invalid" });
    expect(await verify(proof, true)).toMatchObject({ outcome: "valid" });
  });
});

describe("a payment of a smart wallet", () => {
  const fund = async (address: `0x${string}`) => world.sandbox.token.setBalances([address], 1_000_000n);

  it("is valid when the wallet says so (EIP-1271), by the bytes overload with 500,000 gas", async () => {
    const wallet = await world.sandbox.wallets.deployed(await world.sandbox.newBuyer());
    await fund(wallet.address);
    expect(await verify(await world.proof({ account: wallet }))).toMatchObject({
      outcome: "valid",
      balance: 1_000_000n,
    });
    const sent = world.rpc.params("eth_call").map(([parts]) => parts);
    expect(JSON.stringify(sent)).toContain('"gas":"0x7a120"');
  });

  it.each(["rejects", "burns-gas"] as const)("is refused when the wallet %s, whoever signed", async (mode) => {
    const wallet = await world.sandbox.wallets.deployed(await world.sandbox.newBuyer(), mode);
    await fund(wallet.address);
    expect(await verify(await world.proof({ account: wallet }))).toMatchObject({ code: "signature_invalid" });
  });

  it("is refused when another key than the owner's signed", async () => {
    const wallet = await world.sandbox.wallets.deployed(await world.sandbox.newBuyer());
    const stranger = await world.sandbox.newBuyer();
    const account = { address: wallet.address, signTypedData: stranger.signTypedData };
    expect(await verify(await world.proof({ account }))).toMatchObject({ code: "signature_invalid" });
  });

  it("is judged by the delegate where a plain account has delegated itself (EIP-7702)", async () => {
    const accepts = await world.sandbox.wallets.delegated(await world.sandbox.newBuyer());
    const rejects = await world.sandbox.wallets.delegated(await world.sandbox.newBuyer(), "rejects");
    expect(await verify(await world.proof({ account: accepts }))).toMatchObject({ outcome: "valid" });
    const verdict = await verify(await world.proof({ account: rejects }));
    expect(verdict).toMatchObject({ code: "signature_invalid", got: expect.stringContaining("EIP-7702") });
  });

  it("is refused when it has to be deployed first and its factory is on no list", async () => {
    const wallet = world.sandbox.wallets.counterfactual(await world.sandbox.newBuyer());
    await fund(wallet.address);
    const word = "eip6492_factory_not_allowed";
    expect(await verify(await world.proof({ account: wallet }))).toMatchObject(
      invalid("wallet_factory_not_allowed", word),
    );
    const v1 = "invalid_exact_evm_payload_undeployed_smart_wallet";
    const old = await world.proof({ account: wallet, version: 1 });
    expect(await verify(old)).toMatchObject(invalid("wallet_factory_not_allowed", v1));
  });

  it("is valid when its factory is on the list, and is not deployed by that", async () => {
    const wallet = world.sandbox.wallets.counterfactual(await world.sandbox.newBuyer());
    await fund(wallet.address);
    const receiver = world.open({ eip6492Factories: [world.sandbox.wallets.factory] });
    const proof = await world.proof({ account: wallet });
    expect(await receiver.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
    expect(await world.sandbox.chain.rpc("eth_getCode", [wallet.address, "latest"])).toBe("0x");
    const stranger = await world.sandbox.newBuyer();
    const other = world.sandbox.wallets.counterfactual(stranger);
    const forged = await world.proof({ account: { address: wallet.address, signTypedData: other.signTypedData } });
    expect(await receiver.verify(forged, verifyContext())).toMatchObject({ outcome: "invalid" });
  });

  it("is valid by its wrapped signature once it is deployed, on no list", async () => {
    const wallet = world.sandbox.wallets.counterfactual(await world.sandbox.newBuyer());
    await wallet.deploy();
    await fund(wallet.address);
    expect(await verify(await world.proof({ account: wallet }))).toMatchObject({ outcome: "valid" });
  });
});

describe("a chain that fails gives no verdict", () => {
  const unavailable = (code: string) => ({ outcome: "unavailable", code, message: expect.any(String) });

  it.each([
    ["hangs", fault.hang(), "receiver_unreachable"],
    ["breaks the connection", fault.resetBefore(), "receiver_unreachable"],
    ["says 429", fault.tooMany(), "receiver_unreachable"],
    ["says 500", fault.status(500), "receiver_unreachable"],
    ["refuses the credentials", fault.status(401), "receiver_auth"],
    ["answers HTML", fault.html(), "receiver_bad_response"],
    ["answers {}", fault.status(200, {}), "receiver_bad_response"],
    ["answers []", fault.status(200, []), "receiver_bad_response"],
    ["redirects", fault.status(308), "receiver_bad_response"],
    ["is on another chain", fault.wrongChain(1), "receiver_bad_response"],
  ])("when it %s", async (_, next, code) => {
    world.rpc.script("eth_chainId", next);
    expect(await verify(await world.proof())).toEqual(unavailable(code));
  });

  it.each(["eth_getCode", "eth_call", "eth_getBlockByNumber"])(
    "when %s is wrong in shape, missing, or refused",
    async (method) => {
      const proof = await world.proof();
      for (const wrong of [null, "", "0x1", "zz", 7, {}, [], false]) {
        world.rpc.script(method, fault.lie(wrong), 4);
        expect([wrong, await verify(proof)]).toEqual([wrong, unavailable("receiver_bad_response")]);
        world.rpc.clear();
      }
      world.rpc.script(method, fault.error(-32603, "internal error"), 4);
      expect(await verify(proof)).toEqual(unavailable("receiver_bad_response"));
      world.rpc.clear();
      world.rpc.script(method, fault.error(-32005, "limit exceeded"), 4);
      expect(await verify(proof)).toEqual(unavailable("receiver_unreachable"));
    },
  );

  it.each([
    ["the simulation", 0],
    ["the balance", 1],
    ["the authorization state", 2],
    ["the wallet's word", 3],
  ])("when only %s cannot be read", async (_, before) => {
    const wallet = await world.sandbox.wallets.deployed(await world.sandbox.newBuyer());
    await world.sandbox.token.setBalances([wallet.address], 1_000_000n);
    const proof = await world.proof({ account: wallet });
    world.rpc.script("eth_call", fault.pass(), before);
    world.rpc.script("eth_call", fault.lie(null));
    expect(await verify(proof)).toEqual(unavailable("receiver_bad_response"));
    expect(await verify(proof)).toMatchObject({ outcome: "valid" });
  });

  it("when the asset has no code there: empty answers are no balance", async () => {
    const requirement = { ...world.requirement, asset: "0x00000000000000000000000000000000000000A5" };
    const receiver = world.open();
    const proof = await world.proof({ requirement });
    expect(await receiver.verify(proof, verifyContext())).toEqual(unavailable("receiver_bad_response"));
  });

  it("unless another RPC URL answers", async () => {
    const receiver = world.open({ rpcUrl: ["http://127.0.0.1:1/", world.rpc.url] });
    expect(await receiver.verify(await world.proof(), verifyContext())).toMatchObject({ outcome: "valid" });
  });

  it("and says no URL, key or signature in its message", async () => {
    const key = generatePrivateKey();
    const receiver = world.open({ rpcUrl: "http://127.0.0.1:1/v2/secret-api-key?token=secret", settler: key });
    const proof = await world.proof();
    const text = JSON.stringify(await receiver.verify(proof, verifyContext()));
    for (const secret of ["secret", key, proof.signature, proof.authorization.nonce])
      expect(text).not.toContain(secret);
  });
});

it("needs no gas money of the settler", async () => {
  const receiver = world.open({ settler: privateKeyToAccount(generatePrivateKey()) });
  expect(await receiver.verify(await world.proof(), verifyContext())).toMatchObject({ outcome: "valid" });
});
