// JSON-RPC over several URLs: which node is believed, which one is passed over, and that no call lasts for ever.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createSolanaRpc, type SolanaRpc } from "../../../src/chains/solana/rpc.js";
import { type SolanaNode, startSolanaNode } from "../../../src/testing/solana/node.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

const NETWORK = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const MAINNET = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

let node: SolanaNode;
let first: ScriptedRpc;
let second: ScriptedRpc;
const opened: SolanaRpc[] = [];
beforeAll(async () => {
  node = await startSolanaNode();
  [first, second] = await Promise.all([startScriptedRpc(node.rpcUrl), startScriptedRpc(node.rpcUrl)]);
});
afterEach(() => {
  first.clear();
  second.clear();
  for (const rpc of opened.splice(0)) rpc.close();
});
afterAll(() => Promise.all([first.close(), second.close(), node.close()]));

/** Long enough for a busy machine to answer within it; a node that hangs takes all of it. */
const LIMIT_MS = 2_000;

function open(urls: readonly string[] = [first.url], timeoutMs = LIMIT_MS): SolanaRpc {
  const rpc = createSolanaRpc({ urls, network: NETWORK, timeoutMs });
  opened.push(rpc);
  return rpc;
}
const height = (rpc: SolanaRpc, options = {}) => rpc.call("getBlockHeight", [{ commitment: "confirmed" }], options);

