// What becomes of a local transaction when something fails on the way: the error says whether money moved, nothing is paid twice, and
// what was sent is found again. On a real gateway and a real chain that mines when it is told to.
import { inspect } from "node:util";
import type { PrivateKeyAccount } from "viem/accounts";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { BuildAnswer } from "../../src/client/gateway-client-shapes.js";
import type { LocalSigning } from "../../src/client/local-signing.js";
import { signAndSend } from "../../src/client/sign-and-send.js";
import { PaywallConfigError } from "../../src/errors.js";
import { createTransfers, ETHER, TOKEN, type Transfers } from "../chains/evm/transfers.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { fault } from "../support/scripted-rpc.js";
import { liar, refusalOf } from "./lying-gateway.js";

let base: Transfers;
let world: GatewayWorld;
let client: GatewayClient;
let account: PrivateKeyAccount;
let signing: LocalSigning;
let recipientAddress: `0x${string}`;
beforeAll(async () => {
  base = await createTransfers();
  const { rpcUrl, settlerKey: settler } = base.sandbox;
  const assets = [{ address: TOKEN, symbol: "PLAIN", decimals: 6 }];
  world = await createGatewayWorld({
    chains: { evm: base.sandbox },
    options: { networks: { "base-sepolia": { rpcUrl, settler, assets } } },
  });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
});
afterAll(async () => {
  await world?.close();
  await base?.close();
});
beforeEach(async () => {
  account = await base.buyer();
  signing = { account, rpcUrl: base.sandbox.rpcUrl };
  recipientAddress = privateKeyToAddress(generatePrivateKey());
});
afterEach(async () => {
  await base.sandbox.chain.setAutomine(true);
  await base.setTokenMode("plain");
});

const order = () => ({ recipientAddress, amount: 0.001 });
const debits = async () => (await base.sandbox.native.transfers({ from: account.address })).map(({ value }) => value);
const signedBy = (sign: PrivateKeyAccount["signTransaction"]): LocalSigning => ({
  ...signing,
  account: { ...account, signTransaction: sign as never },
});

describe("a token that is in no table", () => {
  it("is paid by its address, in the decimals that it tells itself", async () => {
    const sent = await signAndSend(client, signing, { recipientAddress, amount: 0.25, asset: TOKEN });
    expect(sent.record).toMatchObject({ amountAtomic: "250000" });
    expect(await base.tokenBalance(recipientAddress)).toBe(250_000n);
    const named = await refusalOf(signAndSend(client, signing, { recipientAddress, amount: 1, asset: "PLAIN" }));
    expect([named.code, named.message]).toEqual([
      "order_invalid",
      expect.stringContaining("name the token by its address"),
    ]);
    const none = await refusalOf(
      signAndSend(client, signing, { recipientAddress, amount: 1, asset: recipientAddress }),
    );
    expect([none.code, none.message]).toEqual(["order_invalid", expect.stringContaining("is it a token")]);
  });

  it("has not been paid where it says so itself, whatever it answered before", async () => {
    await base.sandbox.chain.setAutomine(false);
    const mined = signAndSend(client, signing, { recipientAddress, amount: 0.25, asset: TOKEN });
    await pooled(1);
    await base.setTokenMode("answers-false");
    await base.sandbox.chain.mine();
    const error = await refusalOf(mined);
    expect([error.code, error.money]).toEqual(["failed_on_chain", "none"]);
    expect(error.message).toContain("did not move the token");
  });
});

/** Waits until the pool holds so many transactions. */
const pooled = (count: number) =>
  expect
    .poll(async () => Number(Reflect.get(Object(await base.sandbox.chain.rpc("txpool_status", [])), "pending")), {
      timeout: 20_000,
    })
    .toBe(count);

