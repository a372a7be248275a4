// One settler key, many hands: gateways of several processes that share a database and nothing else.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";
import { createSharedNonces } from "../../../src/chains/evm/shared-nonces.js";
import type { GatewaySettings } from "../../../src/gateway/settings.js";
import type { AuthorizationProof } from "../../../src/proof.js";
import { createSandbox, type Sandbox } from "../../../src/testing/index.js";
import { makeProof, REQUIREMENT } from "../../support/bound-proof.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres.js";
import { type Running, startNode } from "../../support/process.js";
import { root } from "../../support/sources.js";
import { toWallet, within } from "./evm-world.js";
import { type Job, type Line, openSettling, toText } from "./settling-process.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-nonces-"));
const programs = join(root, ".cache/settling");
const program = join(programs, `${process.pid}.mjs`);
const without = noPostgres();

let sandbox: Sandbox;
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  // A block a second: what is sent waits, as it does on a real chain.
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
  if (without === undefined) postgres = await startPostgres();
  mkdirSync(programs, { recursive: true });
  const entry = { entryPoints: [join(root, "test/gateway/chains/settling-process.ts")], outfile: program };
  // Packages stay outside, so that the program lies where they are found.
  await build({ ...entry, bundle: true, platform: "node", format: "esm", packages: "external", logLevel: "silent" });
});
afterAll(async () => {
  await sandbox.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(program, { force: true });
});

type Settling = Awaited<ReturnType<typeof openSettling>>;
const opened: Settling[] = [];
const running: Running[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  for (const one of running.splice(0)) await one.kill();
});

let count = 0;
const freshFile = (): GatewaySettings["database"] => ({ file: join(folder, `${count++}.db`) });
const freshSchema = async (): Promise<GatewaySettings["database"]> => ({ url: await postgres!.newSchema() });

/** A settler that nobody else uses, with gas. */
async function newSettler() {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  await sandbox.native.setBalances([account.address], 10n ** 19n);
  return { key, account };
}

async function open(database: GatewaySettings["database"], settler: Hex): Promise<Settling> {
  const settling = await openSettling({ database, settler, rpcUrl: sandbox.rpcUrl });
  opened.push(settling);
  return settling;
}

async function newProofs(many: number): Promise<AuthorizationProof[]> {
  const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
  return Promise.all((await sandbox.newBuyers(many)).map((account) => makeProof({ account, requirement })));
}

/** How often each payer was debited, oldest proof first. */
async function debitsOf(proofs: readonly AuthorizationProof[]): Promise<readonly number[]> {
  const transfers = await sandbox.token.transfers({ to: sandbox.seller });
  return proofs.map(({ payer }) => transfers.filter(({ from }) => from === payer).length);
}

const countOf = async (address: string, tag: "latest" | "pending") =>
  Number(z.string().parse(await sandbox.chain.rpc("eth_getTransactionCount", [address, tag])));

/** Nothing waits and nothing is in its way: the next settlement goes through. */
async function expectNothingStuck(settling: Settling, { account }: Awaited<ReturnType<typeof newSettler>>) {
  await vi.waitUntil(
    async () => (await countOf(account.address, "latest")) === (await countOf(account.address, "pending")),
    {
      timeout: 10_000,
      interval: 100,
    },
  );
  const [proof] = await newProofs(1);
  expect(await settling.settle(proof!)).toMatchObject({ outcome: "settled" });
}

/** As long as a settlement may take (settling-process.ts), and the start of its process. */
const PATIENT = { timeout: 70_000 };

const ones = (count: number) => Array.from({ length: count }, () => 1);

