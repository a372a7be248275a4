import { createPublicClient, createWalletClient, encodeFunctionData, http, parseAbi, parseSignature } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAuthorization } from "../../src/identify.js";
import { bindAuthorization, decodeProof } from "../../src/proof.js";
import { signPayment } from "../../src/testing/buyer.js";
import { createSandbox, type Sandbox } from "../../src/testing/sandbox.js";
import { testToken } from "../../src/testing/token.artifact.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

const client = () => createPublicClient({ chain: baseSepolia, transport: http(sandbox.rpcUrl) });

/** Settles from the sandbox's settler and answers with the receipt's status. */
async function settle(signed: Awaited<ReturnType<Sandbox["signAuthorization"]>>): Promise<string> {
  const wallet = createWalletClient({ account: sandbox.settler, chain: baseSepolia, transport: http(sandbox.rpcUrl) });
  const { from, to, value, validAfter, validBefore, nonce } = signed.message;
  const hash = await wallet.sendTransaction({
    to: sandbox.token.address,
    data: encodeFunctionData({
      abi: testToken.abi,
      functionName: "transferWithAuthorization",
      args: [from, to, value, validAfter, validBefore, nonce, signed.signature],
    }),
  });
  return (await client().waitForTransactionReceipt({ hash, pollingInterval: 5 })).status;
}