describe("what ends before anything is sent", () => {
  it.each([
    ["an order to nobody", { amount: 1 }, "signAndSend"],
    ["the own address", { recipientAddress: "own", amount: 1 }, "another address than the account's own"],
    ["a wrong checksum", { recipientAddress: `0x${"aB".repeat(20)}`, amount: 1 }, "its checksum must be right"],
    ["nothing", { amount: 0 }, "more than 0"],
    ["too many decimals", { amount: "0.0000000000000000001" }, "has 19 decimals"],
    ["another network", { amount: 1, network: "solana-devnet" }, "expected an EVM network"],
  ])("is %s", async (_, given, words) => {
    const own =
      "recipientAddress" in given && given.recipientAddress === "own" ? { recipientAddress: account.address } : {};
    const wanted = "recipientAddress" in given || words === "signAndSend" ? given : { recipientAddress, ...given };
    const call = signAndSend(client, signing, { ...wanted, ...own } as never);
    await expect(call).rejects.toThrow(words);
  });

  it("is a node of another chain, or none: the gateway is not asked", async () => {
    const asked: unknown[] = [];
    const silent = { ...client, buildSend: async (given: unknown) => asked.push(given) as never };
    const other = await refusalOf(signAndSend(silent, signing, { ...order(), network: "base", asset: TOKEN }));
    expect([other.code, other.message]).toEqual([
      "node_failed",
      expect.stringContaining("expected chain id 8453, got 84532"),
    ]);
    const none = await refusalOf(signAndSend(silent, { ...signing, rpcUrl: "http://127.0.0.1:9" }, order()));
    expect(none.code).toBe("node_failed");
    expect(asked).toEqual([]);
  });

  it("is an account that signs something else, nothing, or not at all", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    const cases = [
      [signedBy((tx) => stranger.signTransaction(tx as never)), /signed something else/],
      [signedBy((tx) => account.signTransaction({ ...tx, value: 1n } as never)), /signed something else/],
      [signedBy(() => Promise.reject(Object.assign(new Error("no"), { code: 4001 }))), /declined/],
      [signedBy(async () => "0x" as never), /signed something else/],
    ] as const;
    for (const [own, words] of cases) {
      const error = await refusalOf(signAndSend(client, own, order()));
      expect([error.code, error.money]).toEqual(["signing_failed", "none"]);
      expect(error.message).toMatch(words);
    }
    expect(await debits()).toEqual([]);
    await expect(signAndSend(client, { ...signing, account: "0x01" }, order())).rejects.toThrow(PaywallConfigError);
  });

  it("is an account that has too little, by the gateway's word and by the own node's", async () => {
    const poor = privateKeyToAccount(generatePrivateKey());
    const call = signAndSend(client, { ...signing, account: poor }, order());
    await expect(call).rejects.toMatchObject({ name: "GatewayError", code: "INSUFFICIENT_BALANCE" });
    const spender = {
      wait: client.wait,
      buildSend: async (...given: Parameters<GatewayClient["buildSend"]>) => {
        const built = await client.buildSend(...given);
        await base.sandbox.native.setBalances([account.address], 10n ** 14n);
        return built;
      },
    };
    const error = await refusalOf(signAndSend(spender, signing, order()));
    expect([error.code, error.message]).toEqual([
      "would_fail",
      expect.stringMatching(/needs 0.001 ETH and holds 0.0001 ETH/),
    ]);
  });

  it("is a fee above maxFee", async () => {
    const error = await refusalOf(signAndSend(client, { ...signing, maxFee: "0.0000000001 ETH" }, order()));
    expect([error.code, error.message]).toEqual(["too_expensive", expect.stringContaining("at most 0.0000000001 ETH")]);
    const wrong = await refusalOf(signAndSend(client, { ...signing, maxFee: "1 SOL" }, order()));
    expect([wrong.code, wrong.message]).toEqual([
      "order_invalid",
      expect.stringContaining("maxFee: expected an amount in"),
    ]);
    expect((await signAndSend(client, { ...signing, maxFee: "0.001 ETH" }, order())).status).toMatch(/ed$/);
  });

  it("is an abort, also one that comes while the account signs", async () => {
    const reason = new Error("enough");
    await expect(signAndSend(client, { ...signing, signal: AbortSignal.abort(reason) }, order())).rejects.toBe(reason);
    const stop = new AbortController();
    const own = signedBy((tx) => {
      stop.abort(reason);
      return account.signTransaction(tx as never);
    });
    await expect(signAndSend(client, { ...own, signal: stop.signal }, order())).rejects.toBe(reason);
    expect(await debits()).toEqual([]);
  });
});

