// Every lie of a gateway on Solana is refused in a sentence, before anything is signed: what is signed is the ordered transfer, byte
// for byte, at a bounded fee.
import {
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  VersionedTransaction,
} from "@solana/web3.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSolanaSigner, type SolanaSigner } from "../../src/chains/solana/transfer-signer.js";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import { type SendOrder, signAndSend } from "../../src/client/sign-and-send.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { change, type Lie, liar, refusalOf, withSolana } from "./lying-gateway.js";

let solana: SolanaSandbox;
let world: GatewayWorld;
let client: GatewayClient;
let account: SolanaSigner;
let signed: number;
const payee = Keypair.generate().publicKey;
const thief = Keypair.generate().publicKey;
beforeAll(async () => {
  solana = await createSolanaSandbox();
  world = await createGatewayWorld({ chains: { solana } });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
  for (const one of [payee, thief]) await solana.token.mint(one.toBase58(), 0n);
});
afterAll(async () => {
  await world?.close();
  await solana?.close();
});
beforeEach(async () => {
  const { secretKey } = await solana.newBuyer();
  const signer = createSolanaSigner(Buffer.from(secretKey.slice(0, 32)).toString("hex"));
  signed = 0;
  account = {
    address: signer.address,
    sign: (message) => {
      signed += 1;
      return signer.sign(message);
    },
  };
});

const native: SendOrder = { recipientAddress: payee.toBase58(), amount: 0.002 };
const token: SendOrder = { recipientAddress: payee.toBase58(), amount: 0.01, asset: "USDC" };
const order = (given: SendOrder, lie: Lie, more: object = {}) =>
  signAndSend(liar(client, lie), { account, rpcUrl: solana.rpcUrl, ...more }, given);

/** The instructions with the one at this place changed. */
const at = (place: number, alter: (one: TransactionInstruction) => TransactionInstruction | undefined): Lie =>
  withSolana(({ instructions, ...rest }) => ({
    ...rest,
    instructions: instructions.flatMap((one, i) => (i === place ? (alter(one) ?? []) : one)),
  }));
const and = (make: (payer: PublicKey) => TransactionInstruction, place = 4): Lie =>
  withSolana(({ instructions, payerKey, ...rest }) => ({
    ...{ payerKey, ...rest },
    instructions: instructions.toSpliced(place, 0, make(payerKey)),
  }));
const moves = (lamports: bigint, offset: number) => (one: TransactionInstruction) => {
  const data = Buffer.from(one.data);
  data.writeBigUInt64LE(lamports, offset);
  return change(one, { data });
};
const to = (place: number, pubkey: PublicKey) => (one: TransactionInstruction) =>
  change(one, { keys: one.keys.map((key, i) => (i === place ? { ...key, pubkey } : key)) });

