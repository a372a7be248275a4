import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import type { AuthorizationProof } from "../../src/proof.js";
import { type FacilitatorOptions, facilitator } from "../../src/receive/facilitator.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { makeProof, PAYER, REQUIREMENT, traceOf } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";

let world: FacilitatorWorld;
let service: ScriptedFacilitator;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  service = world.service;
  return () => world.close();
});

describe("the wire version", () => {
  const inner = (body: unknown) => (body as { paymentPayload: { payload: unknown } }).paymentPayload.payload;

  it("is the other one where the facilitator lists the network in that only, with the same signed payload", async () => {
    const cases = [
      { version: 1, kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:84532" }], as: 2 },
      { version: 2, kinds: [{ x402Version: 1, scheme: "exact", network: "base-sepolia" }], as: 1 },
      { version: 1, kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:*" }], as: 2 },
    ] as const;
    for (const { version, kinds, as } of cases) {
      const only = await startScriptedFacilitator({ kinds });
      const by = world.open({ url: `${only.url}/` });
      expect(await by.ready([REQUIREMENT], world.signal)).toEqual({ state: "ready" });
      const proof = await makeProof({ version });
      expect(await world.verify(proof, by)).toMatchObject({ outcome: "valid" });
      expect(await world.settle(proof, {}, by)).toMatchObject({ outcome: "settled" });
      for (const { body } of only.requests.filter(({ endpoint }) => endpoint !== "supported")) {
        expect(body).toMatchObject({ x402Version: as, paymentPayload: { x402Version: as } });
        expect(inner(body)).toEqual(proof.payload.payload);
      }
      await only.close();
    }
  });

  it("is the proof's own where both are listed, and where the list is not known", async () => {
    await world.verify(await makeProof({ version: 1 }));
    await world.receiver.ready([REQUIREMENT], world.signal);
    await world.verify(await makeProof({ version: 1 }));
    await world.verify(await makeProof({ version: 2 }));
    expect(world.sentTo("verify").map(({ body }) => (body as { x402Version: number }).x402Version)).toEqual([1, 1, 2]);
  });
});

describe('verify: "local"', () => {
  let local: Receiver;
  beforeEach(() => {
    local = world.open({ verify: "local" });
    return () => local.close();
  });

  it("judges a plain account's signature here and shows the facilitator the settlement only", async () => {
    const proof = await makeProof();
    expect(await world.verify(proof, local)).toEqual({ outcome: "valid", payer: PAYER.address });
    expect(service.requests).toHaveLength(0);
    expect(await world.settle(proof, {}, local)).toMatchObject({ outcome: "settled" });
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(["settle"]);
  });

  const now = () => BigInt(Math.floor(Date.now() / 1000));
  const wrong: [name: string, code: string, make: () => Promise<AuthorizationProof>][] = [
    ["a signature by nobody", "signature_invalid", () => makeProof({ signature: `0x${"11".repeat(64)}1b` })],
    ["a signature for another token", "signature_invalid", () => makeProof({ domain: { name: "USD Coin" } })],
    ["a signature for another chain", "signature_invalid", () => makeProof({ domain: { chainId: 8453 } })],
    ["another payee", "recipient_mismatch", () => makeProof({ overrides: { to: PAYER.address } })],
    ["another amount", "amount_mismatch", () => makeProof({ overrides: { value: 9_999n } })],
    ["one that has expired", "payment_expired", () => makeProof({ overrides: { validBefore: now() - 1n } })],
    ["one that is not valid yet", "payment_not_yet_valid", () => makeProof({ overrides: { validAfter: now() + 60n } })],
  ];
  it.each(wrong)("refuses %s as %s without a call", async (_name, code, make) => {
    expect(await world.verify(await make(), local)).toMatchObject({ outcome: "invalid", code });
    expect(service.requests).toHaveLength(0);
  });

  it("shows the facilitator what cannot be judged here: the signature of a contract wallet", async () => {
    expect(await world.verify(await makeProof({ signature: `0x${"ab".repeat(100)}` }), local)).toMatchObject({
      outcome: "valid",
    });
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(["verify"]);
  });
});

describe("lookup", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox();
  });
  afterAll(() => sandbox.close());

  it("finds nothing out without an RPC URL", async () => {
    const proof = await makeProof();
    service.script("settle", answer.resetAfterActing());
    expect(await world.settle(proof)).toMatchObject({ outcome: "unknown" });
    expect(await world.receiver.lookup(traceOf(proof), world.signal)).toMatchObject({ outcome: "unknown" });
  });

  it("tells whether a settlement stays where it has an RPC URL for its network, and else does not claim to", async () => {
    expect(world.receiver.finality).toBeUndefined();
    const elsewhere = world.open({ url: service.url, rpcUrl: { base: sandbox.rpcUrl } });
    const proof = await makeProof({ account: await sandbox.newBuyer() });
    expect(await elsewhere.finality?.(traceOf(proof), world.signal)).toEqual({ outcome: "untold" });
    const transaction = await settleOnChain(sandbox)({ ...proof, asset: proof.requirement.asset } as never);
    const by = world.open({ url: service.url, rpcUrl: sandbox.rpcUrl });
    const trace = { ...traceOf(proof), transaction };
    expect(await by.finality?.(trace, world.signal)).toMatchObject({ outcome: "settled", transaction });
    // A facilitator that named a transaction which no block has ever had: nothing is sent again, and nothing final is said.
    const invented = { ...traceOf(await makeProof()), transaction: `0x${"77".repeat(32)}` };
    expect(await by.finality?.(invented, world.signal)).toMatchObject({ outcome: "unknown" });
  });

  it("finds a settlement on the chain whose answer was lost", async () => {
    const honest = await startScriptedFacilitator({ settle: settleOnChain(sandbox) });
    const by = world.open({ url: honest.url, rpcUrl: sandbox.rpcUrl });
    const proof = await makeProof({ account: await sandbox.newBuyer() });
    honest.script("settle", answer.resetAfterActing());
    expect(await world.settle(proof, {}, by)).toMatchObject({ outcome: "unknown" });
    const [transaction] = honest.settled.values();
    expect(await by.lookup(traceOf(proof), world.signal)).toEqual({
      outcome: "settled",
      transaction,
      height: expect.any(Number),
    });
    await honest.close();
  });

  it("asks the chain where an RPC URL is configured for the network", async () => {
    const by = world.open({ rpcUrl: { "base-sepolia": sandbox.rpcUrl } });
    expect(await by.ready([REQUIREMENT], world.signal)).toEqual({ state: "ready" });
    const proof = await makeProof();
    // Finalized time passes the end of the authorization, and nobody used it: the chain can say so, nobody else.
    await sandbox.chain.rpc("evm_increaseTime", ["0x78"]);
    for (let block = 0; block < 80; block++) await sandbox.chain.mine();
    expect(await by.lookup(traceOf(proof), world.signal)).toEqual({ outcome: "expired" });
  });

  it("names an RPC URL of another chain, and one URL for several networks, at the start", async () => {
    const polygon = { ...REQUIREMENT, network: "eip155:80002" };
    service.always("supported", answer.json({ kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:*" }] }));
    const wrong = world.open({ rpcUrl: { "polygon-amoy": sandbox.rpcUrl } });
    expect(await wrong.ready([polygon], world.signal)).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "rpcUrl", expected: "chain id 80002 for eip155:80002", got: "chain id 84532" }],
    });
    const one = world.open({ rpcUrl: sandbox.rpcUrl });
    expect(await one.ready([polygon, REQUIREMENT], world.signal)).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "rpcUrl", expected: "one URL for each of eip155:80002, eip155:84532" }],
    });
  });
});

