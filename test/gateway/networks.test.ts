import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import type { Asset } from "../../src/gateway/chain.js";
import { openNetworks } from "../../src/gateway/networks.js";
import type { GatewayNetworks } from "../../src/gateway/parts.js";
import type { NetworkSettings } from "../../src/gateway/settings.js";
import { findNetwork } from "../../src/networks.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { settleContext, verifyContext } from "../chains/evm/world.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { captureLog } from "./captured-log.js";

const RPC = "http://127.0.0.1:9";
const SETTLER = `0x${"11".repeat(32)}` as const;
const USDC: Asset = {
  address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  symbol: "USDC",
  decimals: 6,
  minimum: 1_000n,
};

const opened: GatewayNetworks[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const nonces = {
  take: async (_network: string, _address: string, next: number) => next,
  giveBack: async () => {},
  done: async () => {},
  gaps: async () => [],
};

const settings = (name: string, parts: Partial<NetworkSettings> = {}): NetworkSettings => {
  const network = findNetwork(name);
  if (!network) throw new Error(`there is no network ${name}`);
  return {
    network,
    options: { rpcUrl: RPC },
    settler: undefined,
    isDefault: true,
    confirmations: 1,
    assets: [],
    ...parts,
  };
};

async function open(...networks: readonly NetworkSettings[]): Promise<GatewayNetworks> {
  const one = await openNetworks({ networks }, { database: { nonces }, logger: captureLog().logger });
  opened.push(one);
  return one;
}

describe("the networks of a gateway", () => {
  it("are found by every name that they have, and by none that is not served", async () => {
    const networks = await open(settings("base-sepolia"), settings("solana-devnet"), settings("eip155:7777777"));
    for (const name of ["base-sepolia", "eip155:84532"]) {
      expect(networks.find(name)?.network.id).toBe("eip155:84532");
    }
    const devnet = findNetwork("solana-devnet");
    for (const name of ["solana-devnet", devnet?.id ?? ""]) expect(networks.find(name)?.network).toBe(devnet);
    expect(networks.find("eip155:7777777")?.network.name).toBe(findNetwork("eip155:7777777")?.name);
    for (const name of ["base", "eip155:1", "BASE-SEPOLIA", ""]) expect(networks.find(name)).toBeUndefined();
  });

  it("have one default for each family and mode: the one that the settings name", async () => {
    const networks = await open(
      settings("base-sepolia"),
      settings("sepolia", { isDefault: false }),
      settings("base"),
      settings("solana-devnet"),
    );
    expect(networks.defaultFor("evm", "test")?.network.name).toBe("base-sepolia");
    expect(networks.defaultFor("evm", "live")?.network.name).toBe("base");
    expect(networks.defaultFor("solana", "test")?.network.name).toBe("solana-devnet");
    expect(networks.defaultFor("solana", "live")).toBeUndefined();
  });

  it("move their own currency and what the settings list, and nothing else of the built-in table", async () => {
    const networks = await open(settings("base-sepolia", { assets: [USDC] }), settings("base"));
    const [native, usdc] = networks.find("base-sepolia")?.assets ?? [];
    expect(native).toEqual({ address: "native", symbol: "ETH", decimals: 18, minimum: 0n });
    // The table knows by which domain it is signed.
    expect(usdc).toEqual({ ...USDC, domain: { name: "USDC", version: "2" } });
    expect(networks.find("base")?.assets.map(({ symbol }) => symbol)).toEqual(["ETH"]);
  });

  it("give no domain to a token that knows no authorization", async () => {
    const own = { address: "0x5FbDB2315678afecb367f032d93F642f64180aa3", symbol: "OWN", decimals: 18, minimum: 1n };
    expect((await open(settings("base-sepolia", { assets: [own] }))).all[0]?.assets[1]).toEqual(own);
  });

  it("refuse settings that no receiver takes, without a key in the message", async () => {
    const bad = settings("base-sepolia", { settler: "0x1234" });
    const refused = await open(bad).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).not.toContain("0x1234");
  });
});

describe("a network without a settler", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox();
  });
  afterAll(() => sandbox.close());

  it("sponsors nothing: no fee payer is offered, and no authorization is verified or settled", async () => {
    const entry = { assets: [USDC], options: { rpcUrl: sandbox.rpcUrl } };
    const networks = await open(settings("base-sepolia", entry), settings("solana-devnet"));
    expect(networks.all.map(({ sponsors }) => sponsors)).toEqual([false, false]);
    const [{ receiver } = { receiver: undefined }, solana] = networks.all;
    expect(receiver?.feePayer?.(solana?.network.id ?? "")).toBeUndefined();
    const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
    const proof = await makeProof({ account: await sandbox.newBuyer(), requirement });
    expect(await receiver?.verify(proof, verifyContext())).toMatchObject({
      outcome: "unavailable",
      code: "misconfigured",
    });
    expect(await receiver?.settle(proof, settleContext())).toMatchObject({ outcome: "unavailable" });
    expect(await sandbox.token.transfers()).toEqual([]);
  });

  it("keeps to that although another network beside it has one", async () => {
    const networks = await open(settings("base-sepolia", { settler: SETTLER }), settings("solana-devnet"));
    expect(networks.all.map(({ sponsors }) => sponsors)).toEqual([true, false]);
    expect((await open(settings("base-sepolia", { settler: [] }))).all[0]?.sponsors).toBe(false);
  });

  it("settles with its settler where it has one", async () => {
    const entry = { assets: [USDC], options: { rpcUrl: sandbox.rpcUrl }, settler: sandbox.settlerKey };
    const { all } = await open(settings("base-sepolia", entry));
    const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
    const proof = await makeProof({ account: await sandbox.newBuyer(), requirement });
    expect(await all[0]?.receiver.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
  });
});
