// Own transactions of one account: each needs the account's next nonce, so payments take turns. Many at once are as many debits;
// a payment that nobody sends, or whose call never ends, blocks no other; a node that is behind is waited for.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { readTransaction } from "../../src/chains/evm/transaction.js";
import { fromBase64 } from "../../src/chains/solana/bytes.js";
import { evmWallet } from "../../src/client/evm-wallet.js";
import type { Wallet } from "../../src/client/wallet.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import type { Seller } from "../e2e/seller.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { buy, made, newAccount, offerOf, refusal, request, sell } from "./wallet-world.js";

let sandbox: Sandbox;
let rpc: ScriptedRpc;
let seller: Seller;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  const { payTo, network } = sandbox;
  seller = await sell("0.0002 ETH", { payTo, network, receive: sandbox.receive() });
});
afterEach(() => {
  vi.useRealTimers();
  rpc.clear();
});
afterAll(async () => {
  await seller.close();
  await rpc.close();
  await sandbox.close();
});

const ETH = () => offerOf("base-sepolia", "native", { payTo: sandbox.seller, amount: 1_000n });
const newWallet = async () => evmWallet(await newAccount(sandbox), { rpcUrl: rpc.url });

/** Signs a payment, and tells its account nonce. */
async function sign(wallet: Wallet, parts: Partial<ReturnType<typeof request>> = {}) {
  const signed = made(await wallet.sign(ETH(), request(parts)));
  const bytes = fromBase64(String(Reflect.get(signed.payload, "transaction")));
  const read = await readTransaction(bytes ?? new Uint8Array(0));
  if (!read.ok) throw new Error(read.code);
  return { ...signed, nonce: Number(read.transaction.nonce), raw: read.transaction.raw };
}

/** Whether a promise is still open once another payment, begun later, is signed. */
async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  let open = true;
  const settle = () => {
    open = false;
  };
  promise.then(settle, settle);
  (await sign(await newWallet())).close?.();
  return open;
}

describe("payments of one account on one chain", () => {
  it("at once, thirty of them, are thirty debits with as many nonces", async () => {
    const account = await newAccount(sandbox);
    const wallet = evmWallet(account, { rpcUrl: sandbox.rpcUrl });
    const bought = await Promise.all(Array.from({ length: 30 }, () => buy(seller, wallet, 2)));
    expect(bought.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(await sandbox.native.transfers({ from: account.address })).toHaveLength(30);
    expect(await sandbox.chain.rpc("eth_getTransactionCount", [account.address, "latest"])).toBe("0x1e");
  });

  it("take turns, also where two wallets were made of it, until the call that sends one has ended", async () => {
    const account = await newAccount(sandbox);
    const [first, twin] = [evmWallet(account, { rpcUrl: rpc.url }), evmWallet(account, { rpcUrl: rpc.url })];
    const held = await sign(first);
    const second = sign(twin);
    expect(await isWaiting(second)).toBe(true);
    await sandbox.chain.rpc("eth_sendRawTransaction", [held.raw]);
    held.close?.();
    held.close?.();
    expect([held.nonce, (await second).nonce]).toEqual([0, 1]);
  });

  it("that nobody sends leave their nonce to the next one", async () => {
    const wallet = await newWallet();
    const unsent = await sign(wallet);
    unsent.close?.();
    const next = await sign(wallet);
    next.close?.();
    expect([unsent.nonce, next.nonce]).toEqual([0, 0]);
  });

  it("whose call never ends hold their turn for two minutes, and no longer", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const wallet = await newWallet();
    await sign(wallet);
    const second = sign(wallet);
    expect(await isWaiting(second)).toBe(true);
    await vi.advanceTimersByTimeAsync(119_000);
    expect(await isWaiting(second)).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await second).nonce).toBe(0);
  });

  it("leave the line when their caller gives up, and when their own time is over", async () => {
    const wallet = await newWallet();
    const held = await sign(wallet);
    const reason = new Error("the caller gave up");
    const stop = new AbortController();
    const gone = wallet.sign(ETH(), request({ signal: stop.signal }));
    const late = wallet.sign(ETH(), request({ validUntil: Date.now() + 50 }));
    const last = sign(wallet);
    stop.abort(reason);
    await expect(gone).rejects.toBe(reason);
    expect(await refusal(late)).toEqual(["signing_failed", expect.stringMatching(/earlier payments .* did not end/)]);
    held.close?.();
    (await last).close?.();
  });

  it("give their turn back when signing fails", async () => {
    const account = await newAccount(sandbox);
    const broken = { ...account, signTransaction: () => Promise.reject(new Error("the device is locked")) };
    const wallet = evmWallet(broken, { rpcUrl: rpc.url });
    for (let round = 0; round < 2; round++) {
      expect(await refusal(wallet.sign(ETH(), request({ validUntil: Date.now() + 20_000 })))).toEqual([
        "signing_failed",
        "the account did not sign: the device is locked",
      ]);
    }
  });
});

describe("the account nonce", () => {
  it("is waited for where the node does not know yet what was paid a moment ago", async () => {
    const wallet = await newWallet();
    const paid = await sign(wallet);
    await sandbox.chain.rpc("eth_sendRawTransaction", [paid.raw]);
    paid.close?.();
    // A replica that is a block behind: two looks at both counts.
    rpc.script("eth_getTransactionCount", async () => ({ kind: "answer", answer: { result: "0x0" } }), 4);
    const next = await sign(wallet);
    next.close?.();
    expect(next.nonce).toBe(1);
  });

  it("is none while an earlier transaction waits for its block: sellers would refuse the payment", async () => {
    const wallet = await newWallet();
    let asked = 0;
    const pending = async () => ({ kind: "answer", answer: { result: asked++ % 2 === 0 ? "0x0" : "0x2" } }) as const;
    rpc.script("eth_getTransactionCount", pending, 1_000);
    vi.useFakeTimers({ toFake: ["Date"] });
    const signing = refusal(wallet.sign(ETH(), request()));
    await rpc.called("eth_getTransactionCount", asked + 2);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await signing).toEqual([
      "signing_failed",
      "2 earlier transactions wait for a block: speed it up or cancel it, sellers take the account's next one only",
    ]);
  });

  it("is none where the node gives none that can be read, or fails", async () => {
    const wallet = await newWallet();
    rpc.script("eth_getTransactionCount", async () => ({ kind: "answer", answer: { result: "many" } }));
    expect(await refusal(wallet.sign(ETH(), request()))).toEqual([
      "signing_failed",
      "the chain gave no readable account nonce",
    ]);
    rpc.script("eth_getTransactionCount", fault.status(503));
    expect(await refusal(wallet.sign(ETH(), request()))).toEqual([
      "signing_failed",
      expect.stringMatching(/^127\.0\.0\.1:\d+: HTTP status 503$/),
    ]);
  });
});