describe.each([
  { name: "SQLite", fresh: async () => freshFile(), skip: undefined },
  { name: "Postgres", fresh: freshSchema, skip: without },
])("two gateways with one settler key and one database in $name", { timeout: 150_000 }, ({ fresh, skip }) => {
  it.skipIf(skip)(
    "settle 100 payments at once: 100 debits, each with a nonce of its own, and none that is stuck",
    async () => {
      const database = await fresh();
      const settler = await newSettler();
      const proofs = await newProofs(100);
      const beginAt = join(folder, `${count++}.go`);
      const there = await start({ database, settler: settler.key, proofs: proofs.slice(50), beginAt });
      const here = await open(database, settler.key);
      let announced = 0;
      writeFileSync(beginAt, "");
      const announce = async () => {
        announced += 1;
      };
      const settlements = await Promise.all(proofs.slice(0, 50).map((proof) => here.settle(proof, announce)));
      await vi.waitUntil(() => settled(there).length === 50, PATIENT);
      const all = [...settlements, ...settled(there).map(({ settlement }) => settlement)];
      expect(all.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
      expect(await debitsOf(proofs)).toEqual(ones(100));
      // A nonce that two had taken would have made one of them sign again.
      expect(announced + settled(there).reduce((sum, line) => sum + line.announced, 0)).toBe(100);
      expect(await countOf(settler.account.address, "latest")).toBe(100);
      await expectNothingStuck(here, settler);
    },
  );

  it.skipIf(skip)("lose none when one of two processes is killed with a nonce in its hand", async () => {
    const database = await fresh();
    const settler = await newSettler();
    const proofs = await newProofs(100);
    const lost = await start({ database, settler: settler.key, proofs: proofs.slice(0, 50), stopAt: 3 });
    await vi.waitUntil(() => linesOf(lost).some(({ settlement }) => settlement.outcome === "stopped"), PATIENT);
    const survivor = await start({ database, settler: settler.key, proofs: proofs.slice(50) });
    await lost.kill();
    await vi.waitUntil(() => settled(survivor).length === 50, PATIENT);
    expect(settled(survivor).filter(({ settlement }) => settlement.outcome !== "settled")).toEqual([]);
    // Whoever takes over settles what the dead one had not: its authorizations are taken once, however often they are sent.
    const heir = await open(database, settler.key);
    const settlements = await Promise.all(proofs.slice(0, 50).map((proof) => heir.settle(proof)));
    expect(settlements.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
    expect(await debitsOf(proofs)).toEqual(ones(100));
    await expectNothingStuck(heir, settler);
  });
});

describe("the nonces of a settler out of a ledger", () => {
  it("are those that a hosted wallet with the same key takes from", async () => {
    const database = freshFile();
    const settler = await newSettler();
    const gateway = await open(database, settler.key);
    const proofs = await newProofs(20);
    const { transfers, network, assets } = gateway.networks.all[0]!;
    const wallet = toWallet(settler.account);
    const send = async (index: number) => {
      const transfer = { from: wallet.address, to: sandbox.seller, asset: assets[0], amount: BigInt(index + 1) };
      const built = await transfers.build(transfer, { signal: within() });
      const next = await transfers.nextNonce(wallet.address, within());
      if (!built.ok || !next.ok) throw new Error("the transfer was not built");
      const nonce = await gateway.database.nonces.take(network.id, wallet.address, next.value);
      const signed = await transfers.sign(transfers.withNonce(built.value, nonce), wallet);
      expect(await transfers.broadcast(signed.pursuit, within())).toMatchObject({ outcome: "sent" });
      await vi.waitUntil(async () => (await transfers.standing(signed.pursuit, within())).state === "mined", {
        timeout: 15_000,
      });
    };
    let announced = 0;
    const announce = async () => {
      announced += 1;
    };
    const [settlements] = await Promise.all([
      Promise.all(proofs.map((proof) => gateway.settle(proof, announce))),
      Promise.all(Array.from({ length: 20 }, (_, index) => send(index))),
    ]);
    expect(settlements.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
    expect(await debitsOf(proofs)).toEqual(ones(20));
    expect([announced, await countOf(wallet.address, "latest")]).toEqual([20, 40]);
  });

  it("are given out once, and those that come back before any other", async () => {
    const settler = await newSettler();
    const { database } = await open(freshFile(), settler.key);
    const spelled = settler.account.address.toLowerCase() as Hex;
    const [here, there] = [spelled, settler.account.address].map((address) =>
      createSharedNonces(database.nonces, "eip155:84532", address),
    );
    const take = (source = here) => source?.take({ count: 0, block: 0n }, 0, 0);
    expect([await take(), await take(there), await take()]).toEqual([0, 1, 2]);
    // One before another is a gap, the last one is none.
    expect([await there?.giveBack(1), await here?.hasGap(), await take(), await there?.hasGap()]).toEqual([
      true,
      true,
      1,
      false,
    ]);
    expect([await here?.giveBack(2), await take(there)]).toEqual([false, 2]);
  });

  it("that come back unsent block nobody: the gap is filled", async () => {
    const settler = await newSettler();
    const gateway = await open(freshFile(), settler.key);
    const proofs = await newProofs(12);
    // Two thirds are announced, and their nonces used; every third one is not, and its nonce comes back.
    const settlements = await Promise.all(
      proofs.map((proof, index) =>
        gateway.settle(proof, async () => {
          if (index % 3 === 0) throw new Error("the lease is lost");
        }),
      ),
    );
    expect(settlements.map(({ outcome }) => outcome)).toEqual(
      proofs.map((_, index) => (index % 3 === 0 ? "unavailable" : "settled")),
    );
    expect(await debitsOf(proofs)).toEqual(proofs.map((_, index) => (index % 3 === 0 ? 0 : 1)));
    await expectNothingStuck(gateway, settler);
  });

  it("that the chain no longer knows are used again", async () => {
    const settler = await newSettler();
    const gateway = await open(freshFile(), settler.key);
    // Left behind by processes that died before they sent anything.
    for (let nonce = 0; nonce < 3; nonce++) {
      await gateway.database.nonces.take("eip155:84532", settler.account.address, 0);
    }
    await expectNothingStuck(gateway, settler);
  });

  it("count for a settlement that has happened, also when the database fails right after it", async () => {
    const settler = await newSettler();
    const fail = () => Promise.reject(new Error("the connection was lost"));
    const job = { database: freshFile(), settler: settler.key, rpcUrl: sandbox.rpcUrl };
    const gateway = await openSettling(job, { done: fail, giveBack: fail, gaps: fail });
    opened.push(gateway);
    const proofs = await newProofs(3);
    for (const proof of proofs) expect(await gateway.settle(proof)).toMatchObject({ outcome: "settled" });
    expect(await debitsOf(proofs)).toEqual(ones(3));
  });

  it("are not there while the database is not: nothing is sent, and the outcome is a value", async () => {
    const settler = await newSettler();
    const take = () => Promise.reject(new Error("the connection was lost"));
    const job = { database: freshFile(), settler: settler.key, rpcUrl: sandbox.rpcUrl };
    const gateway = await openSettling(job, { take });
    opened.push(gateway);
    const [proof] = await newProofs(1);
    const announced: string[] = [];
    const settlement = await gateway.settle(proof!, async (transaction) => void announced.push(transaction));
    expect(settlement).toMatchObject({ outcome: "unavailable", message: "no account nonce of a settler could be had" });
    expect(announced).toEqual([]);
    expect(await countOf(settler.account.address, "pending")).toBe(0);
  });
});

async function start(job: Omit<Job, "rpcUrl">): Promise<Running> {
  const file = join(folder, `${count++}.job.json`);
  writeFileSync(file, toText({ ...job, rpcUrl: sandbox.rpcUrl }));
  const child = await startNode([program, file]);
  running.push(child);
  return child;
}

/** What a process has printed so far; its last line may be half written. */
const linesOf = (child: Running): readonly Line[] =>
  child
    .output()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

const settled = (child: Running): readonly Line[] =>
  linesOf(child).filter(({ settlement: { outcome } }) => outcome !== "ready" && outcome !== "stopped");
