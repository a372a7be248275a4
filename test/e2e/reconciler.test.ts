// What is left undecided on a real chain is decided without a request: after kill -9, over a node that is behind, by an outsider's
// hand, after a reorganisation; and by no lie. Each test has a chain of its own, and all wait at the same time. Needs a build.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFunctionData, parseAbi } from "viem";
import { describe, expect, it as plain, type TestContext, vi } from "vitest";
import * as z from "zod";
import type { PaywallEvents } from "../../src/events.js";
import { sqlStore } from "../../src/store/sql.js";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  type SignedPayment,
  signPayment,
} from "../../src/testing/index.js";
import { startNode } from "../support/process.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { root } from "../support/sources.js";
import { type Got, type Seller, send, startSeller } from "./seller.js";
import { stripKey } from "./stranger.js";

const it = plain.concurrent;
const KEY = "retry-key-0123456789";
const LONG = { timeout: 120_000, interval: 200 };

interface World {
  readonly sandbox: Sandbox;
  readonly rpc: ScriptedRpc;
  readonly sign: (url: string) => Promise<SignedPayment>;
  readonly debits: () => Promise<number>;
  /** Whose handlers the payments of this test have run. */
  readonly sellers: Seller[];
  readonly finally: TestContext["onTestFinished"];
}

async function createWorld({ onTestFinished }: TestContext): Promise<World> {
  const sandbox = await createSandbox();
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  onTestFinished(async () => {
    await rpc.close();
    await sandbox.close();
  });
  return {
    sandbox,
    rpc,
    sellers: [],
    finally: onTestFinished,
    async sign(url) {
      const challenge = await readChallenge(await fetch(`${url}/report`), 2);
      const [offer] = challenge.accepts;
      if (!offer) throw new Error("no offer");
      const account = await sandbox.newBuyer();
      return signPayment({ account, offer, version: 2, challenge, retryKey: KEY });
    },
    debits: async () => (await sandbox.token.transfers({ to: sandbox.seller })).length,
  };
}

async function openSeller(world: World, more: object = {}): Promise<Seller> {
  const { sandbox, rpc } = world;
  const { payTo, network } = sandbox;
  const receive = sandbox.receive({ rpcUrl: rpc.url, settleMs: 5_000 });
  const seller = await startSeller("Express 5", { payTo, network, receive, handlerTimeoutMs: 5000, ...more });
  world.sellers.push(seller);
  world.finally(() => seller.close());
  await seller.ready();
  return seller;
}

async function buy(url: string, { headers }: SignedPayment): Promise<Got> {
  const got = await send(`${url}/report`, { headers });
  if (!got) throw new Error("no answer");
  return got;
}

/** Events about the payments of this test: other chains have the same payee, the same token and the same buyers. */
function listen<Name extends "reconciled" | "reorganised" | "expired">(name: Name, world: World) {
  const events: PaywallEvents[Name][] = [];
  const hear = (message: unknown) => void events.push(message as PaywallEvents[Name]);
  subscribe(`tollgate:${name}`, hear);
  world.finally(() => void unsubscribe(`tollgate:${name}`, hear));
  const own = () => new Set(world.sellers.flatMap(({ runs }) => runs.map((payment) => payment?.proofId)));
  return () => events.filter(({ proofId }) => own().has(proofId));
}

function sqliteFile(world: World): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
  world.finally(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "shop.db");
}

