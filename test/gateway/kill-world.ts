// Processes of a gateway that are killed where a test says, on one database and two real chains; and the requests that are under
// way then. Of every request there are two: one is asked again afterwards, the other is left to the watcher.
import { join } from "node:path";
import { createIdempotency } from "../../src/gateway/http/seal.js";
import type { Payment, PaymentStatus } from "../../src/gateway/payment.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Running, startNode } from "../support/process.js";
import { root } from "../support/sources.js";
import { type Answer, ask } from "./call.js";
import { type Caller, newCaller } from "./kill-caller.js";
import { type Kind, receiveBody, sign } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

export type Family = "evm" | "solana";
export const FAMILIES: readonly Family[] = ["evm", "solana"];

export interface Point {
  readonly flow: "send" | "receive" | "build";
  readonly at: string;
  /** As the database has the record then; undefined = there is none. */
  readonly status: PaymentStatus | undefined;
  /** Requests that can be there at once: a transaction of SQLite has one. */
  readonly count: number;
}

const point = (flow: Point["flow"], at: string, status?: PaymentStatus, count = 4): Point => ({
  flow,
  at,
  status,
  count,
});

/** What takes longest to be found out comes first, and what other payments wait for comes last. */
export const POINTS: readonly Point[] = [
  point("receive", "the record says submitted", "submitted"),
  point("receive", "the bytes have left", "submitted"),
  point("receive", "settled, not written", "submitted"),
  point("receive", "the record stands", "created"),
  point("receive", "nothing is written"),
  point("receive", "confirmed, no answer is kept", "confirmed"),
  point("send", "confirmed, no answer is kept", "confirmed"),
  point("send", "the record says submitted", "submitted"),
  point("send", "the bytes have left", "created"),
  point("send", "nothing is written"),
  point("send", "it is signed inside the transaction", undefined, 1),
  // Whatever the wallet sends next waits behind it until the watcher takes it up.
  point("send", "the record stands", "created"),
  point("build", "the record stands", "created"),
];

/** One request, and what it pays. */
export interface Order {
  readonly point: Point;
  readonly family: Family;
  readonly repeated: boolean;
  readonly account: string;
  readonly key: string;
  readonly path: "/payment/send" | "/payment/receive" | "/transaction/send";
  readonly body: object;
  readonly idempotencyKey: string;
  readonly payee: string;
  readonly kind: Kind;
  /** Signs what is built for him. */
  readonly caller?: Caller;
}

/**
 * Seconds. Longer than a settlement can have to wait for the account nonce that a dead process had taken and never sent: five
 * seconds after it was sent somebody fills the gap (src/chains/evm/gap.ts), and a busy machine takes its time.
 */
const PATIENCE = 30;
/** Seconds: no round is so long. */
const OFFERED = 3_600;
/** A transaction on Solana lives for 150 slots, whatever is offered; some of them end early, with what lands in them. */
const SLOT_MS = 3_000;
export const LIFE_MS = 100 * SLOT_MS;

/** Whole units and atomic ones of what is sent. */
export const UNIT = { evm: 10n ** 15n, solana: 10n ** 6n } as const;
export const AMOUNT = "0.001";

export interface KillWorld {
  readonly world: GatewayWorld;
  readonly evm: Sandbox;
  readonly solana: SolanaSandbox;
  readonly wallets: Readonly<Record<Family, { readonly address: string; readonly apiKey: string }>>;
  /** Sells, with keys of its own, what the payments of a point pay for. */
  sellerOf(point: Point): { readonly account: string; readonly key: string };
  /** The four requests of a point. */
  newOrders(point: Point, kindOf: (family: Family) => Kind): Promise<readonly Order[]>;
  /** A process that lives, or dies at a point. `watches`: does it follow what others have left behind? Yes, by default. */
  start(point?: Point, watches?: boolean): Promise<Running>;
  /** The record that an order has made, as the database has it. */
  recordOf(order: Order): Promise<Payment | undefined>;
  close(): Promise<void>;
}

/** Payments that a wallet makes in the course of all points: what is written then, or asked for again. */
const SENDS = POINTS.filter(({ flow }) => flow === "send").reduce((sum, { status }) => sum + (status ? 2 : 1), 0);

