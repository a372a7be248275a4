// Every lie of a gateway on EVM is refused in a sentence, before anything is signed: what is signed is the ordered transfer, at a
// fee that the caller's own node finds right.
import type { Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeTransaction } from "../../src/chains/evm/transaction.js";
import { readUnsigned } from "../../src/chains/evm/transfer-bytes.js";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import { type SendOrder, signAndSend } from "../../src/client/sign-and-send.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { base64Of, type Lie, liar, refusalOf, withEvm } from "./lying-gateway.js";

let evm: Sandbox;
let world: GatewayWorld;
let client: GatewayClient;
let account: PrivateKeyAccount;
let signed: number;
beforeAll(async () => {
  evm = await createSandbox();
  world = await createGatewayWorld({ chains: { evm } });
  client = gatewayClient({ baseUrl: world.url, apiKey: world.apiKey });
});
afterAll(async () => {
  await world?.close();
  await evm?.close();
});
beforeEach(async () => {
  const buyer = await evm.newBuyer();
  await evm.native.setBalances([buyer.address], 10n ** 18n);
  signed = 0;
  account = {
    ...buyer,
    signTransaction: (...given) => {
      signed += 1;
      return buyer.signTransaction(...given);
    },
  };
});

const THIEF = privateKeyToAddress(`0x${"0b".repeat(32)}`);
const RECIPIENT = privateKeyToAddress(`0x${"0a".repeat(32)}`);
const native: SendOrder = { recipientAddress: RECIPIENT, amount: 0.001 };
const token: SendOrder = { recipientAddress: RECIPIENT, amount: 0.01, asset: "USDC" };

const order = (given: SendOrder, lie: Lie, more: object = {}) =>
  signAndSend(liar(client, lie), { account, rpcUrl: evm.rpcUrl, ...more }, given);

const tail = (data: Hex | undefined, digits: string): Hex => `0x${(data ?? "0x").slice(2)}${digits}`;
const LIES: readonly (readonly [string, SendOrder, Lie, string, RegExp])[] = [
  [
    "another recipient",
    native,
    withEvm((tx) => ({ ...tx, to: THIEF })),
    "built_wrong",
    /the recipient 0x\w+, got 0x\w+/,
  ],
  [
    "a higher amount",
    native,
    withEvm((tx) => ({ ...tx, value: (tx.value ?? 0n) + 1n })),
    "built_wrong",
    /an amount of 0.001 ETH, got 0.001000000000000001 ETH/,
  ],
  ["a lower amount", native, withEvm((tx) => ({ ...tx, value: 1n })), "built_wrong", /an amount of/],
  [
    "another recipient of a token",
    token,
    withEvm((tx) => ({
      ...tx,
      data: `0x${tx.data?.slice(2).replace(RECIPIENT.slice(2).toLowerCase(), THIEF.slice(2))}`,
    })),
    "built_wrong",
    /the recipient/,
  ],
  [
    "a higher amount of a token",
    token,
    withEvm((tx) => ({ ...tx, data: `0x${tx.data?.slice(2).replace(/2710/, "2711")}` })),
    "built_wrong",
    /an amount of 0.01 USDC, got 0.010001 USDC/,
  ],
  [
    "an approval in place of the transfer",
    token,
    withEvm((tx) => ({ ...tx, data: `0x095ea7b3${tx.data?.slice(10)}` })),
    "built_wrong",
    /it does more, or something else, than one plain transfer/,
  ],
  ["another token", token, withEvm((tx) => ({ ...tx, to: THIEF })), "built_wrong", /a transfer of 0x\w+, got one of/],
  ["ether in place of a token", token, withEvm((tx) => ({ ...tx, data: "0x" })), "built_wrong", /got one of native/],
  ["ether beside a token", token, withEvm((tx) => ({ ...tx, value: 1n })), "built_wrong", /it does more/],
  ["more calldata", native, withEvm((tx) => ({ ...tx, data: tail(tx.data, "00") })), "built_wrong", /it does more/],
  ["no reference", native, withEvm(({ data: _, ...tx }) => tx), "built_wrong", /the hash of the secret/],
  [
    "the reference of another secret",
    native,
    (answer) => ({ ...answer, secret: `0x${"12".repeat(32)}` }),
    "built_wrong",
    /the hash of the secret/,
  ],
  ["another chain", native, withEvm((tx) => ({ ...tx, chainId: 1 })), "built_wrong", /the chain id 84532, got 1/],
  [
    "another chain in words",
    native,
    (answer) => ({ ...answer, network: "eip155:8453" }),
    "built_wrong",
    /the chain of your own node/,
  ],
  [
    "the creation of a contract",
    native,
    withEvm(({ to: _, ...tx }) => tx),
    "built_wrong",
    /unsigned bytes of a type 2 transaction/,
  ],
  [
    "another type",
    native,
    withEvm(({ nonce = 0, gas = 0n }) => ({
      type: "legacy",
      chainId: 84532,
      nonce,
      gas,
      gasPrice: 10n ** 9n,
      to: RECIPIENT,
    })),
    "built_wrong",
    /type 2 transaction/,
  ],
  ["bytes of nothing", native, (answer) => ({ ...answer, transaction: base64Of("0x02ff") }), "built_wrong", /type 2/],
  ["no base64", native, (answer) => ({ ...answer, transaction: "%%" }), "built_wrong", /the base64 of a transaction/],
  ["no transaction", native, (answer) => ({ ...answer, transaction: null }), "built_wrong", /no readable transaction/],
  ["no secret", native, (answer) => ({ ...answer, secret: null }), "built_wrong", /no readable secret/],
  [
    "a gap before its nonce",
    native,
    withEvm((tx) => ({ ...tx, nonce: (tx.nonce ?? 0) + 1 })),
    "built_wrong",
    /the account nonce 0, the next one by your own node, got 1/,
  ],
  [
    "a fee that drains the account by its price",
    native,
    withEvm((tx) => ({ ...tx, maxFeePerGas: 10n ** 13n, maxPriorityFeePerGas: 10n ** 13n })),
    "too_expensive",
    /can be up to [\d.]+ ETH, where at most [\d.]+ ETH is right/,
  ],
  [
    "a fee that drains the account by its gas",
    native,
    withEvm((tx) => ({ ...tx, gas: 100_000_000n })),
    "too_expensive",
    /its network fee can be up to/,
  ],
  ["too little gas", token, withEvm((tx) => ({ ...tx, gas: 21_000n })), "built_wrong", /expected gas for at least/],
  [
    "a tip above its whole price",
    native,
    (answer) => {
      // viem writes no such thing.
      const fields = readUnsigned(Buffer.from(answer.transaction ?? "", "base64"));
      if (!fields) throw new Error("the gateway built nothing");
      const changed = { ...fields, maxPriorityFeePerGas: fields.maxFeePerGas + 1n };
      return { ...answer, transaction: Buffer.from(writeTransaction(changed)).toString("base64") };
    },
    "built_wrong",
    /its tip is above/,
  ],
];

describe("signAndSend on EVM, by a gateway that answers with", () => {
  it.each(LIES)("%s: nothing is signed", async (_, given, lie, code, words) => {
    const before = await evm.native.balanceOf(account.address);
    const refused = await refusalOf(order(given, lie));
    expect([refused.code, refused.money]).toEqual([code, "none"]);
    expect(refused.message).toMatch(words);
    expect(signed).toBe(0);
    expect(await evm.native.balanceOf(account.address)).toBe(before);
  });
});
