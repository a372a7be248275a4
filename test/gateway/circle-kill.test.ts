// A seller behind `hosted()` whose gateway's process is killed after it has settled and before it answers: another process on the
// same database takes its place, the buyer sends the same payment again and gets the goods, and the money has moved once.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Running, startNode } from "../support/process.js";
import { root } from "../support/sources.js";
import { type Door, openDoor } from "./door.js";
import { type Kind, onEvm, onSolana } from "./receiving.js";
import { expectNoBill, openSale, type Sale } from "./sale.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
/** Makes keys and reads the database; the processes serve. */
let world: GatewayWorld;
let apiKey: string;
let readKey: string;
let running: Running | undefined;
let door: Door | undefined;
let sale: Sale | undefined;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const networks = {
    "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, settleMs: 6_000 },
    "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey, settleMs: 3_000 },
  };
  world = await createGatewayWorld({ chains: { evm, solana }, watch: false, options: { networks } });
  const account = await world.newAccount("seller");
  apiKey = await world.newKey({ account, scopes: ["receive"] });
  readKey = await world.newKey({ account, scopes: ["read"] });
});
afterEach(async () => {
  await sale?.seller.close();
  await door?.shut();
  await running?.stop();
  sale = door = running = undefined;
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

/** A gateway's process: it lives, or kills itself where it is told. */
const start = (diesAt?: string): Promise<Running> =>
  startNode([join(root, "test/gateway/dying-gateway.mjs")], {
    GATEWAY_OPTIONS: JSON.stringify(world.options),
    ...(diesAt !== undefined && { DIES_AT: diesAt, DIES_WITH: "1" }),
  });

const POINTS = ["receive: settled, not written", "receive: confirmed, no answer is kept"] as const;
const KINDS: readonly (readonly [string, string, () => Kind])[] = [
  ["USDC on EVM", "$0.01", () => onEvm(evm, "usdc", 2)],
  ["SOL", "0.001 SOL", () => onSolana(solana, "sol", 2)],
];

const CASES = KINDS.flatMap(([name, price, kindOf]) => POINTS.map((point) => [name, point, price, kindOf] as const));

it.each(CASES)(
  "%s, killed at '%s': the same payment gets the goods, for one debit",
  async (_name, ...row) => {
    const [point, price, kindOf] = row;
    const kind = kindOf();
    const dying = await start(point);
    running = dying;
    const opened = await openDoor(dying.firstLine);
    door = opened;
    opened.headers = { "x-dies": "yes" };
    const sold = await openSale(kind, { baseUrl: opened.url, apiKey, price });
    sale = sold;

    const got = await sold.buy();
    expectNoBill(got);
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect(await dying.ended).toBe("SIGKILL");
    expect((await sold.counters()).debits).toEqual([kind.units]);
    expectNoBill(await sold.buy());

    running = await start();
    opened.target = running.firstLine;
    const goods = await sold.collect();
    expect([goods.status, goods.body]).toEqual([200, "the goods"]);
    expect(await sold.counters()).toEqual({ runs: 1, debits: [kind.units] });
    expect(await sold.records(world, { key: readKey })).toBe(1);
  },
  120_000,
);
