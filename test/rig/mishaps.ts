// What can go wrong in a randomized run, by name. Each mishap strikes once and is over when its promise resolves: whatever it has
// broken works again then, so that the next one finds a whole world.
import { setTimeout as after } from "node:timers/promises";
import { answer, type ScriptedFacilitator } from "../support/scripted-facilitator.js";
import { type Fault, fault, type ScriptedRpc } from "../support/scripted-rpc.js";
import type { RigGateway } from "./gateway.js";
import type { Process, Shop } from "./shop.js";
import type { Wire } from "./wire.js";

interface StoreServer {
  kill(): Promise<void>;
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface Servers {
  readonly store: StoreServer;
  readonly gateway: RigGateway;
}

/** Whole numbers below a count. */
export type Roll = (count: number) => number;

export interface Stage {
  readonly shop: Shop;
  readonly rpc: ScriptedRpc;
  readonly facilitator: ScriptedFacilitator;
  /** Between the processes and the store. */
  readonly wire: Wire;
  /** One of the processes that nobody else is at, to be given back. */
  borrow(roll: Roll): Process | undefined;
  giveBack(process: Process): void;
  /** The server of the store itself, or the gateway, for one mishap at a time. */
  borrowOne<Name extends keyof Servers>(name: Name): Servers[Name] | undefined;
  giveBackOne(name: keyof Servers): void;
  /** Takes the place of a process that has died. */
  replace(process: Process): Promise<void>;
}

/** @returns whether it struck: what it would have hit may be in the hands of another one */
export type Mishap = (stage: Stage, roll: Roll) => Promise<boolean>;
/** Strikes whenever it is called. */
const always =
  (strike: (stage: Stage, roll: Roll) => Promise<void>): Mishap =>
  async (stage, roll) => {
    await strike(stage, roll);
    return true;
  };

const SEND = "eth_sendRawTransaction";
/** The node takes the bytes, as it says, and nobody ever sees them again. */
const lose: Fault = async ({ call, ask }) => {
  const { keccak256 } = await import("viem");
  const [raw] = call.params;
  await ask("eth_blockNumber", []);
  return { kind: "answer", answer: { result: keccak256(String(raw) as `0x${string}`) } };
};

/** The next few calls of a method meet a fault. */
const atNode = (method: string, make: (roll: Roll) => Fault, times = 1): Mishap =>
  always(async ({ rpc }, roll) => {
    rpc.script(method, make(roll), times);
    await after(1_000);
  });
const atFacilitator = (endpoint: "verify" | "settle", make: () => ReturnType<typeof answer.hang>): Mishap =>
  always(async ({ facilitator }) => {
    facilitator.script(endpoint, make());
    await after(500);
  });
const onProcess =
  (strike: (process: Process, stage: Stage, roll: Roll) => Promise<void>): Mishap =>
  async (stage, roll) => {
    const process = stage.borrow(roll);
    if (!process) return false;
    try {
      await strike(process, stage, roll);
      return true;
    } finally {
      stage.giveBack(process);
    }
  };
/** Two at once would start a second server of the same data. */
const onServer =
  <Name extends keyof Servers>(name: Name, strike: (server: Servers[Name], roll: Roll) => Promise<void>): Mishap =>
  async (stage, roll) => {
    const server = stage.borrowOne(name);
    if (!server) return false;
    try {
      await strike(server, roll);
      return true;
    } finally {
      stage.giveBackOne(name);
    }
  };

/** What the buyers were given at the beginning must not be taken back with it. */
const BEGINNING_MS = 5_000;
/** The fourth look at a settlement comes before that (after 16, 48, 112 and 240 seconds); faults may have been in the way of three. */
export const BACK_WITHIN_MS = 270_000;

/** Three blocks never happened; over when what was paid in them is paid again, which needs no request of a buyer. */
async function takeBack({ shop }: Stage): Promise<void> {
  const { token, chain } = shop.sandbox;
  await after(BEGINNING_MS);
  const height = Number(await chain.rpc("eth_blockNumber"));
  const fromBlock = BigInt(Math.max(0, height - 6));
  const payers = async () => new Set((await token.transfers({ to: shop.payTo, fromBlock })).map(({ from }) => from));
  const before = await payers();
  await chain.reorg(3);
  // As on a real chain, whose new blocks have the time of day.
  await chain.setTime(Math.ceil(Date.now() / 1000) + 1);
  for (const until = Date.now() + BACK_WITHIN_MS; Date.now() < until; ) {
    const now = await payers();
    if ([...before].every((payer) => now.has(payer))) return;
    await after(2_000);
  }
}

const REORGANISED = "chain: three blocks reorganised away";
/** By the time they are over some minutes may have passed. */
export const SLOW: ReadonlySet<string> = new Set([REORGANISED]);

export const MISHAPS: Readonly<Record<string, Mishap>> = {
  "node: hangs before it sends": atNode(SEND, () => fault.hang()),
  "node: hangs after it has sent": atNode(SEND, () => fault.hangAfter()),
  "node: resets before it sends": atNode(SEND, () => fault.resetBefore()),
  "node: resets after it has sent": atNode(SEND, () => fault.resetAfter()),
  "node: loses a transaction": atNode(SEND, () => lose),
  "node: answers 503": atNode("*", () => fault.status(503), 4),
  "node: answers HTML": atNode("*", () => fault.html(), 3),
  "node: limits the rate": atNode("*", () => fault.tooMany(), 3),
  "node: some blocks behind": atNode("*", (roll) => fault.stale(1 + roll(5)), 30),
  "node: slow": atNode("*", (roll) => fault.delay(200 + roll(800)), 6),

  "facilitator: hangs": atFacilitator("settle", answer.hang),
  "facilitator: hangs after it has settled": atFacilitator("settle", answer.hangAfterActing),
  "facilitator: resets": atFacilitator("settle", answer.reset),
  "facilitator: resets after it has settled": atFacilitator("settle", answer.resetAfterActing),
  "facilitator: answers 500": atFacilitator("settle", () => answer.status(500)),
  "facilitator: refuses": atFacilitator("settle", () => answer.refuse("insufficient_funds")),
  "facilitator: cannot verify": atFacilitator("verify", () => answer.status(503)),

  "gateway: loses a call": onServer("gateway", async ({ door }) => door.lose("request")),
  "gateway: loses an answer": onServer("gateway", async ({ door }) => door.lose("answer")),
  "gateway: cannot be reached": onServer("gateway", async ({ door }, roll) => {
    await door.shut();
    await after(500 + roll(2_500));
    await door.open();
  }),
  "gateway: killed and started again": onServer("gateway", async (gateway) => gateway.restart()),

  "store: connections cut": always(async ({ wire }) => wire.cut()),
  "store: cannot be reached": always(async ({ wire }, roll) => {
    wire.sever();
    await after(500 + roll(2_500));
    wire.mend();
  }),
  "store: slow": always(async ({ wire }, roll) => {
    wire.slow(20 + roll(80));
    await after(1_000 + roll(2_000));
    wire.mend();
  }),
  "store: frozen": onServer("store", async (store, roll) => {
    store.freeze();
    await after(500 + roll(2_500));
    store.thaw();
  }),
  "store: killed and started again": onServer("store", async (store, roll) => {
    await store.kill();
    await after(roll(1_500));
    await store.restart();
  }),

  "process: killed": onProcess(async (process, { replace }) => {
    await process.kill();
    await replace(process);
  }),
  "process: stopped for longer than its lease": onProcess(async (process, _stage, roll) => {
    process.signal("SIGSTOP");
    await after(2_000 + roll(3_000));
    process.signal("SIGCONT");
  }),
  "process: its clock jumps by ten minutes": onProcess(async (process) => process.signal("SIGHUP")),

  [REORGANISED]: always(takeBack),
};
