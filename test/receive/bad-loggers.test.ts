// A seller's logger decides nothing, whichever receiver it is given to: neither what it throws nor what it rejects changes an
// outcome or ends the process.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { generatePrivateKey } from "viem/accounts";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { resolveOptions } from "../../src/options.js";
import { facilitator } from "../../src/receive/facilitator.js";
import { failover } from "../../src/receive/failover.js";
import { hosted } from "../../src/receive/hosted.js";
import { local } from "../../src/receive/local.js";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Logger } from "../../src/settings.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { settleBy, standIn, verifyBy } from "./failover-world.js";

// A service that refuses everything, which is worth a word to every receiver: as a node, a facilitator and a gateway.
let server: Server;
let url: string;
beforeAll(async () => {
  const body = JSON.stringify({ success: false, error: { code: "UNAUTHORIZED", message: "who are you?" } });
  server = createServer((_, response) => response.writeHead(401, { "content-type": "application/json" }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const key = generatePrivateKey();
const apiKey = `tg_test_${"A".repeat(44)}`;
const { payTo } = REQUIREMENT;

const RECEIVERS: readonly (readonly [string, (logger: Logger) => Receiver])[] = [
  ["local()", (logger) => local({ networks: { "base-sepolia": { rpcUrl: url, settler: key } }, logger })],
  [
    "local() with a gateway",
    (logger) => local({ gateway: { baseUrl: url, apiKey }, wallet: key, rpcUrl: { "base-sepolia": url }, logger }),
  ],
  ["facilitator()", (logger) => facilitator({ url, logger })],
  ["hosted()", (logger) => hosted({ baseUrl: url, apiKey, logger })],
  [
    "failover()",
    (logger) => {
      const poor = standIn({ settle: async () => ({ outcome: "unavailable", message: "no gas" }) });
      return failover([poor, standIn()], { logger });
    },
  ],
  [
    "the receiver of the environment",
    (logger) => resolveOptions({ payTo, network: "base-sepolia", logger }, { TOLLGATE_FACILITATOR_URL: url }).receiver,
  ],
];

const broken = new Error("the disk is full");
const throws = () => {
  throw broken;
};
const rejects = () => Promise.reject(broken);
const LOGGERS = [
  ["throws", throws],
  ["rejects", rejects],
] as const;

/** What comes of a payment, and of the start-up checks. */
async function outcomesOf(receiver: Receiver) {
  try {
    const proof = await makeProof();
    return [
      // Sooner than the test ends: where a word that fails holds the checks up, that is to be seen by what comes of it.
      await receiver.ready([REQUIREMENT], AbortSignal.timeout(10_000)),
      await verifyBy(receiver, proof),
      await settleBy(receiver, proof, { now: Date.now }),
    ];
  } finally {
    await receiver.close();
  }
}

const CASES = RECEIVERS.flatMap(([name, open]) => LOGGERS.map(([what, say]) => [name, what, open, say] as const));

it.each(CASES)("%s does the same with a logger that %s", async (_name, _what, open, say) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  let words = 0;
  const method = () => {
    words += 1;
    return say();
  };

  const outcomes = await outcomesOf(open({ debug: method, info: method, warn: method, error: method }));
  // Node tells of a rejection that nobody handles after the turn in which it came.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
  expect(outcomes).toEqual(await outcomesOf(open(silentLogger)));
  expect(words).toBeGreaterThan(0);
});