const LIES: readonly (readonly [string, SendOrder, Lie, string, RegExp])[] = [
  ["another recipient", native, at(2, to(1, thief)), "built_wrong", /the recipient \w+, got \w+/],
  ["a higher amount", native, at(2, moves(2_000_001n, 4)), "built_wrong", /0.002 SOL, got 0.002000001 SOL/],
  ["another token account", token, at(2, to(2, thief)), "built_wrong", /the token account of/],
  ["a higher amount of a token", token, at(2, moves(10_001n, 1)), "built_wrong", /0.01 USDC, got 0.010001 USDC/],
  ["another mint", token, at(2, to(1, thief)), "built_wrong", /it does more, or something else/],
  [
    "SOL in place of a token",
    token,
    and((from) => SystemProgram.transfer({ fromPubkey: from, toPubkey: payee, lamports: 5 }), 2),
    "built_wrong",
    /got 5: /,
  ],
  [
    "a second transfer",
    native,
    and((from) => SystemProgram.transfer({ fromPubkey: from, toPubkey: thief, lamports: 1_000 })),
    "built_wrong",
    /expected four instructions .*, got 5: .*system 2/,
  ],
  [
    "another instruction in place of the transfer",
    native,
    withSolana(({ instructions, payerKey, ...rest }) => ({
      ...{ payerKey, ...rest },
      instructions: instructions.map((one, i) =>
        i === 2 ? SystemProgram.assign({ accountPubkey: payerKey, programId: thief }) : one,
      ),
    })),
    "built_wrong",
    /something else/,
  ],
  [
    "a durable nonce in front",
    native,
    and((from) => SystemProgram.nonceAdvance({ noncePubkey: thief, authorizedPubkey: from }), 0),
    "built_wrong",
    /a compute limit and a compute price first/,
  ],
  [
    "another fee payer",
    native,
    withSolana((built) => ({ ...built, payerKey: thief })),
    "built_wrong",
    /as fee payer, got/,
  ],
  [
    "a second signer",
    native,
    at(3, (one) => change(one, { keys: [{ pubkey: thief, isSigner: true, isWritable: false }] })),
    "built_wrong",
    /expected one signer, got 2/,
  ],
  ["no memo", native, at(3, () => undefined), "built_wrong", /got 3/],
  [
    "another memo",
    native,
    at(3, (one) => change(one, { data: Buffer.from("ab".repeat(32)) })),
    "built_wrong",
    /something else/,
  ],
  [
    "the memo of another secret",
    native,
    (answer) => ({ ...answer, secret: `0x${"12".repeat(32)}` }),
    "built_wrong",
    /something else/,
  ],
  ["a legacy message", native, withSolana((built) => built, "legacy"), "built_wrong", /something else/],
  [
    "another cluster in words",
    native,
    (answer) => ({ ...answer, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" }),
    "built_wrong",
    /chain of your own node/,
  ],
  [
    "bytes of nothing",
    native,
    (answer) => ({ ...answer, transaction: "AAAA" }),
    "built_wrong",
    /bytes of a transaction/,
  ],
  [
    "a fee that drains the account",
    native,
    at(1, () => ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000_000 })),
    "too_expensive",
    /can be up to [\d.]+ SOL, where at most 0.0001 SOL is right/,
  ],
  [
    "a higher fee than the priorityFee that was ordered",
    { ...native, priorityFee: 0.00001 },
    at(1, () => ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_000_000 })),
    "too_expensive",
    /where at most 0.000015 SOL is right/,
  ],
  [
    "too few units",
    native,
    at(0, () => ComputeBudgetProgram.setComputeUnitLimit({ units: 100 })),
    "would_fail",
    /your own node says/,
  ],
  [
    "a blockhash that your node does not know",
    native,
    withSolana((built) => ({ ...built, recentBlockhash: Keypair.generate().publicKey.toBase58() })),
    "would_fail",
    /BlockhashNotFound/,
  ],
];

describe("signAndSend on Solana, by a gateway that answers with", () => {
  it.each(LIES)("%s: nothing is signed", async (_, given, lie, code, words) => {
    const refused = await refusalOf(order(given, lie));
    expect([refused.code, refused.money]).toEqual([code, "none"]);
    expect(refused.message).toMatch(words);
    expect(signed).toBe(0);
  });

  it("bytes that are signed already: only the caller's own signature counts", async () => {
    const lie: Lie = (answer) => {
      const built = VersionedTransaction.deserialize(Buffer.from(answer.transaction ?? "", "base64"));
      built.signatures[0]?.fill(7);
      return { ...answer, transaction: Buffer.from(built.serialize()).toString("base64") };
    };
    const sent = await order(native, lie);
    expect([signed, (await solana.native.transfers({ from: account.address })).length]).toEqual([1, 1]);
    expect(sent.status).toMatch(/^(?:confirmed|finalized)$/);
  });

  it("a transaction that is over, under the caller's own key: it is not sent, because it may have been before", async () => {
    const lie = withSolana((built) => ({ ...built, recentBlockhash: Keypair.generate().publicKey.toBase58() }));
    const refused = await refusalOf(order(native, lie, { idempotencyKey: "order-over" }));
    expect([refused.code, refused.money, refused.idempotencyKey]).toEqual(["built_expired", "none", "order-over"]);
    expect(await solana.native.transfers({ from: account.address })).toEqual([]);
  });
});

describe("signAndSend on Solana", () => {
  const honest: Lie = (answer) => answer;

  it("sends nothing that its account has not signed", async () => {
    const stranger = createSolanaSigner(Buffer.from(Keypair.generate().secretKey.slice(0, 32)).toString("hex"));
    const signers = [
      (message: Uint8Array) => stranger.sign(message),
      () => Promise.reject(new Error("no")),
      async () => new Uint8Array(3),
    ];
    for (const sign of signers) {
      const own = { address: account.address, sign };
      const refused = await refusalOf(signAndSend(client, { account: own, rpcUrl: solana.rpcUrl }, native));
      expect([refused.code, refused.money]).toEqual(["signing_failed", "none"]);
    }
    expect(await solana.native.transfers({ from: account.address })).toEqual([]);
  });

  it("asks no gateway where the node is of another cluster, or none", async () => {
    const other = await refusalOf(order({ ...token, network: "solana", asset: thief.toBase58() }, honest));
    expect([other.code, other.message]).toEqual(["node_failed", expect.stringContaining("expected a node of")]);
    const none = await refusalOf(order(native, honest, { rpcUrl: "http://127.0.0.1:9" }));
    expect([none.code, signed]).toEqual(["node_failed", 0]);
  });
});
