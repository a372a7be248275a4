// The rules around a receive: who may receive for a wallet, what the gateway pays for, what happens when a chain, a node or a client
// is gone, and what nobody ever gets to read.
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceive } from "../../src/gateway/receive/receive.js";
import { receiveRequest } from "../../src/gateway/schemas/index.js";
import {
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  type Sandbox,
  type SolanaSandbox,
} from "../../src/testing/index.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import type { Answer } from "./call.js";
import { decode, newMinedPayer, onEvm, onSolana, receive, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let rpc: ScriptedRpc;
let world: GatewayWorld;
const worlds: GatewayWorld[] = [];

/** A world with options of its own. */
async function worldWith(options: Parameters<typeof createGatewayWorld>[0] = {}): Promise<GatewayWorld> {
  const one = await createGatewayWorld({ chains: { evm, solana }, ...options });
  worlds.push(one);
  return one;
}

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  rpc = await startScriptedRpc(evm.rpcUrl);
  world = await worldWith({
    options: {
      networks: {
        "base-sepolia": { rpcUrl: rpc.url, settler: evm.settlerKey },
        "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
      },
    },
  });
});
afterAll(async () => {
  await Promise.all(worlds.map((one) => one.close()));
  await Promise.all([evm.close(), solana.close(), rpc.close()]);
});

const pay = async (
  at: GatewayWorld = world,
  kind = onEvm(evm, "usdc", 2),
  more: Parameters<typeof receive>[4] = {},
) => {
  const payTo = await kind.newPayee();
  const proof = await sign(kind, payTo);
  const again = (options: Parameters<typeof receive>[4] = more): Promise<Answer> =>
    receive(at, kind, payTo, proof, options);
  return { kind, payTo, proof, again, got: await again() };
};

describe("a wallet", () => {
  it("that an account has shown to be its own is received for by nobody else", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const owner = await world.newAccount();
    expect(await world.gateway.database.accounts.prove(owner, payTo)).toBe(true);
    const proof = await sign(kind, payTo);
    for (const spelling of [payTo, payTo.toUpperCase().replace("0X", "0x")]) {
      expect(verdictOf(await receive(world, kind, spelling, proof))).toBe("403 FORBIDDEN walletAddress");
    }
    const key = await world.newKey({ account: owner });
    expect(verdictOf(await receive(world, kind, payTo, proof, { options: { key } }))).toBe("confirmed");
  });

  it("is on a network of the key's mode", async () => {
    const { again } = await pay(world, onEvm(evm, "usdc", 2), { settle: false });
    const live = await world.newKey({ mode: "live" });
    expect(verdictOf(await again({ network: "base-sepolia", options: { key: live } }))).toBe("403 FORBIDDEN");
  });

  it("without a token account is told so", async () => {
    const kind = onSolana(solana, "usdc", 2);
    const payTo = Keypair.generate().publicKey.toBase58();
    const proof = await sign(kind, payTo);
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("400 INVALID_RECIPIENT walletAddress");
  });
});

