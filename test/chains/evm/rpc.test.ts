import { encodeErrorResult, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRpc, type Rpc } from "../../../src/chains/evm/rpc.js";
import { type Anvil, startAnvil } from "../../../src/testing/index.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

let anvil: Anvil;
let node: ScriptedRpc;
let rpc: Rpc;
beforeAll(async () => {
  anvil = await startAnvil();
  node = await startScriptedRpc(anvil.url);
  rpc = createRpc({ urls: [node.url], chainId: 84532, timeoutMs: 10_000 });
});
afterAll(async () => {
  await node.close();
  await anvil.stop();
});

const blockNumber = { method: "eth_blockNumber", params: [] };
const answer = (id: number, result: unknown) => ({ jsonrpc: "2.0", id, result });

describe("a batch", () => {
  it("is one request and keeps the order of its calls, whatever order the answers come in", async () => {
    const before = rpc.requests;
    node.script("eth_chainId", fault.status(200, [answer(2, "b"), answer(0, "0x14a34"), answer(1, "a")]));
    const reply = await rpc.batch([blockNumber, blockNumber]);
    expect(reply).toEqual({
      ok: true,
      answers: [
        { ok: true, result: "a" },
        { ok: true, result: "b" },
      ],
    });
    expect(rpc.requests - before).toBe(1);
  });

  it.each<[string, unknown]>([
    ["an answer is missing", [answer(0, "0x14a34")]],
    ["an answer has neither result nor error", [answer(0, "0x14a34"), { jsonrpc: "2.0", id: 1 }]],
    ["the ids are not ours", [answer(0, "0x14a34"), { jsonrpc: "2.0", id: "1", result: "0x1" }]],
    [
      "the answer is one error for all",
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "batch too large" } },
    ],
    ["the chain id is an error", [{ id: 0, error: { code: -32601, message: "no such method" } }, answer(1, "0x1")]],
  ])("is unreadable when %s", async (_, body) => {
    node.script("eth_chainId", fault.status(200, body));
    expect(await rpc.batch([blockNumber])).toMatchObject({ ok: false, code: "receiver_bad_response" });
  });

  it("gives each call's own error back as an answer", async () => {
    const reply = await rpc.batch([{ method: "no_such_method", params: [] }, blockNumber]);
    expect(reply).toMatchObject({ ok: true, answers: [{ ok: false, code: -32601 }, { ok: true }] });
  });

  const say = (text: string) =>
    encodeErrorResult({ abi: parseAbi(["error Error(string)"]), errorName: "Error", args: [text] });
  it.each([
    [3, "execution reverted: rate limit exceeded", undefined],
    [3, "too many requests", undefined],
    [-32000, "execution reverted: request limit reached", undefined],
    [-32603, "VM Exception while processing transaction: reverted with reason string 'too many requests'", undefined],
    [-32015, "rate limited", say("rate limited")],
  ])("takes no revert for a busy node: %i %s", async (code, message, data) => {
    node.script("eth_call", fault.error(code, message, { data }));
    const reply = await rpc.batch([{ method: "eth_call", params: [] }, blockNumber]);
    expect(reply).toMatchObject({ ok: true, answers: [{ ok: false, code, message }, { ok: true }] });
  });

  it.each([
    [-32000, "rate limit exceeded", undefined],
    [-32603, "Too many requests, reason: call rate limit exhausted", "0x"],
    [-32005, "daily request count exceeded, request rate limited", { see: "https://node.example/limits" }],
    [-32005, "memory limit reached", undefined],
    [-32007, "50/second request limit reached - reduce calls per second", undefined],
  ])("is unreachable where the node itself is busy: %i %s", async (code, message, data) => {
    node.script("eth_call", fault.error(code, message, { data }));
    const reply = await rpc.batch([{ method: "eth_call", params: [] }, blockNumber]);
    expect(reply).toMatchObject({ ok: false, code: "receiver_unreachable" });
  });

  it("names both chain ids where the node is on another chain", async () => {
    node.script("eth_chainId", fault.wrongChain(1));
    expect(await rpc.batch([])).toMatchObject({ ok: false, chainId: { expected: 84532, got: "1" } });
  });

  it("is on no chain where it knows no chain id, as nodes of Solana do not", async () => {
    node.script("eth_chainId", fault.error(-32601, "Method not found"));
    const got = expect.stringContaining("is it a node of Solana?");
    expect(await rpc.batch([])).toMatchObject({ ok: false, chainId: { expected: 84532, got } });
  });

  it("passes over to the next URL, says so, and stays with the one that answers", async () => {
    const two = createRpc({ urls: ["http://127.0.0.1:1", node.url], chainId: 84532 });
    expect(await two.batch([blockNumber])).toMatchObject({ ok: true, afterFault: true });
    const before = two.requests;
    expect(await two.batch([blockNumber])).not.toHaveProperty("afterFault");
    expect(two.requests - before).toBe(1);
  });

  it("gives up when its caller's time or patience is over", async () => {
    const unreachable = { ok: false, code: "receiver_unreachable" };
    expect(await rpc.batch([blockNumber], { deadlineAt: Date.now() - 1 })).toMatchObject(unreachable);
    expect(await rpc.batch([blockNumber], { signal: AbortSignal.abort() })).toMatchObject(unreachable);
    const stop = new AbortController();
    node.script("eth_chainId", fault.hang());
    const asked = rpc.batch([blockNumber], { signal: stop.signal });
    await node.called("eth_chainId", node.count("eth_chainId") + 1);
    stop.abort();
    expect(await asked).toMatchObject(unreachable);
  });
});
