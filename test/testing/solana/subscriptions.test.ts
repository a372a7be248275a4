// The Solana sandbox over WebSocket: on the port after HTTP's for web3.js, on HTTP's own for other clients; and the node's
// behaviour at its edges: planned failures, time, batches, words that are no call.
import type { AccountInfo, SignatureResult, SlotInfo } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { hash, idOf, memo, rejection, signed, sol, stranger } from "./transactions.js";

let sandbox: SolanaSandbox;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
});
afterAll(() => sandbox.close());

async function payment(text = "") {
  const connection = sandbox.connection();
  const [buyer, to] = [await sandbox.newBuyer(), stranger()];
  const latest = await connection.getLatestBlockhash();
  const transaction = signed(latest.blockhash, [buyer], sol(buyer, to, 1_000_000n), memo(text));
  return { connection, to, latest, transaction, buyer };
}

/** Posts text to the node and reads its JSON. */
async function post(body: string): Promise<unknown> {
  const response = await fetch(sandbox.rpcUrl, { method: "POST", body });
  return response.json();
}

describe("a subscription of the Solana sandbox", () => {
  it("confirms a transaction to web3.js without a poll", async () => {
    const { connection, latest, transaction } = await payment();
    const signature = await connection.sendTransaction(transaction);
    const { value } = await connection.confirmTransaction({ signature, ...latest }, "confirmed");
    expect(value).toEqual({ err: null });
  });

  it("tells the error of a transaction that failed in its block", async () => {
    const { connection, buyer, latest } = await payment();
    const failing = signed(latest.blockhash, [buyer], sol(buyer, stranger(), 10n ** 12n));
    const told = new Promise<SignatureResult>((resolve) => {
      connection.onSignature(idOf(failing), resolve, "confirmed");
    });
    await connection.sendTransaction(failing, { skipPreflight: true });
    expect(await told).toEqual({ err: { InstructionError: [0, { Custom: 1 }] } });
  });

  it("tells finality when 32 slots have passed and not before", async () => {
    const { connection, transaction } = await payment();
    const signature = await connection.sendTransaction(transaction);
    const told: string[] = [];
    const finalized = new Promise<void>((resolve) => {
      connection.onSignature(signature, () => resolve(void told.push("finalized")), "finalized");
    });
    await new Promise<void>((resolve) => {
      connection.onSignature(signature, () => resolve(void told.push("confirmed")), "confirmed");
    });
    expect((await connection.getSignatureStatuses([signature])).value[0]?.confirmationStatus).toBe("confirmed");
    sandbox.chain.advanceSlots(32);
    await finalized;
    expect(told).toEqual(["confirmed", "finalized"]);
  });

  it("tells an account's new state and each slot", async () => {
    const { connection, to, transaction } = await payment();
    const slots: SlotInfo[] = [];
    const listeners: number[] = [];
    await new Promise<void>((resolve) => {
      listeners.push(connection.onSlotChange((slot) => resolve(void slots.push(slot))));
    });
    let account = -1;
    const states: AccountInfo<Buffer>[] = [];
    const changed = new Promise<void>((resolve) => {
      const take = (state: AccountInfo<Buffer>) => resolve(void states.push(state));
      account = connection.onAccountChange(to, take, { commitment: "confirmed" });
    });
    // Subscriptions are taken in the order in which they are asked for: this one stands when the account's does.
    await new Promise<void>((resolve) => {
      listeners.push(connection.onSlotChange(() => resolve()));
    });
    await connection.sendTransaction(transaction);
    await changed;
    const another = new Promise<void>((resolve) => {
      listeners.push(connection.onSlotChange(() => resolve()));
    });
    sandbox.chain.advanceSlots(3);
    await another;
    expect(states.map(({ lamports }) => lamports)).toEqual([1_000_000]);
    await Promise.all(listeners.map((listener) => connection.removeSlotChangeListener(listener)));
    await connection.removeAccountChangeListener(account);
    for (const { slot, parent, root } of slots) expect([slot - parent, slot - root]).toEqual([1, 32]);
  });

  it("is served on the port of HTTP too, and ends when it is told to", async () => {
    const { connection, transaction } = await payment();
    const socket = new WebSocket(sandbox.wsUrl);
    const next = () => new Promise<string>((resolve) => socket.once("message", (data) => resolve(String(data))));
    await new Promise((resolve) => socket.once("open", resolve));
    const ask = async (id: number, method: string, params: unknown[]) => {
      const answer = next();
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return JSON.parse(await answer);
    };
    const { result: kept } = await ask(1, "signatureSubscribe", [idOf(transaction), {}]);
    const { result: ended } = await ask(2, "accountSubscribe", [stranger().toBase58(), { encoding: "base64" }]);
    expect(await ask(3, "accountUnsubscribe", [ended])).toEqual({ jsonrpc: "2.0", result: true, id: 3 });
    expect(await ask(4, "accountUnsubscribe", [ended])).toMatchObject({ error: { code: -32602 } });
    const note = next();
    await connection.sendTransaction(transaction);
    sandbox.chain.advanceSlots(32);
    expect(JSON.parse(await note)).toMatchObject({
      method: "signatureNotification",
      params: { subscription: kept, result: { value: { err: null } } },
    });
    socket.close();
  });
});