describe("the sandbox", () => {
  it("answers as Base Sepolia, with the token at the real address under its real domain", async () => {
    const contract = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", abi: testToken.abi } as const;
    expect(await client().getChainId()).toBe(84532);
    expect(await client().readContract({ ...contract, functionName: "name" })).toBe("USDC");
    expect(await client().readContract({ ...contract, functionName: "version" })).toBe("2");
    expect(await client().readContract({ ...contract, functionName: "decimals" })).toBe(6);
    // The separator of the deployed token on Base Sepolia follows from the same four values.
    expect(await client().readContract({ ...contract, functionName: "DOMAIN_SEPARATOR" })).toBe(
      "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
    );
  });

  it("moves a buyer's money to the seller", async () => {
    const buyer = await sandbox.newBuyer(50_000n);
    const before = await sandbox.token.balanceOf(sandbox.seller);
    const signed = await sandbox.signAuthorization(buyer, { value: 10_000n });
    expect(await settle(signed)).toBe("success");
    expect(await sandbox.token.balanceOf(buyer.address)).toBe(40_000n);
    expect((await sandbox.token.balanceOf(sandbox.seller)) - before).toBe(10_000n);
    expect(await sandbox.token.authorizationState(buyer.address, signed.message.nonce)).toBe(true);
    expect(await sandbox.token.transfers({ from: buyer.address })).toMatchObject([
      { from: buyer.address, to: sandbox.seller, value: 10_000n },
    ]);
  });

  it("gives the same n-th buyer every time and a fresh buyer to each caller", async () => {
    const [first, again, second] = await Promise.all([sandbox.buyer(0), sandbox.buyer(0), sandbox.buyer(1)]);
    expect(again).toBe(first);
    expect(second.address).not.toBe(first.address);
    expect(await sandbox.token.balanceOf(first.address)).toBe(1_000_000_000n);
    const fresh = await Promise.all(Array.from({ length: 5 }, () => sandbox.newBuyer()));
    expect(new Set(fresh.map((account) => account.address)).size).toBe(5);
  });

  it("funds two hundred buyers while mining is off, without a block", async () => {
    await sandbox.chain.setAutomine(false);
    const block = await client().getBlockNumber({ cacheTime: 0 });
    const buyers = await sandbox.newBuyers(200, 7n);
    expect(await client().getBlockNumber({ cacheTime: 0 })).toBe(block);
    await sandbox.chain.setAutomine(true);
    expect(new Set(buyers.map((buyer) => buyer.address)).size).toBe(200);
    expect(await sandbox.token.balanceOf(buyers[199]!.address)).toBe(7n);
  });

  it("sends parallel settlements from one settler under nonces of their own", async () => {
    const buyers = await sandbox.newBuyers(10);
    const signed = await Promise.all(buyers.map((buyer) => sandbox.signAuthorization(buyer, { value: 1n })));
    expect(new Set(await Promise.all(signed.map(settle)))).toEqual(new Set(["success"]));
  });

  it("has a Multicall3 that works at its usual address", async () => {
    const abi = parseAbi(["function balanceOf(address) view returns (uint256)"]);
    const buyers = await sandbox.newBuyers(3, 11n);
    const contracts = buyers.map(
      (buyer) => ({ address: sandbox.token.address, abi, functionName: "balanceOf", args: [buyer.address] }) as const,
    );
    const answers = await client().multicall({
      contracts,
      multicallAddress: "0xcA11bde05977b3631167028862bE2a173976CA11",
    });
    expect(answers.map((answer) => answer.result)).toEqual([11n, 11n, 11n]);
  });

  it("runs beside a second sandbox in the same process, with the same settler", async () => {
    await using other = await createSandbox({ balance: 5n });
    const buyer = await other.buyer();
    expect(await other.token.balanceOf(buyer.address)).toBe(5n);
    const wallet = createWalletClient({ account: other.settler, chain: baseSepolia, transport: http(other.rpcUrl) });
    const hash = await wallet.sendTransaction({ to: other.seller, value: 1n });
    const transaction = await createPublicClient({ transport: http(other.rpcUrl) }).getTransaction({ hash });
    expect(transaction.nonce).toBe(0);
  });

  it("is gone after it was closed", async () => {
    const other = await createSandbox();
    await other.close();
    await expect(other.chain.rpc("eth_chainId")).rejects.toThrow();
    expect(() => process.kill(other.chain.pid, 0)).toThrow();
  });

  it("mints with a log and reads v, r, s of its own signatures", async () => {
    const account = privateKeyToAccount(`0x${"42".repeat(32)}`);
    await sandbox.token.mint(account.address, 3n);
    expect(await sandbox.token.transfers({ to: account.address })).toMatchObject([{ value: 3n }]);
    const { signature } = await sandbox.signAuthorization(account, { value: 1n });
    expect([27n, 28n]).toContain(parseSignature(signature).v);
  });

  it("gives ETH to who needs it, and tells which plain transfers moved any", async () => {
    const [account] = await sandbox.newBuyers(1);
    const to = privateKeyToAccount(`0x${"43".repeat(32)}`).address;
    expect(await sandbox.native.balanceOf(account!.address)).toBe(0n);
    await sandbox.native.setBalances([account!.address], 10n ** 18n - 5n);
    await sandbox.native.mint(account!.address, 5n);
    expect(await sandbox.native.balanceOf(account!.address)).toBe(10n ** 18n);
    const wallet = createWalletClient({ account: account!, chain: baseSepolia, transport: http(sandbox.rpcUrl) });
    const transaction = await wallet.sendTransaction({ to, value: 7n });
    await wallet.sendTransaction({ to, value: 0n });
    // A token takes no ETH: this one is mined and reverts.
    const gas = 100_000n;
    const last = await wallet.sendTransaction({ to: sandbox.token.address, value: 8n, gas });
    await client().waitForTransactionReceipt({ hash: last, pollingInterval: 5 });
    const { blockNumber: block } = await client().getTransactionReceipt({ hash: transaction });
    expect(await sandbox.native.transfers({ from: account!.address })).toEqual([
      { from: account!.address, to, value: 7n, transaction, block },
    ]);
    expect(await sandbox.native.balanceOf(to)).toBe(7n);
  });

  it("has a receiver that judges and settles what the test buyer signs, in both versions", async () => {
    const receiver = sandbox.receive();
    const requirement = {
      scheme: "exact",
      method: "eip3009",
      network: "eip155:84532",
      asset: sandbox.token.address,
      amount: 10_000n,
      payTo: sandbox.payTo,
      maxTimeoutSeconds: 300,
      extra: { name: "USDC", version: "2" },
    } as const;
    const { signal } = new AbortController();
    const resource = { url: "https://shop.example/report", description: "One report", mimeType: "application/json" };
    expect(await receiver.ready([requirement], signal)).toEqual({ state: "ready" });
    for (const version of [1, 2] as const) {
      const account = await sandbox.newBuyer(10_000n);
      const payment = await signPayment({ account, offer: requirement, version });
      const decoded = decodeProof({
        v1: payment.name === "X-PAYMENT" ? payment.value : undefined,
        v2: payment.name === "PAYMENT-SIGNATURE" ? payment.value : undefined,
        idempotencyKey: undefined,
      });
      if (!decoded.ok) throw new Error(decoded.code);
      if (!isAuthorization(decoded.proof)) throw new Error("no authorization was signed");
      const proof = await bindAuthorization(decoded.proof, requirement);
      expect(await receiver.verify(proof, { signatureKnown: false, resource, signal })).toMatchObject({
        outcome: "valid",
      });
      const deadlineAt = Date.now() + 20_000;
      const context = { settlementId: `s${version}`, resource, deadlineAt, sending: async () => {} };
      expect(await receiver.settle(proof, context)).toMatchObject({ outcome: "settled" });
      expect(await sandbox.token.balanceOf(account.address)).toBe(0n);
    }
    await receiver.close();
  });
});
