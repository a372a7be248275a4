// The chain or the facilitator is down, hangs, resets after it has settled, answers HTML, `{}`, `success: false` or 308:
// no goods, no second bill, and the outcome can be learnt by sending the same payment again.
import { afterAll, afterEach, beforeAll, describe, expect, it as plain } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { facilitator } from "../../src/receive/facilitator.js";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  type SignedPayment,
  signPayment,
} from "../../src/testing/index.js";
import {
  answer,
  type Endpoint,
  type ScriptedAnswer,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from "../support/scripted-facilitator.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { FRAMEWORKS, type Framework, type Got, type Seller, send, startSeller } from "./seller.js";

// Faults are mostly waited for: the frameworks beside each other, on a chain of its own each, and one fault after the other.
const it = plain.sequential;
/** How long a facilitator that says nothing is waited for: an honest one on a busy machine settles in less. */
const FACILITATOR_MS = 6_000;

describe.concurrent.each(FRAMEWORKS)("on %s", (framework: Framework) => {
  let sandbox: Sandbox;
  let rpc: ScriptedRpc;
  beforeAll(async () => {
    sandbox = await createSandbox();
    rpc = await startScriptedRpc(sandbox.rpcUrl);
  });
  afterAll(async () => {
    await rpc?.close();
    await sandbox?.close();
  });

  let seller: Seller | undefined;
  let remote: ScriptedFacilitator | undefined;
  let before = 0;

  afterEach(async () => {
    rpc.clear();
    await seller?.close();
    await remote?.close();
    seller = remote = undefined;
  });

  const debits = async () => (await sandbox.token.transfers({ to: sandbox.seller })).length - before;
  const open = async (receive: Parameters<typeof startSeller>[1]["receive"]) => {
    before = (await sandbox.token.transfers({ to: sandbox.seller })).length;
    seller = await startSeller(framework, {
      payTo: sandbox.payTo,
      network: sandbox.network,
      receive: receive!,
      handlerTimeoutMs: 5000,
    });
    await seller.ready();
    return seller;
  };
  const sign = async (path = "/report", from = seller): Promise<SignedPayment> => {
    const challenge = await readChallenge(await fetch(`${from?.url}${path}`), 2);
    return signPayment({
      account: await sandbox.newBuyer(),
      offer: challenge.accepts[0]!,
      version: 2,
      challenge,
      retryKey: "retry-key-0123456789",
    });
  };
  const buy = async (payment: SignedPayment, path = "/report", from = seller): Promise<Got> => {
    const got = await send(`${from?.url}${path}`, { headers: payment.headers });
    if (!got) throw new Error("no answer");
    return got;
  };
  /** No goods and nothing that invites another payment. */
  const expectNoBill = (got: Got, statuses: number[]) => {
    expect(statuses).toContain(got.status);
    expect(got.body).not.toContain("the goods");
    expect(got.headers["payment-required"]).toBeUndefined();
    expect(got.json).not.toHaveProperty("accepts");
    expect(got.headers["retry-after"]).toBeDefined();
  };
  const collect = async (payment: SignedPayment, path = "/report", from = seller): Promise<Got> => {
    for (let tries = 0; tries < 200; tries += 1) {
      const got = await buy(payment, path, from);
      if (got.status === 200 || got.status === 402) return got;
      expectNoBill(got, [409, 502, 503]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error("the outcome never came");
  };

  describe.sequential("local, while the chain is asked about a proof", () => {
    it.each([
      ["resets the connection", fault.resetBefore(), [503]],
      ["hangs", fault.hang(), [503]],
      ["answers HTML", fault.html(), [502, 503]],
      ["answers 429", fault.tooMany(), [503]],
      ["answers {}", fault.status(200, "{}"), [502]],
    ] as const)(
      "and it %s: no goods, and the same payment buys once the chain is back",
      async (_what, broken, statuses) => {
        const { runs } = await open(sandbox.receive({ rpcUrl: rpc.url }));
        const payment = await sign();
        rpc.script("*", broken, 1000);
        expectNoBill(await buy(payment), [...statuses]);
        expect([runs.length, await debits()]).toEqual([0, 0]);
        rpc.clear();
        expect((await buy(payment)).status).toBe(200);
        expect([runs.length, await debits()]).toEqual([1, 1]);
      },
    );
  });

  describe.sequential("local, while the money is sent", () => {
    it("and the connection breaks after the node took it: settled, by its own evidence", async () => {
      const { runs } = await open(sandbox.receive({ rpcUrl: rpc.url }));
      const payment = await sign();
      rpc.script("eth_sendRawTransaction", fault.resetAfter(), 1);
      expect((await collect(payment)).body).toBe("the goods");
      expect([runs.length, await debits()]).toEqual([1, 1]);
    });

    it("and the receipt cannot be had: unknown, no new bill, the goods once the chain answers again", async () => {
      const { runs } = await open(sandbox.receive({ rpcUrl: rpc.url }));
      const payment = await sign();
      rpc.script("eth_getTransactionReceipt", fault.lie(null), 100_000);
      const got = await buy(payment);
      expectNoBill(got, [503]);
      expect(got.json).toMatchObject({ code: "settlement_unknown", payment: "unknown" });
      expect(await debits()).toBe(1);
      rpc.clear();
      expect((await collect(payment)).body).toBe("the goods");
      expect([runs.length, await debits()]).toEqual([1, 1]);
    }, 60_000);
  });

  const verifyFaults: [string, ScriptedAnswer, number[]][] = [
    ["answers HTML", answer.html(), [502]],
    ["answers nothing", answer.empty(), [502]],
    ["answers {}", answer.json({}), [502]],
    ["redirects", answer.redirect("http://127.0.0.1:1/verify"), [502]],
    ["resets", answer.reset(), [503]],
    ["hangs", answer.hang(), [503]],
    ["answers 401", answer.status(401), [503]],
    ["answers 500", answer.status(500), [503]],
  ];
  const withFacilitator = async (rpcUrl?: string) => {
    remote = await startScriptedFacilitator({ settle: settleOnChain(sandbox) });
    const opened = await open(
      facilitator({ url: remote.url, timeoutMs: FACILITATOR_MS, logger: silentLogger, ...(rpcUrl && { rpcUrl }) }),
    );
    return { remote, ...opened, runs: opened.runs };
  };

  it.each(verifyFaults)(
    "a facilitator that at /verify %s: no goods, the proof stays good",
    async (_what, broken, statuses) => {
      const { remote: scripted, runs } = await withFacilitator();
      const payment = await sign();
      scripted.script("verify", broken);
      expectNoBill(await buy(payment), statuses);
      expect([runs.length, await debits()]).toEqual([0, 0]);
      expect((await buy(payment)).status).toBe(200);
      expect([runs.length, await debits()]).toEqual([1, 1]);
    },
  );

  const settleFaults: [string, ScriptedAnswer, 0 | 1][] = [
    ["answers HTML", answer.html(), 0],
    ["answers nothing", answer.empty(), 0],
    ["answers {}", answer.json({}), 0],
    ["redirects", answer.redirect("http://127.0.0.1:1/settle"), 0],
    ["resets without acting", answer.reset(), 0],
    ["settles and resets", answer.resetAfterActing(), 1],
    ["settles and hangs", answer.hangAfterActing(), 1],
    ["answers 500", answer.status(500), 0],
  ];

  it.each(settleFaults)(
    "a facilitator that at /settle %s, with an RPC of our own: unknown, then what the chain says",
    async (_what, broken, moved) => {
      const { remote: scripted, runs } = await withFacilitator(sandbox.rpcUrl);
      const payment = await sign();
      scripted.script("settle", broken);
      const got = await buy(payment);
      expectNoBill(got, [503]);
      expect(got.json.code).toBe("settlement_unknown");
      expect(await debits()).toBe(moved);
      if (moved === 1) {
        expect((await collect(payment)).body).toBe("the goods");
        expect(runs.length).toBe(1);
      } else {
        const later = await buy(payment);
        expectNoBill(later, [503, 409]);
      }
      expect(await debits()).toBe(moved);
    },
  );

  it("a facilitator that settles and loses the answer, without an RPC: the 503 stays, and never a second bill", async () => {
    const { remote: scripted } = await withFacilitator();
    const payment = await sign();
    scripted.script("settle", answer.resetAfterActing());
    for (let tries = 0; tries < 3; tries += 1) expectNoBill(await buy(payment), [503]);
    expect(await debits()).toBe(1);
    expect(scripted.requests.filter(({ endpoint }) => endpoint === ("settle" satisfies Endpoint))).toHaveLength(1);
  });

  it("a facilitator that refuses at /settle for the payer's fault: 402 with the reason, nothing moved", async () => {
    const { remote: scripted } = await withFacilitator();
    const payment = await sign();
    scripted.script("settle", answer.refuse("insufficient_funds"));
    const got = await buy(payment);
    expect([got.status, got.json.code]).toEqual([402, "insufficient_funds"]);
    expect(JSON.parse(atob(String(got.headers["payment-response"])))).toMatchObject({
      success: false,
      transaction: "",
    });
    expect(got.headers["payment-required"]).toBeDefined();
    expect(await debits()).toBe(0);
  });

  it("a facilitator whose /supported fails in any way: 402s are served, proofs wait and get 503, never goods", async () => {
    const ways: Record<string, ScriptedAnswer> = {
      "answers HTML": answer.html(),
      "answers {}": answer.json({}),
      resets: answer.reset(),
      hangs: answer.hang(),
      "answers 429": answer.status(429),
      redirects: answer.redirect("http://127.0.0.1:1/supported"),
    };
    await Promise.all(Object.entries(ways).map(([name, way]) => supportedFails(name, way)));
  }, 60_000);

  async function supportedFails(name: string, way: ScriptedAnswer): Promise<void> {
    const scripted = await startScriptedFacilitator({ settle: settleOnChain(sandbox) });
    scripted.always("supported", way);
    const receive = facilitator({ url: scripted.url, timeoutMs: FACILITATOR_MS, logger: silentLogger });
    const own = await startSeller(framework, { payTo: sandbox.payTo, network: sandbox.network, receive });
    try {
      expect((await send(`${own.url}/report`))?.status, name).toBe(402);
      const payment = await sign("/report", own);
      expectNoBill(await buy(payment, "/report", own), [503]);
      expect(own.runs, name).toHaveLength(0);
      scripted.always("supported", answer.honest());
      expect((await collect(payment, "/report", own)).status, name).toBe(200);
    } finally {
      await own.close();
      await scripted.close();
    }
  }
});
