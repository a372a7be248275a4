// A node that fails at one of the start-up checks: an answer that could not be had is no mismatch, which would shut the shop for good.
import { afterAll, beforeAll, expect, it } from "vitest";
import { local } from "../../../src/receive/local.js";
import type { Requirement } from "../../../src/requirement.js";
import { createSandbox, type Sandbox } from "../../../src/testing/index.js";
import { makeProof } from "../../support/bound-proof.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

let sandbox: Sandbox;
let rpc: ScriptedRpc;
let requirement: Requirement;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  ({ requirement } = await makeProof());
});
afterAll(async () => {
  await rpc?.close();
  await sandbox?.close();
});

async function check(asked: Requirement) {
  const settler = sandbox.settlerKey;
  const receiver = local({ networks: { [sandbox.network]: { rpcUrl: rpc.url, settler } } });
  try {
    return await receiver.ready([asked], AbortSignal.timeout(20_000));
  } finally {
    await receiver.close();
  }
}

const busy = { code: -32007, message: "50/second request limit reached - reduce calls per second" };
const FAILURES = [
  ["eth_getCode", busy],
  ["eth_getCode", { code: -32603, message: "Internal error" }],
  ["eth_call", { code: -32000, message: "header not found" }],
] as const;

it.each(FAILURES)("one %s that is answered with an error of the node (%o) is asked again", async (method, error) => {
  expect(await check(requirement)).toEqual({ state: "ready" });
  rpc.script(method, async () => ({ kind: "answer", answer: { error } }));
  expect(await check(requirement)).toMatchObject({ state: "unreachable" });
  expect(await check(requirement)).toEqual({ state: "ready" });
});

it("a name that cannot be read, where the domain hangs on it, is asked again", async () => {
  const wrong = { ...requirement, extra: { ...requirement.extra, version: "3" } } as Requirement;
  expect(await check(wrong)).toMatchObject({ state: "misconfigured" });
  const passed = fault.pass();
  rpc.script("eth_call", passed);
  rpc.script("eth_call", async () => ({
    kind: "answer",
    answer: { error: { code: -32603, message: "Internal error" } },
  }));
  expect(await check(wrong)).toMatchObject({ state: "unreachable" });
});

/** The next answers to `eth_call`, in the order of the checks. */
const answers = (decimals?: object, name?: object, version?: object, separator?: object) => {
  for (const answer of [decimals, name, version, separator])
    rpc.script("eth_call", answer ? async () => ({ kind: "answer", answer }) : fault.pass());
};
const odd = { error: { code: -32603, message: "Internal error" } };
const reverted = { error: { code: 3, message: "execution reverted" } };

it.each([odd, { error: { code: -32000, message: "header not found" } }, { result: null }, { result: "?" }])(
  "a separator that the node cannot tell (%o) is asked again, although name and version fit",
  async (separator) => {
    answers(undefined, undefined, undefined, separator);
    expect(await check(requirement)).toMatchObject({ state: "unreachable" });
    expect(await check(requirement)).toEqual({ state: "ready" });
  },
);

it("a token that shows no separator is ready by name and version, one that shows it by the separator alone", async () => {
  for (const none of [reverted, { result: "0x" }]) {
    answers(undefined, undefined, undefined, none);
    expect(await check(requirement)).toEqual({ state: "ready" });
  }
  answers(undefined, odd, odd);
  expect(await check(requirement)).toEqual({ state: "ready" });
});

it("a token that reverts with the words of a busy node is a mismatch, not asked again", async () => {
  answers({ error: { code: 3, message: "execution reverted: rate limit exceeded" } });
  expect(await check(requirement)).toMatchObject({
    state: "misconfigured",
    problems: [{ got: "no readable decimals()" }],
  });
});

it("a token without code, and one that reverts, are mismatches as before", async () => {
  const nobody = { ...requirement, asset: `0x${"12".repeat(20)}` } as Requirement;
  expect(await check(nobody)).toMatchObject({ state: "misconfigured", problems: [{ got: "no code at this address" }] });
  rpc.script("eth_call", async () => ({
    kind: "answer",
    answer: { error: { code: 3, message: "execution reverted" } },
  }));
  expect(await check(requirement)).toMatchObject({
    state: "misconfigured",
    problems: [{ got: "no readable decimals()" }],
  });
});
