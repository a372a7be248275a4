import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../../src/testing/anvil.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "./scripted-rpc.js";

let chain: Anvil;
let proxy: ScriptedRpc;
beforeAll(async () => {
  chain = await startAnvil();
});
afterAll(() => chain.stop());
beforeEach(async () => {
  proxy = await startScriptedRpc(chain.url);
});
afterEach(() => proxy.close());

const body = (method: string, params: readonly unknown[] = []) => ({ jsonrpc: "2.0", id: 7, method, params });
const post = (content: unknown, init: RequestInit = {}) =>
  fetch(proxy.url, { method: "POST", body: JSON.stringify(content), ...init });
const ask = async (method: string, ...params: unknown[]): Promise<unknown> => (await post(body(method, params))).json();
const send = { from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", to: `0x${"01".repeat(20)}`, value: "0x1" };
const head = async () => BigInt(String(await chain.rpc("eth_blockNumber")));

describe("the scripted RPC", () => {
  it("passes what is not scripted, singly and in a batch, and counts both", async () => {
    expect(await ask("eth_chainId")).toEqual({ jsonrpc: "2.0", id: 7, result: "0x14a34" });
    const batch = await post([body("eth_chainId"), { ...body("eth_blockNumber"), id: "b" }]);
    expect(await batch.json()).toMatchObject([{ id: 7, result: "0x14a34" }, { id: "b" }]);
    expect([proxy.count("eth_chainId"), proxy.count("eth_blockNumber"), proxy.count()]).toEqual([2, 1, 3]);
    expect(proxy.forwarded("eth_chainId")).toBe(2);
  });

  it("hands the node's own error through", async () => {
    expect(await ask("eth_nonsense")).toMatchObject({ error: { code: -32601 } });
  });

  it("meets each script as often as told, in order, and then passes again", async () => {
    proxy.script("eth_chainId", fault.lie("0x1"), 2);
    proxy.script("eth_chainId", fault.lie("0x2"));
    const answers: unknown[] = [];
    for (let call = 0; call < 4; call++) answers.push(await ask("eth_chainId"));
    expect(answers).toMatchObject([{ result: "0x1" }, { result: "0x1" }, { result: "0x2" }, { result: "0x14a34" }]);
  });

  it("forgets a script that was cleared, and lets a method's own script go before the one for all", async () => {
    proxy.script("*", fault.lie("all"), Number.POSITIVE_INFINITY);
    proxy.script("eth_chainId", fault.lie("own"));
    expect(await ask("eth_chainId")).toMatchObject({ result: "own" });
    expect(await ask("eth_chainId")).toMatchObject({ result: "all" });
    proxy.clear("*");
    expect(await ask("eth_chainId")).toMatchObject({ result: "0x14a34" });
  });

  it("resets before the node sees a transaction", async () => {
    const before = await head();
    proxy.script("eth_sendTransaction", fault.resetBefore());
    await expect(ask("eth_sendTransaction", send)).rejects.toThrow();
    expect(proxy.count("eth_sendTransaction")).toBe(1);
    expect(proxy.forwarded("eth_sendTransaction")).toBe(0);
    expect(await head()).toBe(before);
  });

  it("resets after the node has taken a transaction, so that only the answer is lost", async () => {
    const before = await chain.rpc("eth_getTransactionCount", [send.from, "pending"]);
    proxy.script("eth_sendTransaction", fault.resetAfter());
    await expect(ask("eth_sendTransaction", send)).rejects.toThrow();
    await proxy.reached("eth_sendTransaction");
    const after = await chain.rpc("eth_getTransactionCount", [send.from, "pending"]);
    expect(BigInt(String(after)) - BigInt(String(before))).toBe(1n);
  });

  it("hangs until the caller gives up, before or after the node", async () => {
    proxy.script("eth_chainId", fault.hang());
    proxy.script("eth_chainId", fault.hangAfter());
    for (const forwarded of [0, 1]) {
      const giveUp = new AbortController();
      const asking = post(body("eth_chainId"), { signal: giveUp.signal });
      await proxy.called("eth_chainId", forwarded + 1);
      if (forwarded > 0) await proxy.reached("eth_chainId");
      expect(proxy.forwarded("eth_chainId")).toBe(forwarded);
      giveUp.abort();
      await expect(asking).rejects.toThrow("abort");
    }
  });

  it("holds a call back until a promise resolves", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    proxy.script("eth_chainId", fault.delay(gate));
    proxy.script("eth_chainId", fault.delay(1));
    const asking = ask("eth_chainId");
    await proxy.called("eth_chainId");
    expect(proxy.forwarded("eth_chainId")).toBe(0);
    release();
    expect(await asking).toMatchObject({ result: "0x14a34" });
    expect(await ask("eth_chainId")).toMatchObject({ result: "0x14a34" });
  });

  it("lies with a value or by twisting the truth, and about its chain", async () => {
    proxy.script("eth_chainId", fault.wrongChain(1));
    proxy.script(
      "eth_chainId",
      fault.twist((truth) => [truth]),
    );
    expect(await ask("eth_chainId")).toMatchObject({ result: "0x1" });
    expect(await ask("eth_chainId")).toMatchObject({ result: ["0x14a34"] });
  });

  it("answers with pages, statuses, rate limits and JSON-RPC errors", async () => {
    proxy.script("eth_chainId", fault.html(502));
    proxy.script("eth_chainId", fault.status(403, { message: "no" }));
    proxy.script("eth_chainId", fault.tooMany(3));
    proxy.script("eth_chainId", fault.error(-32000, "nonce too low", { data: "0x" }));
    const page = await post(body("eth_chainId"));
    expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(await page.text()).toContain("<!doctype html>");
    const denied = await post(body("eth_chainId"));
    expect([denied.status, await denied.json()]).toEqual([403, { message: "no" }]);
    const limited = await post(body("eth_chainId"));
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(await ask("eth_chainId")).toMatchObject({ error: { code: -32000, message: "nonce too low", data: "0x" } });
    expect(proxy.forwarded("eth_chainId")).toBe(0);
  });

  it("can let the node act before it answers with an error or a status", async () => {
    proxy.script("eth_sendTransaction", fault.error(-32000, "timeout", { forward: true }));
    proxy.script("eth_sendTransaction", fault.status(504, {}, { forward: true }));
    expect(await ask("eth_sendTransaction", send)).toMatchObject({ error: { message: "timeout" } });
    expect((await post(body("eth_sendTransaction", [send]))).status).toBe(504);
    expect(proxy.forwarded("eth_sendTransaction")).toBe(2);
    expect(proxy.params("eth_sendTransaction")).toEqual([[send], [send]]);
  });

  it("lags: older head, older state, no newer receipts, no newer logs", async () => {
    const account = `0x${"02".repeat(20)}`;
    await chain.mine(5);
    await chain.rpc("anvil_setBalance", [account, "0x1"]);
    // Two pushes of zero and LOG0: a contract that logs whatever it is sent.
    await chain.rpc("anvil_setCode", [account, "0x60006000a000"]);
    await chain.mine();
    const transaction = await chain.rpc("eth_sendTransaction", [{ ...send, to: account }]);
    const waiting = async (): Promise<void> =>
      (await chain.rpc("eth_getTransactionReceipt", [transaction])) === null ? waiting() : undefined;
    await waiting();
    const now = await head();
    proxy.script("*", fault.stale(1), 4);
    expect(await ask("eth_blockNumber")).toMatchObject({ result: `0x${(now - 1n).toString(16)}` });
    expect(await ask("eth_getBalance", account, "latest")).toMatchObject({ result: "0x1" });
    expect(await ask("eth_getTransactionReceipt", transaction)).toMatchObject({ result: null });
    const filter = { fromBlock: "0x0", toBlock: "latest", address: account };
    expect(await ask("eth_getLogs", filter)).toMatchObject({ result: [] });
    expect(await ask("eth_getLogs", filter)).toMatchObject({ result: [{ transactionHash: transaction }] });
    expect(await ask("eth_getBalance", account, "latest")).toMatchObject({ result: "0x2" });
    expect(await ask("eth_getTransactionReceipt", transaction)).toMatchObject({ result: { status: "0x1" } });
  });

  it("ends a whole batch when one of its calls meets a broken connection", async () => {
    proxy.script("eth_blockNumber", fault.resetBefore());
    await expect(post([body("eth_chainId"), body("eth_blockNumber")])).rejects.toThrow();
    expect(proxy.count()).toBe(2);
  });

  it("closes at once though a call still hangs", async () => {
    proxy.script("eth_chainId", fault.hang());
    const hanging = ask("eth_chainId").catch(() => "cut");
    await proxy.called("eth_chainId");
    await proxy.close();
    expect(await hanging).toBe("cut");
  });
});