describe("an account nonce that is used already", () => {
  it("is built anew where nobody else can have the transaction", async () => {
    let stale: BuildAnswer | undefined;
    let asked = 0;
    const behind = {
      wait: client.wait,
      buildSend: async (...given: Parameters<GatewayClient["buildSend"]>) => {
        asked += 1;
        // As a gateway whose node is a block behind.
        const built = await client.buildSend(...given);
        if (stale === undefined) stale = built;
        return asked === 2 ? stale : built;
      },
    };
    await signAndSend(behind, signing, order());
    await signAndSend(behind, signing, order());
    expect([asked, (await debits()).length]).toEqual([3, 2]);
  });

  it("is given up where it is always the same one, and nothing is signed", async () => {
    let stale: BuildAnswer | undefined;
    const stuck = liar(client, (answer) => {
      stale ??= answer;
      return stale;
    });
    await signAndSend(stuck, signing, order());
    const error = await refusalOf(
      signAndSend(
        stuck,
        signedBy(() => Promise.reject(new Error("signed"))),
        order(),
      ),
    );
    expect([error.code, error.money]).toEqual(["built_expired", "none"]);
    expect(await debits()).toHaveLength(1);
  });

  it("is not sent again under the caller's own key where another transaction has used it", async () => {
    const own = { ...signing, idempotencyKey: "order-used" };
    const built = await client.buildSend(
      { ...order(), walletAddress: account.address, network: "eip155:84532" },
      { idempotencyKey: "order-used" },
    );
    await signAndSend(client, signing, { recipientAddress, amount: 0.002 });
    const error = await refusalOf(signAndSend(client, own, order()));
    expect([error.code, error.paymentId, error.money]).toEqual(["built_expired", built.paymentId, "none"]);
    expect(await debits()).toEqual([2n * 10n ** 15n]);
  });
});

describe("what ends after it was sent", () => {
  it("is found again under its key, and lands once", async () => {
    await base.sandbox.chain.setAutomine(false);
    const error = await refusalOf(signAndSend(client, { ...signing, timeoutMs: 6_000 }, order()));
    expect([error.code, error.money]).toEqual(["outcome_unknown", "unknown"]);
    expect(error.bytes).toMatch(/^Av/);
    // Whoever has the bytes can send them: they stand in no log.
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(error.bytes);
    await base.sandbox.chain.setAutomine(true);
    await base.sandbox.chain.mine();
    const sent = await signAndSend(client, { ...signing, idempotencyKey: error.idempotencyKey }, order());
    expect([sent.transaction, sent.paymentId]).toEqual([error.transaction, error.paymentId]);
    expect(await debits()).toEqual([10n ** 15n]);
  });

  it("is waited for no longer than its caller wants, and is sent all the same", async () => {
    await base.sandbox.chain.setAutomine(false);
    const stop = new AbortController();
    const call = signAndSend(client, { ...signing, signal: stop.signal }, order());
    await pooled(1);
    stop.abort(new Error("enough"));
    const error = await refusalOf(call);
    expect([error.code, error.money, String(error.cause)]).toEqual(["outcome_unknown", "unknown", "Error: enough"]);
    await base.sandbox.chain.mine();
    expect(await debits()).toEqual([10n ** 15n]);
  });

  it("has failed where it was reverted", async () => {
    await base.sandbox.chain.setAutomine(false);
    const call = signAndSend(client, signing, { recipientAddress, amount: 0.25, asset: TOKEN });
    await pooled(1);
    await base.setTokenBalance(account.address, 0n);
    await base.sandbox.chain.mine();
    const error = await refusalOf(call);
    expect([error.code, error.money, error.message]).toEqual([
      "failed_on_chain",
      "none",
      expect.stringContaining("reverted"),
    ]);
  });

  it("is replaced where another transaction of the account was mined in its place", async () => {
    await base.sandbox.chain.setAutomine(false);
    const call = signAndSend(client, signing, order());
    await pooled(1);
    const [fee, chainId] = [{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n }, 84532];
    const other = { type: "eip1559", chainId, nonce: 0, to: account.address, gas: 21_000n, ...fee } as const;
    await base.sandbox.chain.rpc("eth_sendRawTransaction", [await account.signTransaction(other)]);
    await base.sandbox.chain.mine();
    const error = await refusalOf(call);
    expect([error.code, error.money]).toEqual(["replaced", "none"]);
    expect(await base.sandbox.native.balanceOf(recipientAddress)).toBe(0n);
    expect(await base.sandbox.native.balanceOf(account.address)).toBeGreaterThan(ETHER - 10n ** 16n);
  });

  it("is waited for where the node's answer to it is lost", async () => {
    const { rpc } = base;
    rpc.script("eth_sendRawTransaction", fault.resetAfter());
    const sent = await signAndSend(client, { ...signing, rpcUrl: rpc.url }, order());
    expect(sent.status).toMatch(/ed$/);
    expect(await debits()).toEqual([10n ** 15n]);
  });

  it("was never sent where the own node did not take it", async () => {
    const { rpc } = base;
    const own = { ...signing, rpcUrl: rpc.url };
    rpc.script("eth_sendRawTransaction", fault.error(-32000, "transaction underpriced"));
    const error = await refusalOf(signAndSend(client, own, order()));
    expect([error.code, error.money, error.message]).toEqual([
      "not_taken",
      "none",
      expect.stringContaining("underpriced"),
    ]);
    expect(await debits()).toEqual([]);
  });
});
