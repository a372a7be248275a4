// Seeded nonsense at every endpoint of a real service on real chains: orders, proofs, offers, ids and queries whose fields are
// taken out, doubled, or replaced by what breaks programs. Nothing of it is our fault, and the service goes on.
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EXAMPLES } from "../../src/gateway/http/examples.js";
import { errorAnswer } from "../../src/gateway/schemas/index.js";
import { dice } from "../support/dice.js";
import { bodyOf } from "./facilitating.js";
import { decode, newEvmAddress, onEvm, onSolana, receiveBody, sign } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const COUNT = Number(process.env.FUZZ_REQUESTS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? 402);
const draw = dice(SEED);
const pick = <Value>(list: readonly Value[]): Value => list[draw(list.length)] as Value;

let world: GatewayWorld;
let key: string;
let bases: readonly (readonly [path: string, body: unknown])[];
/** Those that are whole. */
const proofs = new Set<unknown>();
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const ADMIN = randomBytes(20).toString("hex");

beforeAll(async () => {
  world = await createGatewayWorld({
    chains: { evm: true, solana: true },
    options: { adminToken: ADMIN },
    // The chain of Solana works in this process: a node that is late is none of what is looked for.
    context: { nodeMs: 20_000 },
  });
  const { evm, solana } = world;
  if (!evm || !solana) throw new Error("the sandbox did not start");
  const wallet = await world.newWallet({ family: "evm" });
  key = await world.newKey({ plan: "enterprise", rateLimit: 10_000_000, wallets: [wallet.id] });
  const payTo = newEvmAddress();
  const kinds = [onEvm(evm, "usdc", 1), onEvm(evm, "usdc", 2), onEvm(evm, "eth", 2), onSolana(solana, "usdc", 2)];
  const payments = await Promise.all(
    kinds.map(async (kind) => {
      const own = await kind.newPayee();
      return { kind, own, proof: await sign(kind, own), body: await bodyOf(kind, own), offer: kind.offer(payTo) };
    }),
  );
  for (const { proof } of payments) proofs.add(proof);
  bases = [
    [
      "/payment/send",
      {
        walletAddress: wallet.address,
        recipientAddress: payTo,
        amount: 0.001,
        resource: "x",
        metadata: { a: 1 },
        priorityFee: 0.0001,
      },
    ],
    [
      "/payment/send",
      {
        ...EXAMPLES.send.request,
        walletAddress: wallet.address,
        amount: "0.01",
        asset: "USDC",
        recipientAddress: payTo,
        requirements: payments[1]?.offer,
      },
    ],
    ...payments.flatMap(({ kind, own, proof }) => {
      const claim = receiveBody(kind, own, proof);
      return [
        ["/payment/receive", { ...claim, settle: false, timeout: 60 }],
        ["/transaction/receive", claim],
      ] as const;
    }),
    ["/payment/receive", { ...EXAMPLES.receive.request, facilitatorUrl: "https://facilitator.example" }],
    ["/transaction/send", { walletAddress: wallet.address, recipientAddress: payTo, amount: 0.001 }],
    ["/transaction/send", EXAMPLES.buildSend.request],
    ["/transaction/receive", EXAMPLES.buildReceive.request],
    ["/verify", EXAMPLES.verify.request],
    ["/settle", EXAMPLES.settle.request],
    ...payments.map(({ body }) => ["/verify", body] as const),
    ...payments.map(({ body }) => ["/settle", body] as const),
    ["/wallets/challenge", EXAMPLES.challenge.request],
    ["/wallets/prove", EXAMPLES.prove.request],
    ["/admin/accounts", { name: "a" }],
    [`/admin/accounts/${world.account}/keys`, { name: "a", mode: "test", scopes: ["read"] }],
    [
      `/admin/accounts/${world.account}/wallets`,
      {
        name: "a",
        mode: "test",
        family: "evm",
        limits: [{ network: "base-sepolia", perPayment: "1", perDay: "2" }],
        secret: "0x12",
      },
    ],
  ];
}, 60_000);
afterAll(async () => {
  agent.destroy();
  await world.close();
});

/** What has broken programs: by its size, by its type, by its spelling. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, 0, -1, 0.5, 1e-9, 1e21, 1e308, 5e-324, 2 ** 53, "", " ", "0", "-1", "1e3", "0x", "null", "NaN"],
  ...[
    "9".repeat(79),
    "9".repeat(5_000),
    "1".repeat(44),
    "z".repeat(44),
    "1".repeat(88),
    "z".repeat(9_000),
    "A".repeat(20_000),
  ],
  ...[
    `0x${"f".repeat(40)}`,
    `0x${"0".repeat(64)}`,
    `0x${"f".repeat(64)}`,
    `0x${"f".repeat(9_000)}`,
    "0X",
    "\u0000",
    "\ud800",
    "\u202e",
  ],
  ...[
    "solana:x",
    "eip155:1",
    "eip155:84532",
    "base-sepolia",
    "native",
    "USDC",
    "__proto__",
    "constructor",
    "../..",
    "%2e",
    "'; --",
  ],
  ...[
    "1".repeat(32),
    `${2n ** 256n - 1n}`,
    `${2n ** 256n}`,
    "0".repeat(200),
    "AAAA",
    "e30=",
    "http://127.0.0.1",
    "https://[::1]/",
  ],
  ...[
    [],
    {},
    [[]],
    [1, [2, [3]]],
    { length: -1 },
    { valueOf: 1 },
    { toString: 1 },
    { constructor: { a: 1 } },
    Array(3_000).fill(0),
  ],
  Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, n])),
];

type Mutable = Record<string, unknown>;
const isObject = (value: unknown): value is Mutable => typeof value === "object" && value !== null;

/** One to three changes of one place each, however deep; a proof is opened, changed and closed again. */
function mutate(base: unknown): unknown {
  const copy: unknown = structuredClone(base);
  for (let changes = 1 + draw(3); changes > 0; changes -= 1) change(copy);
  return copy;
}

