// Two receivers with one settler key that know nothing of each other but the store of their paywalls: every transaction has an
// account nonce of its own, and one that nobody sends keeps the others waiting for seconds, not minutes.
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createStoreNonces } from "../../src/chains/evm/store-nonces.js";
import { silentLogger } from "../../src/logger.js";
import { createPaywallCore } from "../../src/paywall.js";
import { local } from "../../src/receive/local.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { settleContext } from "../chains/evm/world.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
});
afterAll(() => sandbox?.close());

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const shared = (): Store => ({ ...memoryStore(), shared: true });

async function newSettler() {
  const settler = generatePrivateKey();
  const { address } = privateKeyToAccount(settler);
  await sandbox.native.setBalances([address], 10n ** 19n);
  return { settler, address };
}

/** Two URLs of one node: what one process counts for one of them, it does not know for the other. */
const nodes = () => [sandbox.rpcUrl, sandbox.rpcUrl.replace("127.0.0.1", "localhost")];

/** A paywall with a receiver of its own. */
function openReceiver(rpcUrl: string, settler: `0x${string}`, store: Store): Receiver {
  const receive = local({ networks: { "base-sepolia": { rpcUrl, settler, settleMs: 20_000 } } });
  const payTo = sandbox.seller;
  const options = { payTo, network: "base-sepolia", receive, store, logger: silentLogger };
  opened.push(createPaywallCore(options, { from: "later" }, {}));
  return receive;
}

async function settleWith(receivers: readonly Receiver[], count: number) {
  const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
  const accounts = await sandbox.newBuyers(count);
  const proofs = await Promise.all(accounts.map((account) => makeProof({ account, requirement })));
  const settlements = proofs.map((proof, at) => receivers[at % receivers.length]?.settle(proof, settleContext(20_000)));
  return (await Promise.all(settlements)).map((one) => one?.outcome);
}

describe("receivers that share a settler key", () => {
  it("count its nonces in the store that their paywalls share", { timeout: 60_000 }, async () => {
    const { settler, address } = await newSettler();
    const store = shared();
    const receivers = nodes().map((url) => openReceiver(url, settler, store));
    expect(new Set(await settleWith(receivers, 40))).toEqual(new Set(["settled"]));
    expect(Number(await sandbox.chain.rpc("eth_getTransactionCount", [address, "latest"]))).toBe(40);
  });

  it("wait seconds for a nonce whose holder has died, and go on", { timeout: 60_000 }, async () => {
    const { settler, address } = await newSettler();
    const store = shared();
    const dead = createStoreNonces(store);
    for (const nonce of [0, 1, 2]) expect(await dead.take("eip155:84532", address, 0)).toBe(nonce);
    const receivers = nodes().map((url) => openReceiver(url, settler, store));
    expect(new Set(await settleWith(receivers, 4))).toEqual(new Set(["settled"]));
  });

  it("send nothing while the store is not there", async () => {
    const { settler, address } = await newSettler();
    const down = async () => Promise.reject(new Error("the store is gone"));
    const receiver = openReceiver(sandbox.rpcUrl, settler, { ...shared(), read: down, commit: down });
    expect(await settleWith([receiver], 1)).toEqual(["unavailable"]);
    expect(Number(await sandbox.chain.rpc("eth_getTransactionCount", [address, "pending"]))).toBe(0);
  });

  it("open their chains anew when a paywall with a shared store comes later", { timeout: 60_000 }, async () => {
    const { settler, address } = await newSettler();
    const store = shared();
    const receiver = openReceiver(sandbox.rpcUrl, settler, memoryStore());
    expect(await settleWith([receiver], 1)).toEqual(["settled"]);
    receiver.share?.(store);
    expect(await settleWith([receiver], 1)).toEqual(["settled"]);
    expect((await store.read([`nonces:eip155:84532:${address}`])).entries[0]?.value).toMatchObject({ floor: 2 });
  });

  it("are told of no store that one process has for itself", () => {
    const told: Store[] = [];
    const receive: Receiver = { ...sandbox.receive(), share: (store) => void told.push(store) };
    const open = (store: Store) =>
      createPaywallCore({ payTo: sandbox.seller, network: "base-sepolia", receive, store }, { from: "later" }, {});
    const [own, theirs] = [memoryStore(), shared()];
    for (const store of [own, theirs]) open(store);
    expect(told).toEqual([theirs]);
  });
});
