// What chains, buyers and clocks have done to facilitators, done to the gateway over HTTP: caps that are named (F82), one of
// several settlers without gas (F93), many payers at once (A45), and who stops waiting first (F12).
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { getAddress } from "viem/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GRACE_MS } from "../../../src/gateway/http/run.js";
import { receiveRequest } from "../../../src/gateway/schemas/index.js";
import { hosted } from "../../../src/receive/hosted.js";
import {
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  type Sandbox,
  type SolanaSandbox,
  splPayer,
} from "../../../src/testing/index.js";
import { makeProof, REQUIREMENT, RESOURCE } from "../../support/bound-proof.js";
import { type Answer, detailsOf } from "../call.js";
import { onEvm, onSolana, receive, sign, verdictOf } from "../receiving.js";
import { NOBODY_KEY } from "../scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
/** The first of the three has no gas. */
const settlers = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()];
const addresses = settlers.map((key) => privateKeyToAccount(key).address);
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  await evm.native.setBalances(addresses.slice(1), 10n ** 19n);
  const networks = {
    "base-sepolia": { rpcUrl: evm.rpcUrl, settler: settlers },
    "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
  };
  world = await createGatewayWorld({ chains: { evm, solana }, options: { networks } });
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

/** As many payments in USDC as there are buyers, each to its own payee, no more than eight of a key at once. */
async function receiveAll(count: number, keys: readonly string[]) {
  const kind = onEvm(evm, "usdc", 2);
  const buyers = await evm.newBuyers(count);
  const waiting = buyers.map((buyer, n) => ({ buyer, key: keys[n % keys.length] ?? "" }));
  const got: { readonly payer: string; readonly payTo: string; readonly answer: Answer }[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { buyer, key } = next;
      const payTo = await kind.newPayee();
      const proof = await sign(kind, payTo, { payer: eip3009Payer(buyer) });
      const answer = await receive(world, kind, payTo, proof, { options: { key } });
      got.push({ payer: buyer.address, payTo, answer });
    }
  };
  await Promise.all(Array.from({ length: 8 * keys.length }, work));
  return got;
}

describe("many payments at once", () => {
  let got: Awaited<ReturnType<typeof receiveAll>>;
  beforeAll(async () => {
    const keys = await Promise.all([1, 2].map(async () => world.newKey({ account: await world.newAccount() })));
    got = await receiveAll(100, keys);
  }, 120_000);

  it("A45: each answer tells of the payment that was asked about, and of no other", async () => {
    expect(got.map(({ answer }) => verdictOf(answer))).toEqual(Array(100).fill("confirmed"));
    for (const { payer, payTo, answer } of got) {
      expect(answer.body).toMatchObject({ payer, recipient: getAddress(payTo), verified: true });
      const [transfer, ...more] = await evm.token.transfers({ to: payTo as `0x${string}` });
      expect([transfer?.transaction, transfer?.from, more]).toEqual([answer.body.signature, payer, []]);
    }
    for (const member of ["paymentId", "signature"] as const) {
      expect(new Set(got.map(({ answer }) => answer.body[member])).size).toBe(100);
    }
  });

  it("F93: of three settler keys one has no gas: all succeed, and the other two share the work", async () => {
    const count = async (address: string) =>
      Number(await evm.chain.rpc("eth_getTransactionCount", [address, "latest"]));
    const [none = 0, ...others] = await Promise.all(addresses.map(count));
    expect(none).toBe(0);
    expect(others.reduce((sum, one) => sum + one, 0)).toBe(100);
    for (const one of others) expect(one).toBeGreaterThan(20);
  });
});

describe("F82: the compute limit of a buyer's transaction", () => {
  const receiveWith = async (parts: Omit<Parameters<typeof splPayer>[1], "rpcUrl">) => {
    const kind = onSolana(solana, "usdc", 2);
    const payTo = await kind.newPayee();
    const payer = splPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, ...parts });
    return receive(world, kind, payTo, await sign(kind, payTo, { payer }));
  };

  it("is taken from a narrow one up to the cap", async () => {
    for (const units of [20_000, 60_000, 100_000, 200_000]) {
      expect([units, verdictOf(await receiveWith({ units }))]).toEqual([units, "confirmed"]);
    }
  });

  it("is refused above the cap, and where there is none, with the cap in words", async () => {
    for (const [parts, cap, got] of [
      [{ units: 200_001 }, "at most 200000 units", "200001"],
      [{ units: 1_400_000 }, "at most 200000 units", "1400000"],
      [{ change: ([, ...others]: readonly unknown[]) => others as never }, "SetComputeUnitLimit first", ""],
    ] as const) {
      const answer = await receiveWith(parts);
      expect(verdictOf(answer)).toMatch(/^400 INVALID_PAYMENT_PROOF/);
      const words = [answer.body.error?.message, ...detailsOf(answer).map(({ message }) => message)].join(" ");
      expect(words).toContain(cap);
      expect(words).toContain(got);
    }
  });
});

describe("F12: whoever asks waits longer than whoever is asked", () => {
  it("a seller with hosted() listens until after the gateway's last word, when verifying and when settling", async () => {
    // Takes every request and answers none: what is left is how long its caller listens.
    const asked: { readonly body: unknown; readonly key: string | undefined }[] = [];
    let listenedMs = 0;
    const silent = createServer(async (req, res) => {
      const startedAt = performance.now();
      res.on("close", () => {
        listenedMs = performance.now() - startedAt;
      });
      asked.push({ body: JSON.parse(await text(req)), key: req.headers["idempotency-key"]?.toString() });
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const receiver = hosted({ baseUrl: `http://127.0.0.1:${port}`, apiKey: NOBODY_KEY, timeoutMs: 5_000 });
    const proof = await makeProof();
    const signal = new AbortController().signal;
    const verdict = await receiver.verify(proof, { resource: RESOURCE, signal, signatureKnown: false });
    expect(verdict.outcome).not.toBe("valid");
    const timeoutOf = (n: number) => receiveRequest.parse(asked[n]?.body).timeout * 1_000;
    await expect.poll(() => listenedMs).toBeGreaterThan(timeoutOf(0) + GRACE_MS);

    const settleMs = receiver.settleMs(REQUIREMENT.network);
    const context = { settlementId: "a-settlement", resource: RESOURCE, since: 0, sending: async () => {} };
    const settling = receiver.settle(proof, { ...context, deadlineAt: Date.now() + settleMs });
    await expect.poll(() => asked.length).toBe(2);
    expect(asked[1]?.key).toBe("a-settlement");
    expect(settleMs).toBeGreaterThan(timeoutOf(1) + GRACE_MS);
    silent.closeAllConnections();
    expect((await settling).outcome).toBe("unknown");
    silent.close();
    await receiver.close();
  });
});
