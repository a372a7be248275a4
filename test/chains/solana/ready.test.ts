// Start-up checks of a Solana cluster on the real chain: everything that would make payments fail, or arrive as less, is
// found before the first one, with both values and a remedy.
import { getAssociatedTokenAddressSync } from "@solana/spl-token";
import { Keypair, PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenedChain } from "../../../src/chains/chain.js";
import type { Readiness } from "../../../src/receive/receiver.js";
import type { SplRequirement } from "../../../src/requirement.js";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/testing/solana/programs.js";
import { createWorld, fault, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const check = (requirement: SplRequirement = world.requirement, chain: OpenedChain = world.chain) =>
  chain.ready([requirement], new AbortController().signal);

/** The only mismatch, in one line; `ready` where there is none. */
function only(readiness: Readiness): string {
  if (readiness.state !== "misconfigured") return readiness.state;
  expect(readiness.problems).toHaveLength(1);
  return readiness.problems.map(
    ({ check: what, expected, got, remedy }) => `${what}: ${expected}/${got}/${remedy}`,
  )[0]!;
}

const withMint = (asset: string, extra: Partial<SplRequirement["extra"]> = {}): SplRequirement => ({
  ...world.requirement,
  asset,
  extra: { ...world.requirement.extra, ...extra },
});

describe("a cluster", () => {
  it("that is what the options say is ready", async () => {
    expect(await check()).toEqual({ state: "ready" });
  });

  it("is another one where one URL of several has another genesis, both named", async () => {
    const { rpc, sandbox } = world;
    const mainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
    rpc.script("getGenesisHash", fault.lie(mainnet), 9);
    const chain = await world.open({ urls: [sandbox.rpcUrl, rpc.url] });
    const host = new URL(rpc.url).host;
    const remedy = `set rpcUrl of solana-devnet to a node of that cluster: ${host} is none`;
    const line = () => check(world.requirement, chain).then(only);
    expect(await line()).toBe(`cluster: solana-devnet/solana (main network)/${remedy}`);
    rpc.clear();
    const nobodys = mainnet.replace("5eykt", "6eykt");
    rpc.script("getGenesisHash", fault.lie(nobodys), 9);
    expect(await line()).toBe(`cluster: solana-devnet/the genesis hash ${nobodys}/${remedy}`);
    rpc.clear();
  });

  it("is none where the node is one of an EVM chain, which is not asked again and again", async () => {
    const { rpc } = world;
    rpc.script("getGenesisHash", fault.error(-32601, "the method getGenesisHash does not exist/is not available"), 9);
    const line = only(await check(world.requirement, await world.open()));
    expect(line).toContain("none (it knows no getGenesisHash: is it a node of an EVM chain?)");
    rpc.clear();
  });

  it("that cannot be reached is no mismatch", async () => {
    const { rpc } = world;
    for (const method of ["getGenesisHash", "getMultipleAccounts", "getEpochInfo"]) {
      rpc.script(method, fault.resetBefore(), 9);
      const chain = await world.open();
      expect(await check(world.requirement, chain), method).toMatchObject({ state: "unreachable" });
      rpc.clear();
    }
  });
});

describe("the seller's token account", () => {
  it("must exist: the remedy opens it", async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    const line = only(await check({ ...world.requirement, payTo }));
    expect(line).toMatch(/nothing at this address\/open it once: spl-token create-account .* --owner .* -u devnet/);
  });

  it("is derived from its owner: a token account as payTo is named for what it is", async () => {
    const { usdc, payTo } = world.sandbox;
    const account = getAssociatedTokenAddressSync(new PublicKey(usdc), new PublicKey(payTo)).toBase58();
    const line = only(await check({ ...world.requirement, payTo: account }));
    expect(line).toContain(`set payTo of ${world.requirement.network} to the owner, ${payTo}`);
  });

  it("must be the seller's own, for this mint, and not frozen", async () => {
    const { usdc, chain, connection } = world.sandbox;
    const payTo = Keypair.generate().publicKey;
    const address = chain.mintTo(usdc, payTo.toBase58(), 0n);
    const account = await connection("processed").getAccountInfo(new PublicKey(address));
    if (!account) throw new Error("the account was not opened");
    const write = (data: Uint8Array) =>
      chain.setAccount(address, { data, lamports: 10n ** 7n, owner: TOKEN_PROGRAM, executable: false });
    const [frozen, sold] = [new Uint8Array(account.data), new Uint8Array(account.data)];
    frozen[108] = 2;
    write(frozen);
    const requirement = { ...world.requirement, payTo: payTo.toBase58() };
    expect(only(await check(requirement))).toContain("a frozen account");
    const buyer = Keypair.generate().publicKey;
    sold.set(buyer.toBytes(), 32);
    write(sold);
    expect(only(await check(requirement))).toContain(`an account of ${buyer.toBase58()} for ${usdc}`);
    write(new Uint8Array(account.data));
    expect(await check(requirement)).toEqual({ state: "ready" });
  });
});