describe("the options of facilitator()", () => {
  it("lists every problem at once, with path and remedy, and shows no value", () => {
    const options = {
      url: "https://me:hunter2@x.example?k=hunter2",
      headers: { a: 1 },
      verify: "never",
      timeoutMs: 0.5,
      ulr: 1,
      rpcUrl: { nowhere: "https://n" },
    };
    let error: unknown;
    try {
      facilitator(options as unknown as FacilitatorOptions);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PaywallConfigError);
    const problems = error instanceof PaywallConfigError ? error.problems : [];
    const paths = [...new Set(problems.map(({ path }) => path))].sort();
    const names = ["headers", "rpcUrl", "timeoutMs", "ulr", "url", "verify"];
    expect(paths).toEqual(names.map((name) => `facilitator.${name}`));
    expect(String(error)).not.toContain("hunter2");
  });

  it.each([[{}], ["https://x.example"], [null], [undefined], [{ url: "ftp://x.example" }], [{ url: "" }]])(
    "refuses %j",
    (options) => {
      expect(() => facilitator(options as unknown as FacilitatorOptions)).toThrow(PaywallConfigError);
    },
  );

  it("waits 10 s for a settlement, or as long as it is told", async () => {
    const plain = facilitator({ url: service.url });
    expect(plain.settleMs("eip155:84532")).toBe(10_000);
    expect(world.receiver.settleMs("eip155:84532")).toBe(9_000);
    await plain.close();
  });
});

describe("what is logged", () => {
  it("holds no credential, signature or nonce, whatever went wrong", async () => {
    const proof = await makeProof();
    const replies: object[] = [];
    for (const scripted of [
      answer.status(401),
      answer.reset(),
      answer.html(),
      answer.cutOff(),
      answer.json({ isValid: true }, 500),
    ]) {
      service.script("verify", scripted);
      service.script("settle", scripted);
      replies.push(await world.verify(proof), await world.settle(proof));
    }
    const texts = [...world.log, ...replies.map((reply) => JSON.stringify(reply))].join("\n");
    expect(world.log.length).toBeGreaterThan(1);
    expect(texts).not.toContain("sesame-open");
    expect(texts).not.toContain(proof.signature.slice(2, 40));
    expect(texts).not.toContain(proof.authorization.nonce.slice(2));
  });
});