describe("a node", () => {
  it("proves its cluster once, before its first answer", async () => {
    const rpc = open();
    const before = first.count("getGenesisHash");
    expect(await height(rpc)).toMatchObject({ ok: true });
    expect(await height(rpc)).toMatchObject({ ok: true });
    expect(first.count("getGenesisHash")).toBe(before + 1);
  });

  it("of another cluster is never asked anything else, and both hashes are named", async () => {
    first.script("getGenesisHash", fault.lie(MAINNET), 2);
    const rpc = open();
    const asked = first.count("sendTransaction");
    expect(await rpc.call("sendTransaction", ["AA=="])).toMatchObject({
      ok: false,
      kind: "fault",
      code: "receiver_bad_response",
      genesis: { expected: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1", got: MAINNET },
    });
    expect(await height(rpc)).toMatchObject({ ok: false });
    expect(first.count("sendTransaction")).toBe(asked);
  });

  it("that tells no genesis hash is not believed", async () => {
    for (const lie of [null, 7, "", "devnet", {}, `${MAINNET}${MAINNET}`]) {
      first.script("getGenesisHash", fault.lie(lie));
      expect(await height(open())).toMatchObject({ ok: false, code: "receiver_bad_response" });
    }
    first.script("getGenesisHash", fault.error(-32601, "Method not found"));
    expect(await height(open())).toMatchObject({ ok: false, code: "receiver_bad_response" });
  });

  it("proves its cluster again after a fault: another one may answer behind its name", async () => {
    const rpc = open();
    expect(await height(rpc)).toMatchObject({ ok: true });
    first.script("getBlockHeight", fault.status(503));
    expect(await height(rpc)).toMatchObject({ ok: false, code: "receiver_unreachable" });
    first.script("getGenesisHash", fault.lie(MAINNET));
    expect(await height(rpc)).toMatchObject({ ok: false, genesis: { got: MAINNET } });
    expect(await height(rpc)).toMatchObject({ ok: true });
  });
});

describe("what cannot be read is no answer", () => {
  it.each([
    ["a hanging node", fault.hang(), "receiver_unreachable"],
    ["a broken connection", fault.resetBefore(), "receiver_unreachable"],
    ["a rate limit", fault.tooMany(), "receiver_unreachable"],
    [
      "a rate limit in status 200",
      fault.error(429, "Too many requests for a specific RPC call"),
      "receiver_unreachable",
    ],
    ["a node that is behind", fault.error(-32005, "Node is behind by 100 slots"), "receiver_unreachable"],
    ["a refused key", fault.status(403), "receiver_auth"],
    ["a page of HTML", fault.html(), "receiver_bad_response"],
    ["a redirect", fault.status(302), "receiver_bad_response"],
    ["an answer without result", fault.lie(undefined), "receiver_bad_response"],
  ] as const)("%s", async (_, next, code) => {
    first.script("getBlockHeight", next);
    const reply = await height(open());
    expect(reply).toMatchObject({ ok: false, kind: "fault", code });
    // A URL may carry a key in its path.
    expect(JSON.stringify(reply)).not.toContain("http:");
  });

  it("more than a node may say at once", async () => {
    first.script("getBlockHeight", fault.lie("x".repeat(300_000)));
    expect(await height(open())).toMatchObject({ code: "receiver_bad_response" });
  });
});

it("a node's own refusal is told as such, short and printable", async () => {
  first.script("getBlockHeight", fault.error(-32602, `wrong\n${"é".repeat(400)}`));
  const reply = await height(open());
  expect(reply).toMatchObject({ ok: false, kind: "refusal", error: -32602 });
  expect(!reply.ok && reply.message).toMatch(/^wrong\?{195}$/);
});

it.each(["Rate limit exceeded", "too many requests"])(
  "a program that says %s in a simulation is no busy node; a node that says it is one",
  async (words) => {
    const message = `Transaction simulation failed: ${words}`;
    const data = { err: { InstructionError: [0, { Custom: 1 }] }, logs: [] };
    first.script("getBlockHeight", fault.error(-32002, message, { data }));
    expect(await height(open())).toMatchObject({ kind: "refusal", error: -32002, message });
    for (const [code, more] of [
      [-32002, undefined],
      [-32002, { err: null }],
      [-32000, data],
    ] as const) {
      first.script("getBlockHeight", fault.error(code, message, { data: more }));
      expect(await height(open())).toMatchObject({ kind: "fault", code: "receiver_unreachable" });
    }
  },
);

describe("of several nodes", () => {
  it("the next one answers for one that fails, and is asked first from then on", async () => {
    const rpc = open([first.url, second.url]);
    for (const next of [fault.hang(), fault.resetBefore(), fault.tooMany(), fault.error(-32016, "not reached")]) {
      first.script("getBlockHeight", next);
      expect(await height(rpc)).toMatchObject({ ok: true });
      const asked = first.count("getBlockHeight");
      expect(await height(rpc)).toMatchObject({ ok: true });
      expect(first.count("getBlockHeight")).toBe(asked);
      second.script("getBlockHeight", fault.resetBefore());
      expect(await height(rpc)).toMatchObject({ ok: true });
    }
  });

  it("one of another cluster is passed over", async () => {
    first.script("getGenesisHash", fault.lie(MAINNET));
    expect(await height(open([first.url, second.url]))).toMatchObject({ ok: true });
  });

  it("each can be asked by itself", async () => {
    const rpc = open([first.url, second.url]);
    first.script("getBlockHeight", fault.resetBefore());
    const replies = await Promise.all(rpc.each.map((one) => height(one)));
    expect(replies.map(({ ok }) => ok)).toEqual([false, true]);
  });

  it("none is left: the first trouble is told", async () => {
    first.script("getBlockHeight", fault.status(401));
    second.script("getBlockHeight", fault.resetBefore());
    expect(await height(open([first.url, second.url]))).toMatchObject({ code: "receiver_auth" });
  });
});

describe("a call ends", () => {
  it("at its deadline, however long the time-out", async () => {
    first.script("getBlockHeight", fault.hang());
    const began = Date.now();
    const reply = await height(open([first.url], 60_000), { deadlineAt: Date.now() + 200 });
    expect(reply).toMatchObject({ code: "receiver_unreachable" });
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(await height(open(), { deadlineAt: Date.now() - 1 })).toMatchObject({ code: "receiver_unreachable" });
  });

  it("when its caller gives up, and no other node is asked then", async () => {
    first.script("getBlockHeight", fault.hang());
    const stop = new AbortController();
    const asked = second.count();
    const calls = first.count("getBlockHeight");
    const reply = height(open([first.url, second.url], 60_000), { signal: stop.signal });
    await first.called("getBlockHeight", calls + 1);
    stop.abort();
    expect(await reply).toMatchObject({ ok: false });
    expect(second.count()).toBe(asked);
  });
});
