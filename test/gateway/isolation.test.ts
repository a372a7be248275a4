// A second account tries every endpoint with the first one's payment ids, transaction ids, proof ids, wallets, Idempotency-Keys,
// proofs and proven addresses, on both databases: it gets the answers of things that do not exist, and changes nothing.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PROTECTED } from "../../src/gateway/http/endpoints.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { type Answer, detailsOf } from "./call.js";
import { bodyOf, requirementsOf, wordOf } from "./facilitating.js";
import { outliveFirstSecond } from "./first-second.js";
import { invent, type Owned, own, type Things } from "./owned.js";
import { decode, type Kind, newEvmAddress, onEvm, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

interface Attempt {
  readonly name: string;
  readonly method: "GET" | "POST";
  path(things: Things): string;
  body?(things: Things): object;
  readonly status: number;
}

const IDS = ["sent", "sentOnSolana", "received", "built", "collecting"] as const;
const status = (what: string, id: (things: Things) => string): Attempt => ({
  ...{ name: `status of ${what}`, method: "GET", status: 404 },
  path: (things) => `/payment/status/${id(things)}`,
});
const history = (what: string, address: (things: Things) => string, query: (things: Things) => string = () => "") => ({
  ...({ name: `history of ${what}`, method: "GET", status: 200 } as const),
  path: (things: Things) => `/payment/history/${address(things)}${query(things)}`,
});
const send = (family: "evm" | "solana"): Attempt => ({
  ...{ name: `a payment from the hosted wallet on ${family}`, method: "POST", status: 403 },
  path: () => "/payment/send",
  body: ({ wallets }) => ({
    ...{ walletAddress: wallets[family], amount: 0.01 },
    recipientAddress: family === "evm" ? `0x${"7".repeat(40)}` : solana.seller,
  }),
});

/** With the same answer, letter by letter, to what is another account's and to what is nobody's. */
const ATTEMPTS: readonly Attempt[] = [
  ...IDS.map((id) => status(`the payment that was ${id}`, ({ paymentIds }) => paymentIds[id])),
  status("the transaction on EVM", ({ transactionIds }) => transactionIds.evm),
  status("the transaction on Solana", ({ transactionIds }) => transactionIds.solana),
  status("the proof", ({ proofId }) => proofId),
  history("the hosted wallet on EVM", ({ wallets }) => wallets.evm),
  history("the hosted wallet on Solana", ({ wallets }) => wallets.solana),
  history("the payee", ({ payee }) => payee),
  history("the proven address", ({ proven }) => proven.address),
  history(
    "the hosted wallet, from its owner's cursor on",
    ({ wallets }) => wallets.evm,
    ({ cursor }) => `?before=${cursor}`,
  ),
  send("evm"),
  send("solana"),
  {
    ...{ name: "a proof of the wallet with its owner's challenge and signature", method: "POST", status: 400 },
    path: () => "/wallets/prove",
    body: ({ proven: { address: walletAddress, nonce, signature } }) => ({ walletAddress, nonce, signature }),
  },
];

describe.each(["sqlite", "postgres"] as const)("another account on %s", (database) => {
  const isAbsent = database === "postgres" && noPostgres() !== undefined;
  let world: GatewayWorld;
  let owned: Owned;
  let invented: Things;
  let stranger: string;
  let strangerKey: string;
  let before: unknown;
  const tried = new Set<string>();

  beforeAll(async () => {
    if (isAbsent) return;
    world = await createGatewayWorld({ database, chains: { evm, solana } });
    owned = await own(world);
    invented = await invent();
    stranger = await world.newAccount("stranger");
    // It names the owner's wallets as if they were its own.
    strangerKey = await world.newKey({ account: stranger, wallets: owned.walletIds });
    before = await ownersView();
    await outliveFirstSecond(solana);
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    if (!isAbsent) expect(await ownersView()).toEqual(before);
  });

  /** All that is the owner's and must not change; where a payment stands on its chain may. */
  async function ownersView(): Promise<unknown> {
    const { keys, wallets, accounts } = world.gateway.database;
    const addresses = [owned.wallets.evm, owned.wallets.solana, owned.payee, owned.proven.address];
    const records = addresses.map(async (address) => {
      const got = await world.call("GET", `/payment/history/${address}`, undefined, { key: owned.apiKey });
      return (got.body.payments as unknown as readonly Record<string, unknown>[]).map(
        ({ confirmations, updatedAt, history: changes, status: state, fee, blockHeight, ...kept }) => kept,
      );
    });
    const from = owned.wallets.evm as `0x${string}`;
    return {
      records: await Promise.all(records),
      keys: (await keys.list(owned.account)).map(({ lastUsedAt, ...kept }) => kept),
      wallets: await wallets.list(owned.account),
      provenBy: await accounts.ownerOf(owned.proven.address),
      debits: [await evm.native.transfers({ from }), await evm.token.transfers({ from })].flat().length,
      debitsOnSolana: (await solana.native.transfers({ from: owned.wallets.solana })).length,
      collected: await owned.collecting.kind.received(owned.collecting.payTo),
    };
  }

  /** As the stranger; whatever comes shows nothing of the owner's. */
  async function ask(method: "GET" | "POST", path: string, body?: object, headers = {}): Promise<Answer> {
    const endpoint = PROTECTED.find((one) => {
      const pattern = one.path.replace(/\{\w+\}/g, "[^/]+");
      return one.method === method.toLowerCase() && new RegExp(`^${pattern}$`).test(path.split("?")[0] ?? "");
    });
    if (endpoint) tried.add(endpoint.name);
    const answer = await world.call(method, path, body, { key: strangerKey, headers });
    const isAsked = (secret: string) => path.includes(secret);
    expect(owned.secrets.filter((secret) => answer.text.includes(secret) && !isAsked(secret))).toEqual([]);
    return answer;
  }

  /** Without what names the request and what was asked for. */
  function blank(answer: Answer, things: Things): string {
    const { wallets, payee, proven, transactionIds } = things;
    const named = [wallets.evm, wallets.solana, payee, proven.address, ...Object.values(transactionIds)];
    const text = JSON.stringify({ ...answer.body, requestId: undefined });
    return named.reduce((kept, one) => kept.replaceAll(one, "…"), text);
  }

  it.skipIf(isAbsent).each(ATTEMPTS)("gets for $name the answer of what does not exist", async (attempt) => {
    const answers = [];
    for (const things of [owned, invented]) {
      const answer = await ask(attempt.method, attempt.path(things), attempt.body?.(things));
      expect([answer.status, answer.text]).toEqual([attempt.status, answer.text]);
      answers.push(blank(answer, things));
    }
    expect(answers[0]).toBe(answers[1]);
  });

  it.skipIf(isAbsent)("finds an empty history of every address", async () => {
    for (const address of [...Object.values(owned.wallets), owned.payee, owned.proven.address]) {
      expect((await ask("GET", `/payment/history/${address}`)).body).toMatchObject({
        payments: [],
        pagination: { total: 0, hasMore: false },
      });
    }
  });

  it.skipIf(isAbsent)("is granted nothing for proofs that were granted, or are being collected", async () => {
    for (const { kind, payTo, proof } of [owned.granted, owned.collecting]) {
      for (const more of [{}, { settle: false }]) {
        const answer = await ask("POST", "/payment/receive", receiveBody(kind, payTo, proof, more));
        expect(verdictOf(answer)).toBe("400 INVALID_PAYMENT_PROOF already_used");
        expect(answer.body.error?.paymentId).toBeUndefined();
      }
    }
    const { kind, payTo, proof } = owned.collecting;
    const built = await ask("POST", "/transaction/receive", receiveBody(kind, payTo, proof));
    expect([verdictOf(built), built.body.error?.paymentId]).toEqual([
      "400 INVALID_PAYMENT_PROOF already_used",
      undefined,
    ]);
    for (const path of ["/verify", "/settle"]) {
      for (const given of [owned.granted, owned.collecting]) {
        const answer = await ask("POST", path, facilitatorBody(given.kind, given.payTo, given.proof));
        expect([path, wordOf(answer)]).toEqual([path, "duplicate_settlement"]);
      }
    }
  });

  it.skipIf(isAbsent)("receives nothing for an address that the owner has proven, who can then do so", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = owned.proven.address;
    const proof = await sign(kind, payTo);
    const body = receiveBody(kind, payTo, proof);
    for (const path of ["/payment/receive", "/transaction/receive"]) {
      for (const more of path === "/payment/receive" ? [{}, { settle: false }] : [{}]) {
        expect(verdictOf(await ask("POST", path, { ...body, ...more }))).toBe("403 FORBIDDEN walletAddress");
      }
    }
    for (const path of ["/verify", "/settle"]) {
      const answer = await ask("POST", path, await bodyOf(kind, payTo));
      expect(answer.body.isValid ?? answer.body.success).not.toBe(true);
    }
    expect(await kind.received(payTo)).toEqual([]);
    const settled = await world.call("POST", "/payment/receive", body, { key: owned.apiKey });
    expect([settled.status, await kind.received(payTo)]).toEqual([200, [kind.units]]);
    before = await ownersView();
  });

  it.skipIf(isAbsent)("makes payments of its own under the owner's Idempotency-Keys", async () => {
    const { build, receive, send: sent } = owned.asked;
    const headers = ({ key }: { readonly key: string }) => ({ "Idempotency-Key": key });
    const built = await ask("POST", build.path, build.body, headers(build));
    expect(built.status).toBe(200);
    expect(built.headers.get("idempotent-replayed")).toBeNull();
    expect(built.body).not.toMatchObject({ paymentId: owned.paymentIds.built });
    expect((await ask("POST", sent.path, sent.body, headers(sent))).status).toBe(403);
    expect(verdictOf(await ask("POST", receive.path, receive.body, headers(receive)))).toBe(
      "400 INVALID_PAYMENT_PROOF already_used",
    );
    // The owner's repeats are answered as ever.
    for (const { key, path, body, answer } of [build, receive, sent]) {
      const again = await world.call("POST", path, body, { key: owned.apiKey, headers: { "Idempotency-Key": key } });
      expect([again.status, again.body]).toEqual([200, answer]);
    }
  });

  it.skipIf(isAbsent)("gets a challenge of its own for the proven address, and cannot answer it", async () => {
    const walletAddress = owned.proven.address;
    const challenge = await ask("POST", "/wallets/challenge", { walletAddress });
    expect(challenge.body.message).toContain(stranger);
    const answer = await ask("POST", "/wallets/prove", {
      ...{ walletAddress, nonce: challenge.body.nonce, signature: owned.proven.signature },
    });
    expect([answer.status, detailsOf(answer)[0]?.path]).toEqual([400, "signature"]);
  });

  it.skipIf(isAbsent)(
    "builds from the owner's wallet what only the owner can sign, and sees its own record",
    async () => {
      const order = { walletAddress: owned.wallets.evm, recipientAddress: newEvmAddress(), amount: 0.001 };
      const built = await ask("POST", "/transaction/send", order);
      expect([built.status, built.body.signatureRequired]).toEqual([200, true]);
      const ours = await ask("GET", `/payment/history/${order.recipientAddress}`);
      expect(ours.body).toMatchObject({ payments: [{ paymentId: built.body.paymentId }], pagination: { total: 1 } });
      const theirs = { key: owned.apiKey };
      expect((await world.call("GET", `/payment/status/${built.body.paymentId}`, undefined, theirs)).status).toBe(404);
    },
  );

  it.skipIf(isAbsent)("reads of a transaction what everybody reads on its chain, never its secret", async () => {
    const answer = await ask("GET", `/transaction/${owned.transactionIds.evm}?network=base-sepolia`);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(["network", "success", "transaction"]);
  });

  it.skipIf(isAbsent)("has tried every endpoint that a key opens", () => {
    expect([...tried].sort()).toEqual(PROTECTED.map(({ name }) => name).sort());
  });
});

/** What a seller's server sends for a proof that it was shown. */
function facilitatorBody(kind: Kind, payTo: string, proof: string): object {
  const paymentPayload = decode(proof);
  const paymentRequirements = requirementsOf(kind.version, kind.offer(payTo));
  return { x402Version: kind.version, paymentPayload, paymentRequirements };
}