function change(root: unknown): void {
  let at = root;
  while (isObject(at)) {
    const names = Object.keys(at);
    if (names.length === 0) return;
    const name = pick(names);
    const value = at[name];
    if (proofs.has(value) && draw(3) > 0) {
      at[name] = Buffer.from(JSON.stringify(mutate(decode(String(value))))).toString(pick(["base64", "base64url"]));
      return;
    }
    if (isObject(value) && draw(4) > 0) {
      at = value;
      continue;
    }
    at[name] = changed(value);
    if (at[name] === undefined) delete at[name];
    if (draw(12) === 0)
      at[pick(["extra", "__proto", "network", "asset", "timeout", "settle"])] = structuredClone(pick(HOSTILE));
    return;
  }
}

function changed(value: unknown): unknown {
  if (typeof value !== "string" || draw(2) === 0) return draw(8) === 0 ? undefined : structuredClone(pick(HOSTILE));
  const place = draw(value.length + 1);
  const sign = pick([...'0fF1zZ=+/.-_ "\u00e9\u0000']);
  return value.slice(0, place) + sign + value.slice(place + draw(3));
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const IDS = [
  "pay_7WkEoVyS3bWkQrZ9dGqUdx",
  `0x${"ab".repeat(32)}`,
  "ab".repeat(32),
  "5".repeat(88),
  "%ff",
  "%00",
  "a".repeat(9_000),
  "..%2f",
];
const QUERIES = [
  "",
  "?network=base-sepolia",
  "?network=solana-devnet",
  "?limit=500&offset=1000000",
  "?before=9-pay_1",
  "?a=%ff&a",
  "?network=x&network=y",
  "?limit=%00",
];
const READS = [
  "/payment/status/",
  "/payment/history/",
  "/transaction/",
  "/admin/accounts/",
  "/healthz",
  "/readyz",
  "/openapi.json/",
  "/",
];

interface Shot {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

function newShot(): Shot {
  const headers: Record<string, string> =
    draw(3) === 0 ? { "Idempotency-Key": pick(["a", "b", "x".repeat(255), "x".repeat(256), " "]) } : {};
  if (draw(5) === 0) {
    const id = draw(2) === 0 ? pick(IDS) : textOf(changed(pick(IDS)));
    return {
      method: pick(["GET", "GET", "HEAD", "DELETE", "OPTIONS"]),
      path: encodeURI(pick(READS) + id.slice(0, 9_000).replace(/[\p{Cs}#]/gu, "")) + pick(QUERIES),
      body: undefined,
      headers,
    };
  }
  const [path, base] = pick(bases);
  const text = JSON.stringify(mutate(base));
  const body = draw(10) === 0 ? textOf(changed(text)) : text;
  return { method: draw(20) === 0 ? "PATCH" : "POST", path, body, headers };
}

interface Got {
  readonly shot: Shot;
  readonly status: number;
  readonly text: string;
}

function shoot(shot: Shot): Promise<Got> {
  const { method, path, body, headers } = shot;
  const token = path.startsWith("/admin") ? ADMIN : key;
  const own = {
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const options = { agent, host: "127.0.0.1", port: world.server.port, method, path, headers: own };
    const sent = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ shot, status: answer.statusCode ?? 0, text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

it(`answers ${COUNT} of them with a status that is the caller's fault, in the one shape, and goes on`, async () => {
  const bad: unknown[] = [];
  for (let shots = 0; shots < COUNT; shots += 8) {
    const got = await Promise.all(Array.from({ length: 8 }, () => shoot(newShot())));
    for (const one of got) {
      const isWhole =
        one.shot.method === "HEAD" || one.status < 400 || errorAnswer.strict().safeParse(JSON.parse(one.text)).success;
      if (one.status >= 500 || !isWhole)
        bad.push([one.shot.path, one.shot.body?.slice(0, 3000), one.status, one.text.slice(0, 600)]);
    }
  }
  expect(bad).toEqual([]);
  expect(world.log.of("a request failed")).toEqual([]);
  expect((await world.call("GET", "/readyz")).body.status).toBe("ready");
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
}, 600_000);