describe("the node of the Solana sandbox", () => {
  it("fails the next call of a method, before or after its work", async () => {
    const { connection, transaction } = await payment();
    sandbox.chain.failNext("getSlot", { code: -32005, message: "Node is behind by 42 slots" });
    expect(String(await rejection(connection.getSlot()))).toContain("Node is behind by 42 slots");
    expect(await connection.getSlot()).toBeGreaterThan(1_000);

    sandbox.chain.failNext("sendTransaction");
    await rejection(connection.sendTransaction(transaction));
    expect((await connection.getSignatureStatuses([idOf(transaction)])).value[0]).toBeNull();
    sandbox.chain.failNext("sendTransaction", { afterwards: true });
    await rejection(connection.sendTransaction(transaction));
    expect((await connection.getSignatureStatuses([idOf(transaction)])).value[0]).toMatchObject({ err: null });
  });

  it("takes the time it is given and goes on from there", async () => {
    const connection = sandbox.connection();
    sandbox.chain.setTime(2_000_000_000);
    sandbox.chain.advanceSlots(1);
    const time = await connection.getBlockTime(await connection.getSlot("confirmed"));
    expect(time).toBeGreaterThanOrEqual(2_000_000_000);
    expect(time).toBeLessThan(2_000_000_030);
  });

  it("shows a block with what landed in it", async () => {
    const { connection, transaction } = await payment();
    const id = await connection.sendTransaction(transaction);
    sandbox.chain.advanceSlots(1);
    const { slot } = (await connection.getSignatureStatuses([id])).value[0]!;
    const block = await connection.getBlock(slot, { maxSupportedTransactionVersion: 0 });
    expect(block!.transactions.map((one) => one.transaction.signatures[0])).toContain(id);
    expect(block!.parentSlot).toBe(slot - 1);
  });

  it("lands a hundred payments that come at once, in few blocks", async () => {
    const connection = sandbox.connection();
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const at = await hash(connection);
    const before = sandbox.chain.slot();
    const pay = (n: number) =>
      connection.sendTransaction(signed(at, [buyer], sol(buyer, to, 1_000_000n), memo(`${n}`)));
    const ids = new Set(await Promise.all(Array.from({ length: 100 }, (_, n) => pay(n))));
    expect(ids.size).toBe(100);
    expect(await connection.getBalance(to, "processed")).toBe(100_000_000);
    expect(sandbox.chain.slot() - before).toBeLessThan(100n);
  });

  it("answers what is no call with the errors of JSON-RPC, and writes 64-bit integers bare", async () => {
    expect(await post("{")).toMatchObject({ error: { code: -32700 }, id: null });
    expect(await post('{"method":"getSlot"}')).toMatchObject({ error: { code: -32600 } });
    expect(await post('{"jsonrpc":"2.0","id":7,"method":"toString"}')).toMatchObject({
      error: { code: -32601 },
      id: 7,
    });
    const batch = ["getHealth", "getGenesisHash"].map((method, id) => ({ jsonrpc: "2.0", id, method }));
    expect(await post(JSON.stringify(batch))).toMatchObject([{ id: 0, result: "ok" }, { id: 1 }]);
    const params = [sandbox.usdc, { encoding: "base64" }];
    const response = await fetch(sandbox.rpcUrl, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getAccountInfo", params }),
    });
    expect(await response.text()).toContain('"rentEpoch":18446744073709551615');
    const oversize = Buffer.alloc(1233, 1).toString("base64");
    const send = { jsonrpc: "2.0", id: 1, method: "sendTransaction", params: [oversize, { encoding: "base64" }] };
    expect(await post(JSON.stringify(send))).toMatchObject({ error: { code: -32602 } });
  });
});