describe("what the gateway pays for", () => {
  it("is at most its budget of a day, and a payer's; what was not sent is given back", async () => {
    const poor = await worldWith({ options: { sponsored: { perAccount: 3, perPayer: 2 } } });
    const kind = onEvm(evm, "usdc", 2);
    const payer = eip3009Payer(await evm.newBuyer());
    const payTo = await kind.newPayee();
    const once = async (by = payer) => receive(poor, kind, payTo, await sign(kind, payTo, { payer: by }));
    const proof = await sign(kind, payTo, { payer });
    expect([verdictOf(await receive(poor, kind, payTo, proof)), verdictOf(await once())]).toEqual([
      "confirmed",
      "confirmed",
    ]);
    const third = await once();
    expect(verdictOf(third)).toBe("429 RATE_LIMIT sponsored");
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    // A repeat costs nothing, and neither does what pays its own gas.
    expect(verdictOf(await receive(poor, kind, payTo, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
    expect(verdictOf(await once(eip3009Payer(await evm.newBuyer())))).toBe("confirmed");
    expect(verdictOf(await once(eip3009Payer(await evm.newBuyer())))).toBe("429 RATE_LIMIT sponsored");
    expect(verdictOf((await pay(poor, onEvm(evm, "eth", 2))).got)).toBe("confirmed");
    expect(await kind.received(payTo)).toHaveLength(3);
  });

  it("is given back where nothing could be sent", async () => {
    const networks = { "base-sepolia": { rpcUrl: rpc.url, settler: evm.settlerKey } };
    const poor = await worldWith({ options: { networks, sponsored: { perAccount: 1, perPayer: 1 } } });
    rpc.script("eth_maxPriorityFeePerGas", fault.resetBefore(), 20);
    const { got, again } = await pay(poor);
    expect(verdictOf(got)).toBe("503 UNAVAILABLE settlement_unavailable");
    rpc.clear();
    expect(verdictOf(await again())).toBe("confirmed");
    expect(verdictOf((await pay(poor)).got)).toBe("429 RATE_LIMIT sponsored");
  });

  it("counts three times where it was mined in vain", async () => {
    const poor = await worldWith({ options: { sponsored: { perAccount: 4, perPayer: 100 } } });
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const account = await evm.newBuyer();
    const proof = await sign(kind, payTo, { payer: eip3009Payer(account) });
    await evm.chain.setAutomine(false);
    const waiting = evm.chain.rpc("eth_getBlockByNumber", ["pending", false]);
    expect(await waiting).toMatchObject({ transactions: [] });
    const receiving = receive(poor, kind, payTo, proof, { timeout: 12 });
    const pool = async () =>
      ((await evm.chain.rpc("eth_getBlockByNumber", ["pending", false])) as { transactions: unknown[] }).transactions
        .length;
    await expect.poll(pool, { timeout: 10_000 }).toBe(1);
    await evm.token.setBalances([account.address], 0n);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    expect((await receiving).body.error?.code).toBe("PAYMENT_VERIFICATION_FAILED");
    expect(verdictOf((await pay(poor)).got)).toBe("confirmed");
    expect(verdictOf((await pay(poor)).got)).toBe("429 RATE_LIMIT sponsored");
  });

  it("begins at a minimum, and only where it has a key", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const offer = { ...kind.offer(payTo), amount: "1" };
    const little = await receive(world, kind, payTo, await sign(kind, payTo, { offer }), {
      expectedAmount: "0.000001",
    });
    expect(verdictOf(little)).toBe("400 INVALID_REQUEST expectedAmount");
    const keyless = await worldWith({ options: { networks: { "base-sepolia": { rpcUrl: evm.rpcUrl } } } });
    expect(verdictOf((await pay(keyless)).got)).toBe("400 INVALID_REQUEST network");
    expect(verdictOf((await pay(keyless, onEvm(evm, "eth", 2))).got)).toBe("confirmed");
  });
});

describe("a node that cannot be asked", () => {
  it("leaves the proof as good as it was, before and after it was verified", async () => {
    rpc.script("*", fault.resetBefore(), 100);
    const { got, again, kind, payTo } = await pay();
    expect(verdictOf(got)).toBe("502 PAYMENT_VERIFICATION_FAILED receiver_unreachable");
    rpc.clear();
    expect(verdictOf(await again())).toBe("confirmed");
    expect(await kind.received(payTo)).toHaveLength(1);
  });

  it("is waited for as long as the request says", async () => {
    rpc.script("*", fault.hang(), 100);
    const { got, again } = await pay(world, onEvm(evm, "usdc", 2), { timeout: 1 });
    expect([got.status, got.body.error?.code]).toEqual([504, "PAYMENT_VERIFICATION_FAILED"]);
    rpc.clear();
    expect(verdictOf(await again())).toBe("confirmed");
  });

  it("gives nothing away where not one byte could be sent, and the same request may try again", async () => {
    const headers = { "Idempotency-Key": "nothing-was-sent" };
    // The settler's own nonce is asked for at settlement only.
    rpc.script("eth_maxPriorityFeePerGas", fault.resetBefore(), 20);
    const { got, again, kind, payTo } = await pay(world, onEvm(evm, "usdc", 2), { options: { headers } });
    expect(verdictOf(got)).toBe("503 UNAVAILABLE settlement_unavailable");
    expect(await kind.received(payTo)).toEqual([]);
    const record = await world.call("GET", `/payment/status/${String(got.body.error?.paymentId)}`);
    expect(record.body).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } });
    rpc.clear();
    expect(verdictOf(await again())).toBe("confirmed");
    expect((await again()).body.verified).toBe(true);
    expect(await kind.received(payTo)).toHaveLength(1);
  });
});

