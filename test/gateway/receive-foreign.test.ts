// A facilitator that a caller names: only one that the operator listed, only at a judged address, bounded in every way; its word
// is marked, and finalises nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceive } from "../../src/gateway/receive/receive.js";
import { receiveRequest } from "../../src/gateway/schemas/index.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { freePort } from "../support/process.js";
import {
  answer,
  BASE_SEPOLIA_KINDS,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { settleOnSolana } from "../support/settle-on-solana.js";
import { type Kind, onEvm, onSolana, receive, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let foreign: ScriptedFacilitator;
let url: string;

/** The foreign facilitator of each test listens on it. */
let port: number;
beforeAll(async () => {
  port = await freePort();
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const facilitatorUrls = [`http://127.0.0.1:${port}`, `https://pay.example:${port}`];
  world = await createGatewayWorld({ chains: { evm, solana }, options: { facilitatorUrls } });
});
afterAll(async () => {
  await world.close();
  await Promise.all([evm.close(), solana.close()]);
});

beforeEach(async () => {
  const feePayer = solana.feePayer.publicKey.toBase58();
  const kinds = [
    ...BASE_SEPOLIA_KINDS,
    { x402Version: 2, scheme: "exact", network: solana.caip2, extra: { feePayer } },
  ];
  const [byEvm, bySolana] = [settleOnChain(evm), settleOnSolana(solana)];
  foreign = await startScriptedFacilitator({
    port,
    kinds,
    settle: (payment) => ("authorization" in payment ? byEvm(payment) : bySolana(payment)),
  });
  url = foreign.url;
});
afterEach(() => foreign.close());

const asked = (): string[] => foreign.requests.map(({ endpoint }) => endpoint);

/** A payment in USDC on EVM through the foreign facilitator. */
async function pay(more: object = {}, kind: Kind = onEvm(evm, "usdc", 2)) {
  const payTo = await kind.newPayee();
  const proof = await sign(kind, payTo);
  return { kind, payTo, proof, got: await receive(world, kind, payTo, proof, { facilitatorUrl: url, ...more }) };
}

describe("a facilitator that the operator permits", () => {
  it("verifies and settles in the gateway's place, and the chain confirms it", async () => {
    for (const kind of [onEvm(evm, "usdc", 1), onEvm(evm, "usdc", 2), onSolana(solana, "usdc", 2)]) {
      const before = asked().length;
      const { got, payTo, proof } = await pay({}, kind);
      expect([verdictOf(got), got.body.error?.message]).toEqual(["confirmed", undefined]);
      expect(got.body.facilitatorUrl).toBeUndefined();
      expect(asked().slice(before)).toEqual(["supported", "verify", "settle"]);
      expect(await kind.received(payTo)).toEqual([kind.units]);
      expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
      expect(verdictOf(await receive(world, kind, payTo, proof, { facilitatorUrl: url }))).toBe(
        "400 INVALID_PAYMENT_PROOF already_used",
      );
    }
  });

  it("only verifies with settle: false, and the word is marked", async () => {
    const { got } = await pay({ settle: false });
    expect(got.body).toMatchObject({ verified: true, paymentId: null, facilitatorUrl: url });
    expect(asked()).toEqual(["supported", "verify"]);
  });

  it("is taken at its word where it lies, which is marked and never confirmed", async () => {
    foreign.always("settle", answer.claim(`0x${"AB".repeat(32)}`));
    const { got, kind, payTo } = await pay();
    expect(got.body).toMatchObject({ verified: true, status: "submitted", facilitatorUrl: url });
    expect(await kind.received(payTo)).toEqual([]);
    const record = await world.call("GET", `/payment/status/${String(got.body.paymentId)}`);
    expect(record.body).toMatchObject({ status: "submitted", signature: `0x${"ab".repeat(32)}` });
  });

  it("proves nothing with a transaction that has settled another payment", async () => {
    foreign.always("settle", answer.claim(`0x${"cd".repeat(32)}`));
    expect(verdictOf((await pay()).got)).toBe("submitted");
    const second = await pay({ timeout: 1 });
    expect(second.got.status).toBe(504);
    expect(second.got.body.error?.code).toBe("PAYMENT_VERIFICATION_FAILED");
  });

  it("refuses in its own words, and the proof is as good as before", async () => {
    foreign.script("verify", answer.invalid("insufficient_funds"));
    const { got, kind, payTo, proof } = await pay();
    expect(verdictOf(got)).toBe("400 INVALID_PAYMENT_PROOF insufficient_funds");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
  });

  it("settles nothing that it loses its answer of, until the chain has shown it", async () => {
    foreign.always("settle", answer.resetAfterActing());
    const { got, kind, payTo } = await pay();
    expect(verdictOf(got)).toBe("confirmed");
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });
});

describe("a facilitator that misbehaves", () => {
  it("is given up when the time of the request is over", async () => {
    foreign.always("verify", answer.hang());
    const { got, kind, payTo, proof } = await pay({ timeout: 1 });
    expect(got.status).toBe(504);
    expect(got.body.error?.code).toBe("PAYMENT_VERIFICATION_FAILED");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
  });

  it("may drip, and is given up all the same", async () => {
    foreign.always("verify", answer.drip());
    expect((await pay({ timeout: 1 })).got.status).toBe(504);
  });

  it("leads nowhere by a redirect", async () => {
    const other = await startScriptedFacilitator();
    foreign.always("verify", answer.redirect(`${other.url}/verify`));
    const { got } = await pay();
    expect([got.status, got.body.error?.code]).toEqual([502, "PAYMENT_VERIFICATION_FAILED"]);
    expect(other.connections).toBe(0);
    await other.close();
  });

  it("is not read beyond its bounds", async () => {
    foreign.always("verify", answer.huge(10 * 1024 * 1024));
    expect((await pay()).got.status).toBe(502);
  });

  it("may answer with anything, which is no verdict", async () => {
    const bad = [
      answer.html(),
      answer.empty(),
      answer.json({ isValid: "yes" }),
      answer.json([]),
      answer.status(500),
      answer.reset(),
      answer.cutOff(),
    ];
    for (const one of bad) {
      foreign.script("verify", one);
      expect((await pay()).got.status).toBe(502);
    }
  });

  it("gets no money that it cannot take: nothing is settled where it does not serve the network", async () => {
    foreign.script("supported", answer.json({ kinds: [] }));
    const { got } = await pay();
    expect(verdictOf(got)).toBe("400 INVALID_REQUEST facilitatorUrl");
  });
});

describe("a facilitator that is not permitted", () => {
  it("is never called: another port, path, host or scheme than the operator listed", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const elsewhere = [
      `http://localhost:${port}`,
      `http://127.0.0.1:${port + 1}`,
      "http://169.254.169.254/",
      "https://pay.example",
      "nowhere",
    ];
    for (const facilitatorUrl of elsewhere) {
      const got = await receive(world, kind, payTo, proof, { facilitatorUrl });
      expect(verdictOf(got)).toBe("400 INVALID_REQUEST facilitatorUrl");
    }
    expect(foreign.connections).toBe(0);
  });

  it("is not connected to where its name leads into this network", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const [key] = await world.gateway.database.keys.list(world.account);
    if (!key) throw new Error("there is no key");
    const resolved: string[] = [];
    const resolve = async (name: string) => {
      resolved.push(name);
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const caller = { key, requestId: "test", signal: new AbortController().signal };
    const facilitatorUrl = `https://pay.example:${port}`;
    const body = receiveBody(kind, payTo, await sign(kind, payTo), { facilitatorUrl, timeout: 5 });
    const got = await createReceive(world.gateway.parts, { resolve })(caller, receiveRequest.parse(body));
    expect(got).toMatchObject({ ok: false, code: "PAYMENT_VERIFICATION_FAILED" });
    expect(resolved).toContain("pay.example");
    expect(foreign.connections).toBe(0);
  });

  it("is not asked about a transaction that pays its own fee", async () => {
    const { got } = await pay({}, onEvm(evm, "eth", 2));
    expect(verdictOf(got)).toBe("400 INVALID_REQUEST facilitatorUrl");
    expect(foreign.connections).toBe(0);
  });
});
