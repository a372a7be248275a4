// A time limit limits: whatever the gateway, or the client that asks it, would still wait for. On a real chain.
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { BuildAnswer, StatusAnswer } from "../../src/client/gateway-client-shapes.js";
import type { WaitOptions } from "../../src/client/gateway-client-wait.js";
import type { LocalSigning } from "../../src/client/local-signing.js";
import { signAndSend } from "../../src/client/sign-and-send.js";
import { createTransfers, type Transfers } from "../chains/evm/transfers.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { API_KEY, inTurn, startScriptedGateway } from "./scripted-gateway.js";

let base: Transfers;
let world: GatewayWorld;
let client: GatewayClient;
let signing: LocalSigning;
let payer: `0x${string}`;
let signed: number;
beforeAll(async () => {
  base = await createTransfers();
  world = await createGatewayWorld({ chains: { evm: base.sandbox } });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
});
afterAll(async () => {
  await world?.close();
  await base?.close();
});
beforeEach(async () => {
  const account = await base.buyer();
  const counting: typeof account.signTransaction = (...given) => {
    signed += 1;
    return account.signTransaction(...given);
  };
  signed = 0;
  payer = account.address;
  signing = { account: { ...account, signTransaction: counting }, rpcUrl: base.sandbox.rpcUrl };
});

const never = <T>() => new Promise<T>(() => {});
const order = () => ({ recipientAddress: privateKeyToAddress(generatePrivateKey()), amount: 0.001 });
const debits = async () => (await base.sandbox.native.transfers({ from: payer })).map(({ value }) => value);

it("a gateway that never builds is waited for until the time is over, and nothing is signed", async () => {
  const server = await startScriptedGateway(inTurn("hang"));
  const hanging = gatewayClient({ baseUrl: server.url, apiKey: API_KEY });
  // One client heeds the signal, the other knows none.
  for (const one of [hanging, { wait: client.wait, buildSend: () => never<BuildAnswer>() }]) {
    const startedAt = performance.now();
    const sending = signAndSend(one, { ...signing, timeoutMs: 3_000, idempotencyKey: "one" }, order());
    await expect(sending).rejects.toMatchObject({
      ...{ name: "GatewayError", code: "NOT_IN_TIME", endpoint: "POST /transaction/send" },
      ...{ idempotencyKey: "one", retryable: true, message: expect.stringContaining("nothing was signed") },
    });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  }
  expect(server.asked).toHaveLength(1);
  expect([signed, await debits()]).toEqual([0, []]);
}, 60_000);

it("an abort ends the asking with the caller's own reason", async () => {
  const [caller, reason] = [new AbortController(), new Error("enough")];
  const buildSend = () => {
    caller.abort(reason);
    return never<BuildAnswer>();
  };
  const sending = signAndSend({ wait: client.wait, buildSend }, { ...signing, signal: caller.signal }, order());
  await expect(sending).rejects.toBe(reason);
  expect(signed).toBe(0);
});

it("what has landed is told, at the latest a second after the time is over, whatever the gateway says of it", async () => {
  const asked: WaitOptions[] = [];
  const silent = {
    buildSend: client.buildSend,
    wait: (_: string, options: WaitOptions = {}) => {
      asked.push(options);
      return never<StatusAnswer>();
    },
  };
  const sent = await signAndSend(silent, { ...signing, timeoutMs: 6_000 }, order());
  expect([sent.status, sent.record]).toEqual(["confirmed", undefined]);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.timeoutMs).toBeGreaterThanOrEqual(1_000);
  expect(asked[0]?.timeoutMs).toBeLessThan(7_000);
  expect(await debits()).toEqual([10n ** 15n]);
}, 60_000);