describe("without a request of a buyer", () => {
  it("a payment of a process killed after the bytes left is settled by the next one; its buyer gets the goods", async (test) => {
    const world = await createWorld(test);
    const { sandbox, rpc } = world;
    const env = {
      SETTLER_KEY: sandbox.settlerKey,
      PAY_TO: sandbox.payTo,
      TOLLGATE_STORE_URL: `sqlite://${sqliteFile(world)}`,
    };
    const start = async (rpcUrl: string) => {
      const running = await startNode([join(root, "test/e2e/reconciler-seller.mjs")], { ...env, RPC_URL: rpcUrl });
      world.finally(() => running.kill());
      return { ...running, url: `http://127.0.0.1:${running.firstLine}` };
    };
    const first = await start(rpc.url);
    const payment = await world.sign(first.url);
    rpc.script("eth_getTransactionReceipt", fault.lie(null), 100_000);
    const lost = send(`${first.url}/report`, { headers: payment.headers }).catch(() => "cut");
    await rpc.reached("eth_sendRawTransaction");
    await first.kill();
    expect(await lost).toBe("cut");

    const second = await start(sandbox.rpcUrl);
    const told = async () => JSON.parse((await send(`${second.url}/events`))?.body ?? "[]") as unknown[];
    await vi.waitFor(async () => expect(await told()).toContainEqual({ outcome: "settled", how: "background" }), LONG);
    const got = await buy(second.url, payment);
    expect([got.status, got.body.startsWith("the goods")]).toEqual([200, true]);
    expect(await world.debits()).toBe(1);
  }, 150_000);

  it("a settlement that a reorganisation of depth 3 took away after its delivery is sent again, and not delivered again", async (test) => {
    const world = await createWorld(test);
    const { sandbox } = world;
    const reorganised = listen("reorganised", world);
    const reconciled = listen("reconciled", world);
    const seller = await openSeller(world);
    await sandbox.chain.mine(4);
    const payment = await world.sign(seller.url);
    expect((await buy(seller.url, payment)).status).toBe(200);
    const [before] = await sandbox.token.transfers({ to: sandbox.seller });
    await sandbox.chain.mine(2);
    await sandbox.chain.reorg(3);
    expect(await world.debits()).toBe(0);
    await vi.waitFor(() => expect(reorganised()).toHaveLength(1), LONG);
    await vi.waitFor(() => expect(reconciled()).toMatchObject([{ outcome: "settled", how: "sent_again" }]), LONG);
    const [after, ...others] = await sandbox.token.transfers({ to: sandbox.seller });
    expect(others).toEqual([]);
    expect(reconciled()[0]?.transaction).toBe(after?.transaction);
    expect(after?.block).not.toBe(before?.block);
    // The kept answer is the one that was delivered; a stranger with the proof alone gets nothing.
    const again = await buy(seller.url, payment);
    expect([again.status, again.headers["payment-replayed"]]).toEqual([200, "true"]);
    expect(seller.runs).toHaveLength(1);
    expect(await world.debits()).toBe(1);
  }, 180_000);

  it("a node five blocks behind neither settles, nor expires, nor takes back: what it catches up with is found", async (test) => {
    const world = await createWorld(test);
    const { rpc, sandbox } = world;
    const reorganised = listen("reorganised", world);
    const reconciled = listen("reconciled", world);
    await sandbox.chain.mine(8);
    const seller = await openSeller(world);
    const payment = await world.sign(seller.url);
    rpc.script("eth_getTransactionReceipt", fault.lie(null), 100_000);
    expect((await buy(seller.url, payment)).json.code).toBe("settlement_unknown");
    rpc.clear();
    const reads = ["eth_getTransactionReceipt", "eth_getBlockByNumber", "eth_call", "eth_getLogs", "eth_blockNumber"];
    for (const method of reads) rpc.script(method, fault.stale(5), 100_000);
    const looks = rpc.count("eth_call");
    await rpc.called("eth_call", looks + 2);
    expect(reconciled()).toEqual([]);
    await sandbox.chain.mine(6);
    await vi.waitFor(() => expect(reconciled()).toMatchObject([{ outcome: "settled" }]), LONG);
    expect((await buy(seller.url, payment)).body).toBe("the goods");
    expect([reorganised().length, await world.debits(), seller.runs.length]).toEqual([0, 1, 1]);
  }, 150_000);

  it("a proof that was released and is submitted by an outsider is found settled, and its buyer gets the goods", async (test) => {
    const world = await createWorld(test);
    const reconciled = listen("reconciled", world);
    const seller = await openSeller(world);
    const payment = await world.sign(seller.url);
    seller.handler = () => ({ status: 500, body: "sorry" });
    expect((await buy(seller.url, payment)).status).toBe(500);
    seller.handler = () => ({ status: 200, body: "the goods" });
    await submit(world, payment);
    await vi.waitFor(() => expect(reconciled()).toMatchObject([{ outcome: "settled", how: "background" }]), LONG);
    expect((await buy(seller.url, payment)).body).toBe("the goods");
    expect(await world.debits()).toBe(1);
  }, 150_000);

  it("a proof that was refused, because its buyer's money was gone, and is submitted by an outsider later, buys the goods once", async (test) => {
    const world = await createWorld(test);
    const { token } = world.sandbox;
    const reconciled = listen("reconciled", world);
    const seller = await openSeller(world);
    const payment = await world.sign(seller.url);
    const { from } = payment.message;
    seller.handler = async () => {
      await token.setBalances([from], 0n);
      return { status: 200, body: "the goods" };
    };
    const refused = await buy(seller.url, payment);
    expect([refused.status, refused.json.code]).toEqual([402, "insufficient_funds"]);
    seller.handler = () => ({ status: 200, body: "the goods" });
    await token.setBalances([from], 1_000_000n);
    expect((await buy(seller.url, payment)).json.code).toBe("insufficient_funds");
    expect([await world.debits(), reconciled()]).toEqual([0, []]);
    await submit(world, payment);
    await vi.waitFor(() => expect(reconciled()).toMatchObject([{ outcome: "settled", how: "background" }]), LONG);
    // The answer of the one run was kept. Without the retry key, as an outsider has the proof, it is not given.
    const got = await buy(seller.url, payment);
    expect([got.status, got.body, got.headers["payment-replayed"]]).toEqual([200, "the goods", "true"]);
    const bare = await send(`${seller.url}/report`, { headers: stripKey(payment) });
    expect([bare?.status, bare?.json.code]).toEqual([409, "payment_already_used"]);
    expect([await world.debits(), seller.runs.length]).toEqual([1, 1]);
  }, 150_000);

  it("two processes with one store ask the chain as often as one would", async (test) => {
    const world = await createWorld(test);
    const { rpc } = world;
    const stores = [sqliteFile(world)].flatMap((file) => [1, 2].map(() => sqlStore({ file })));
    const [one] = await Promise.all(stores.map((store) => openSeller(world, { store })));
    if (!one) throw new Error("no seller");
    const payment = await world.sign(one.url);
    rpc.script("eth_getTransactionReceipt", fault.lie(null), 100_000);
    const isLook = ([block]: readonly unknown[]) => block === "finalized";
    const looks = () => rpc.params("eth_getBlockByNumber").filter(isLook).length;
    const before = looks();
    expect((await buy(one.url, payment)).json.code).toBe("settlement_unknown");
    const began = Date.now();
    await vi.waitFor(() => expect(looks() - before).toBeGreaterThanOrEqual(3), LONG);
    // Pauses of 2 and 4 s lie between three lookups: two that did not know of each other would have made them in 2 s.
    expect(Date.now() - began).toBeGreaterThan(5_000);
    expect(await world.debits()).toBe(1);
  }, 150_000);

  it("a lying node settles nothing: a used authorization without logs, another payment's receipt", async (test) => {
    const world = await createWorld(test);
    const { rpc, sandbox } = world;
    const reconciled = listen("reconciled", world);
    const seller = await openSeller(world);
    const other = await world.sign(seller.url);
    expect((await buy(seller.url, other)).status).toBe(200);
    const [paid] = await sandbox.token.transfers({ to: sandbox.seller });
    const receipt = await sandbox.chain.rpc("eth_getTransactionReceipt", [paid?.transaction]);
    const payment = await world.sign(seller.url);
    rpc.script("eth_sendRawTransaction", fault.resetBefore(), 100_000);
    expect((await buy(seller.url, payment)).json.code).toBe("settlement_unknown");
    rpc.script("eth_getTransactionReceipt", fault.lie(receipt), 100_000);
    rpc.script("eth_call", fault.lie(`0x${"1".padStart(64, "0")}`), 100_000);
    const looks = rpc.count("eth_getLogs");
    await rpc.called("eth_getLogs", looks + 2);
    const got = await buy(seller.url, payment);
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect(reconciled().filter(({ outcome }) => outcome === "settled")).toEqual([]);
    expect([seller.runs.length, await world.debits()]).toEqual([2, 1]);
  }, 150_000);
});

const payloadSchema = z.object({
  payload: z.object({ signature: z.string(), authorization: z.record(z.string(), z.string()) }),
});

/** Sends the authorization of a payment to the token as a stranger would. */
async function submit({ sandbox }: World, { value }: SignedPayment): Promise<void> {
  const { payload } = payloadSchema.parse(JSON.parse(atob(value)));
  const { from, to, value: amount, validAfter, validBefore, nonce } = payload.authorization;
  const abi = parseAbi([
    "function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)",
  ]);
  const hex = (text: string | undefined) => (text ?? "0x") as `0x${string}`;
  const times = [BigInt(validAfter ?? 0), BigInt(validBefore ?? 0)] as const;
  const args = [hex(from), hex(to), BigInt(amount ?? 0), ...times, hex(nonce), hex(payload.signature)] as const;
  const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args });
  const [, stranger] = z.array(z.string()).parse(await sandbox.chain.rpc("eth_accounts"));
  await sandbox.chain.rpc("eth_sendTransaction", [{ from: stranger, to: sandbox.token.address, data, gas: "0x7a120" }]);
}