export async function createKillWorld(database: "sqlite" | "postgres"): Promise<KillWorld> {
  const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox({ slotTimeMs: SLOT_MS })]);
  const networks = {
    "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, settleMs: 6_000 },
    "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey, settleMs: 5_000 },
  };
  // This instance asks and serves nothing: it makes keys and wallets, and reads the database.
  const world = await createGatewayWorld({ database, chains: { evm, solana }, watch: false, options: { networks } });
  const newWallet = (family: Family) => {
    const [network] = world.gateway.networks.all.filter((one) => one.network.family === family);
    const perDay = BigInt(SENDS + 1) * UNIT[family];
    const limit = { network: network?.network.id ?? "", asset: "native", perPayment: UNIT[family], perDay };
    return world.newWallet({ family, limits: [limit] });
  };
  const wallets = { evm: await newWallet("evm"), solana: await newWallet("solana") };
  // One for each point: an account has at most twenty receives under way. All before the first block of a payment.
  const sellers = new Map<Point, { readonly account: string; readonly key: string }>();
  for (const one of POINTS) {
    const account = await world.newAccount(`seller ${sellers.size}`);
    sellers.set(one, { account, key: await world.newKey({ account, scopes: ["receive", "read", "build"] }) });
  }
  const sellerOf = (one: Point) => {
    const seller = sellers.get(one);
    if (!seller) throw new Error(`nobody sells at "${one.at}"`);
    return seller;
  };
  let orders = 0;

  async function newOrder(one: Point, family: Family, repeated: boolean, kind: Kind): Promise<Order> {
    orders += 1;
    const common = { point: one, family, repeated, kind, idempotencyKey: `request-${orders}` };
    const payee = await kind.newPayee();
    switch (one.flow) {
      case "send": {
        const { address, apiKey: key } = wallets[family];
        const body = { walletAddress: address, recipientAddress: payee, amount: AMOUNT, metadata: { order: orders } };
        return { ...common, payee, key, account: world.account, path: "/payment/send", body };
      }
      case "receive": {
        const proof = await sign(kind, payee, { offer: { ...kind.offer(payee), maxTimeoutSeconds: OFFERED } });
        return {
          ...common,
          ...sellerOf(one),
          payee,
          path: "/payment/receive",
          body: receiveBody(kind, payee, proof, { timeout: PATIENCE }),
        };
      }
      case "build": {
        const caller = await newCaller(family === "evm" ? evm : solana);
        const body = { walletAddress: caller.address, recipientAddress: payee, amount: AMOUNT };
        return { ...common, ...sellerOf(one), payee, path: "/transaction/send", body, caller };
      }
    }
  }

  return {
    ...{ world, evm, solana, wallets, sellerOf },
    newOrders: (one, kindOf) =>
      Promise.all(
        FAMILIES.flatMap((family) => [true, false].map((repeated) => newOrder(one, family, repeated, kindOf(family)))),
      ),
    start: (one, watches = true) =>
      startNode([join(root, "test/gateway/dying-gateway.mjs")], {
        GATEWAY_OPTIONS: JSON.stringify(world.options),
        WATCHES: watches ? "yes" : "no",
        ...(one && { DIES_AT: `${one.flow}: ${one.at}`, DIES_WITH: String(one.count) }),
      }),
    recordOf({ account, path, idempotencyKey: key }) {
      const { id } = createIdempotency({ account, mode: "test", endpoint: `POST ${path}`, key });
      return world.gateway.database.payments.byIdempotency(id);
    },
    async close() {
      await world.close();
      await Promise.all([evm.close(), solana.close()]);
    },
  };
}

/** What an order was told by a process that was to die first; undefined = the process has died under it, as it should. */
export async function answeredBefore(url: string, order: Order): Promise<string | undefined> {
  const answer = await place(url, order, true).catch(() => undefined);
  return answer && `${order.kind.name}, ${order.idempotencyKey}: ${answer.status} ${answer.text}`;
}

/** One request of an order. `dies`: it may end the process. */
export const place = (url: string, { path, body, key, idempotencyKey }: Order, dies = false): Promise<Answer> =>
  ask(url, "POST", path, body, {
    key,
    headers: { "Idempotency-Key": idempotencyKey, ...(dies && { "X-Dies": "yes" }) },
  });
