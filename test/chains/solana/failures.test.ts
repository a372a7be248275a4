// Payments that fail on the chain cost the fee payer his SOL: the seller is told how many and how much, and not for each.
import { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFailureLog } from "../../../src/chains/solana/failures.js";
import type { Logger } from "../../../src/settings.js";
import { createFakeClock } from "../../support/fake-clock.js";
import { ata } from "./payment.js";
import { createWorld, settleContext, type World } from "./world.js";

interface Line {
  readonly message: unknown;
  readonly facts: Record<string, unknown>;
}

/** Keeps what is said at the level of an error. */
function listen(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const quiet = () => {};
  const error: Logger["error"] = (message, facts) => void lines.push({ message, facts: { ...facts } });
  return { lines, logger: { debug: quiet, info: quiet, warn: quiet, error } };
}

describe("settlements that failed on the chain", () => {
  const failure = { settler: "a", lamports: 10_001n, transaction: "t1", error: '"Broken"' };
  const open = () => {
    const [clock, { logger, lines }] = [createFakeClock(), listen()];
    const counted = () => lines.map(({ facts }) => [facts.settler, facts.count, facts.lamports, facts.transaction]);
    return { clock, lines, counted, failures: createFailureLog("solana:x", logger, clock) };
  };

  it("are told at once, then once a minute with count, cost and the last of them", async () => {
    const { clock, failures, counted, lines } = open();
    failures.add(failure);
    expect(lines[0]?.facts).toEqual({ network: "solana:x", count: 1, ...failure, lamports: "10001" });
    for (let i = 2; i <= 1_000; i++) failures.add({ ...failure, transaction: `t${i}` });
    await clock.advance(59_999);
    expect(lines).toHaveLength(1);
    await clock.advance(1);
    expect(counted().slice(1)).toEqual([["a", 999, "9990999", "t1000"]]);
    failures.add(failure);
    await clock.advance(60_000);
    await clock.advance(60_000);
    expect(counted().slice(2)).toEqual([["a", 1, "10001", "t1"]]);
    failures.add({ ...failure, transaction: "after a quiet minute" });
    expect(counted().slice(3)).toEqual([["a", 1, "10001", "after a quiet minute"]]);
  });

  it("are counted for each settler by himself", () => {
    const { failures, counted } = open();
    failures.add(failure);
    failures.add({ ...failure, settler: "b" });
    failures.add(failure);
    expect(counted().map(([settler]) => settler)).toEqual(["a", "b"]);
  });

  it("are told where timers die with their request, by the next one after the minute", () => {
    const [clock, { logger, lines }] = [createFakeClock(), listen()];
    let now = clock.now();
    const failures = createFailureLog("solana:x", logger, { now: () => now, after: () => () => {} });
    failures.add(failure);
    failures.add(failure);
    now += 60_000;
    failures.add(failure);
    expect(lines.map(({ facts }) => facts.count)).toEqual([1, 2]);
  });

  it("are told to the last one when the receiver is closed, and no timer is left", async () => {
    const { clock, failures, counted } = open();
    failures.add(failure);
    failures.add(failure);
    failures.close();
    expect(counted().map(([, count]) => count)).toEqual([1, 1]);
    await clock.advance(600_000);
    expect(counted()).toHaveLength(2);
  });
});

describe("on the chain", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(0);
  });
  afterAll(() => world.close());

  it("each costs the fee payer what the log says, and is told by the address of the settler", async () => {
    const { sandbox, rpc } = world;
    const { logger, lines } = listen();
    const chain = await world.open({ logger });
    const wallet = await sandbox.newBuyer();
    const settler = sandbox.feePayer.publicKey.toBase58();
    const before = sandbox.chain.lamports(settler);
    const proof = await world.proof({ wallet });
    sandbox.chain.pause();
    const [context, sends] = [settleContext(), rpc.forwarded("sendTransaction")];
    const settling = chain.settle(proof, context);
    await rpc.reached("sendTransaction", sends + 1);
    await empty(sandbox, ata(wallet.publicKey));
    sandbox.chain.resume();
    expect(await settling).toMatchObject({ outcome: "unknown", reverted: true });
    const lamports = `${before - sandbox.chain.lamports(settler)}`;
    expect(lines.map(({ facts }) => facts)).toEqual([
      {
        network: sandbox.caip2,
        settler,
        count: 1,
        lamports,
        transaction: context.announced[0]?.id,
        error: '{"InstructionError":[2,{"Custom":1}]}',
      },
    ]);
  });
});

/** Takes all tokens of an account away. */
async function empty({ connection, chain }: World["sandbox"], address: PublicKey): Promise<void> {
  const account = await connection("processed").getAccountInfo(new PublicKey(address));
  if (!account) throw new Error("the buyer has no token account");
  const data = new Uint8Array(account.data);
  data.fill(0, 64, 72);
  const owner = account.owner.toBase58();
  chain.setAccount(address.toBase58(), { ...account, data, lamports: BigInt(account.lamports), owner });
}