describe("the fee payer", () => {
  it("of the offers must be a settler with SOL for 20 payments; another settler is only warned of", async () => {
    const { sandbox } = world;
    const poor = Keypair.generate();
    const address = poor.publicKey.toBase58();
    const seed = Buffer.from(poor.secretKey.slice(0, 32)).toString("hex");
    const warnings: unknown[] = [];
    const log = () => {};
    const logger = { debug: log, info: log, warn: (...line: unknown[]) => void warnings.push(line), error: log };
    const chain = await world.open({ settlers: [sandbox.settlerKey, seed], logger });
    expect(await check(world.requirement, chain)).toEqual({ state: "ready" });
    expect(JSON.stringify(warnings)).toContain(address);

    const requirement = withMint(sandbox.usdc, { feePayer: address });
    const line = `SOL of settler ${address}: at least 1290880 lamports/0 lamports/send SOL to ${address}`;
    expect(only(await check(requirement, chain))).toContain(line);
    sandbox.chain.airdrop(address, 1_290_880n);
    expect(await check(requirement, chain)).toEqual({ state: "ready" });
    expect(only(await check(requirement))).toMatch(/^fee payer: /);
  });
});

describe("a mint", () => {
  it("must be one, of the token program and with the decimals of the offer", async () => {
    const { chain, usdc, payTo } = world.sandbox;
    const nothing = Keypair.generate().publicKey.toBase58();
    expect(await check(withMint(nothing))).toMatchObject({
      problems: expect.arrayContaining([expect.objectContaining({ got: "nothing at this address" })]),
    });
    expect(await check(withMint(usdc, { tokenProgram: TOKEN_2022_PROGRAM }))).toMatchObject({
      problems: expect.arrayContaining([expect.objectContaining({ got: `an account of ${TOKEN_PROGRAM}` })]),
    });
    expect(only(await check(withMint(usdc, { decimals: 9 })))).toMatch(/^decimals of .*: 9\/6\/correct the decimals/);
    const account = chain.mintTo(usdc, payTo, 0n);
    expect(await check(withMint(account))).toMatchObject({ state: "misconfigured" });
  });

  const key = Keypair.generate().publicKey.toBytes();
  const none = new Uint8Array(32);
  /** From this epoch on `bps`, until then `before`. */
  const fee = (bps: number, epoch = 0, before = bps): Uint8Array => {
    const data = Buffer.alloc(108);
    data.writeUInt16LE(before, 88);
    data.writeBigUInt64LE(BigInt(epoch), 90);
    data.writeUInt16LE(bps, 106);
    return data;
  };
  const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

  /** The mint of a fresh token with one extension, and a token account of the seller for it. */
  async function mintWith(type: number, value: Uint8Array, address?: string): Promise<SplRequirement> {
    const { chain, payTo, connection } = world.sandbox;
    const mint = chain.createMint({ token2022: true, ...(address !== undefined && { address }) });
    chain.mintTo(mint, payTo, 0n);
    const base = await connection("processed").getAccountInfo(new PublicKey(mint));
    const data = Buffer.alloc(170 + value.length);
    data.set(base?.data.subarray(0, 82) ?? []);
    data.writeUInt8(1, 165);
    data.writeUInt16LE(type, 166);
    data.writeUInt16LE(value.length, 168);
    data.set(value, 170);
    chain.setAccount(mint, {
      data: new Uint8Array(data),
      lamports: 10n ** 8n,
      owner: TOKEN_2022_PROGRAM,
      executable: false,
    });
    return withMint(mint, { tokenProgram: TOKEN_2022_PROGRAM });
  }

  it.each([
    ["a transfer fee of 1 %", 1, fee(100), /a transfer fee of 1 %.*allow: \["transfer-fee"\]/],
    ["a fee that can be raised", 1, fee(0), /a transfer fee that can be raised.*allow/],
    ["a fee from a later epoch on", 1, fee(50, 1_000_000, 0), /a transfer fee of 0.5 %/],
    ["a fee until a later epoch", 1, fee(0, 1_000_000, 50), /a transfer fee of 0.5 %/],
    ["a transfer hook", 14, joined(none, key), /a transfer hook \(.*allow: \["transfer-hook"\]/],
    ["a permanent delegate", 12, key, /a permanent delegate \(.*allow: \["permanent-delegate"\]/],
    ["accounts frozen by default", 6, Uint8Array.of(2), /frozen by default\/choose another token$/],
    ["tokens that cannot be moved", 9, new Uint8Array(0), /cannot be transferred/],
    ["a pause", 26, joined(none, Uint8Array.of(0)), /can be paused/],
    ["an extension of a later time", 99, new Uint8Array(3), /of type 99, which is not known/],
  ])("with %s is refused at start", async (_, type, value, line) => {
    expect(only(await check(await mintWith(type, value)))).toMatch(line);
  });

  it.each([
    ["transfer-fee", 1, fee(100)],
    ["transfer-hook", 14, joined(none, key)],
    ["permanent-delegate", 12, key],
  ] as const)("with %s is taken where the seller allows just that", async (allow, type, value) => {
    const requirement = await mintWith(type, value);
    const open = (names: readonly ("transfer-fee" | "transfer-hook" | "permanent-delegate")[]) =>
      world.open({ options: { tokens: [{ address: requirement.asset, allow: [...names] }] } });
    expect(await check(requirement, await open([allow]))).toEqual({ state: "ready" });
    expect(await check(requirement, await open([]))).toMatchObject({ state: "misconfigured" });
  });

  it.each([
    ["a hook that calls nobody", 14, joined(key, none)],
    ["a delegate that is nobody", 12, none],
    ["accounts that begin unfrozen", 6, Uint8Array.of(1)],
    ["metadata", 19, new Uint8Array(40)],
  ])("with %s is taken", async (_, type, value) => {
    expect(await check(await mintWith(type, value))).toEqual({ state: "ready" });
  });

  it("of the built-in table is taken with its issuer's powers, but not while it keeps back a fee", async () => {
    const pyusd = "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM";
    expect(await check(await mintWith(12, key, pyusd))).toEqual({ state: "ready" });
    expect(await check(await mintWith(1, fee(0), pyusd))).toEqual({ state: "ready" });
    expect(only(await check(await mintWith(1, fee(1), pyusd)))).toMatch(/a transfer fee of 0.01 %/);
  });

  it("whose extensions break off is refused", async () => {
    const requirement = await mintWith(19, new Uint8Array(4));
    const { chain, connection } = world.sandbox;
    const account = await connection("processed").getAccountInfo(new PublicKey(requirement.asset));
    const data = new Uint8Array(account?.data.subarray(0, 172) ?? []);
    chain.setAccount(requirement.asset, { data, lamports: 10n ** 8n, owner: TOKEN_2022_PROGRAM, executable: false });
    expect(only(await check(requirement))).toContain("extensions that cannot be read");
  });
});