describe("a settlement whose outcome is not known yet", () => {
  it("is said to be under way, and the same request gets what became of it", async () => {
    const headers = { "Idempotency-Key": "what-became-of-it" };
    await evm.chain.setAutomine(false);
    // Long enough for whatever comes before the block that does not come.
    const { got, again, kind, payTo } = await pay(world, onEvm(evm, "usdc", 2), { timeout: 4, options: { headers } });
    expect([got.status, got.body.error?.code, got.body.error?.paymentId]).toEqual([
      504,
      "PAYMENT_VERIFICATION_FAILED",
      expect.stringMatching(/^pay_/),
    ]);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    let answer = await again();
    for (let look = 0; look < 40 && answer.status !== 200; look += 1) answer = await again();
    expect(verdictOf(answer)).toBe("confirmed");
    expect(answer.body.paymentId).toBe(got.body.error?.paymentId);
    expect(await kind.received(payTo)).toHaveLength(1);
  });

  it("goes on when its client has gone", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    await evm.chain.setAutomine(false);
    const sent = rpc.count("eth_sendRawTransaction");
    const client = new AbortController();
    const gone = receive(world, kind, payTo, proof, { options: { signal: client.signal } }).catch(() => "gone");
    await rpc.called("eth_sendRawTransaction", sent + 1);
    client.abort();
    expect(await gone).toBe("gone");
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    const status = async () => {
      const { body } = await world.call("GET", `/payment/history/${payTo}`);
      const [record] = body.payments as unknown as readonly { readonly status: string }[];
      return record?.status;
    };
    await expect.poll(status, { timeout: 15_000 }).toBe("confirmed");
    expect(await kind.received(payTo)).toHaveLength(1);
  });

  it("is not confirmed before as many blocks stand on it as the operator asks for", async () => {
    const patient = await worldWith({
      options: { networks: { "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, confirmations: 3 } } },
    });
    for (const kind of [onEvm(evm, "usdc", 2), onEvm(evm, "eth", 2)]) {
      const headers = { "Idempotency-Key": `three-blocks-${kind.name.slice(0, 3)}` };
      const { got, again } = await pay(patient, kind, { timeout: 4, options: { headers } });
      expect([got.status, got.body.error?.code]).toEqual([504, "PAYMENT_VERIFICATION_FAILED"]);
      await evm.chain.mine(3);
      let answer = await again();
      for (let look = 0; look < 40 && answer.status !== 200; look += 1) answer = await again();
      expect(verdictOf(answer)).toMatch(/^(?:confirmed|finalized)$/);
      const record = await patient.call("GET", `/payment/status/${String(answer.body.paymentId)}`);
      expect(record.body.confirmations).toBeGreaterThanOrEqual(3);
    }
  });
});

describe("an Idempotency-Key", () => {
  it("stands for one payment, also when the answer to it is no longer kept", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const [key] = await world.gateway.database.keys.list(world.account);
    if (!key) throw new Error("the account has no key");
    const idempotency = { id: "one request", seal: (text: string) => text, open: (text: string) => text };
    const caller = { key, requestId: "test", signal: new AbortController().signal, idempotency };
    const engine = createReceive(world.gateway.parts);
    const ask = (proof: string) => engine(caller, receiveRequest.parse(receiveBody(kind, payTo, proof)));
    const proof = await sign(kind, payTo);
    expect(await ask(proof)).toMatchObject({ ok: true });
    expect(await ask(proof)).toMatchObject({ ok: true });
    expect(await ask(await sign(kind, payTo))).toMatchObject({ ok: false, code: "CONFLICT" });
    expect(await kind.received(payTo)).toHaveLength(1);
  });
});

describe("what an outsider has settled", () => {
  it("before it was shown here is used, and buys nothing", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const other = await worldWith({});
    expect(verdictOf(await receive(other, kind, payTo, proof))).toBe("confirmed");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
  });

  it("before this gateway's memory of the account begins is too old", async () => {
    const kind = onEvm(evm, "eth", 2);
    const payTo = await kind.newPayee();
    const payer = await newMinedPayer(evm);
    const proof = await sign(kind, payTo, { payer });
    const minedAt = await evm.chain.time();
    const until = (minedAt + 2) * 1000;
    await expect.poll(() => Date.now() > until, { timeout: 10_000 }).toBe(true);
    const key = await world.newKey({ account: await world.newAccount() });
    const late = await receive(world, kind, payTo, proof, { options: { key } });
    expect(verdictOf(late)).toBe("400 INVALID_PAYMENT_PROOF payment_too_old");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
  });
});

describe("what was shown", () => {
  it("stands in no line of the log, no answer and no event", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const { payload } = decode(proof) as { readonly payload: { readonly signature: string } };
    const got = await receive(world, kind, payTo, proof);
    const bad = await receive(world, kind, payTo, proof.slice(0, -8));
    const status = await world.call("GET", `/payment/status/${String(got.body.paymentId)}`);
    const shown = [got.text, bad.text, status.text, ...world.log.lines].join("\n");
    const secrets = [
      payload.signature,
      payload.signature.slice(2),
      payload.signature.slice(2, 66),
      proof,
      world.apiKey,
      evm.settlerKey,
    ];
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(world.log.lines.length).toBeGreaterThan(0);
  });
});
