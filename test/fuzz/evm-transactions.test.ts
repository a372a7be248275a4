// Every field of a buyer's own EVM transaction at its boundaries, in ETH and in a token, against a seller on a real chain: no
// goods, nothing sent, not a wei moved, and each refusal says why. The honest ones among them pass.
import { keccak256, parseEther, stringToHex, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import type { PriceObject } from "../../src/price.js";
import { CHAIN_ID, createTransfers, PRICE, TOKEN, type Transfers } from "../chains/evm/transfers.js";
import { type Got, type Seller, send, startSeller } from "../e2e/seller.js";
import { rightTransfer, signMembers, type TransferForgery, type TransferSale } from "./support/transfer-bytes.js";
import { transferForgeries } from "./support/transfer-forgeries.js";

const NONCE = 5n;
const UPFRONT = { assetTransferMethod: "transaction", paymentFlow: "upfront" };

let world: Transfers;
let seller: Seller;
beforeAll(async () => {
  world = await createTransfers();
  const { payTo, network } = world.sandbox;
  const receive = world.sandbox.receive({ rpcUrl: world.rpc.url, tokens: [{ address: TOKEN, decimals: 6 }] });
  const amount = `${PRICE}`;
  const coins: PriceObject = { amount, asset: "native" };
  const tokens: PriceObject = { amount, asset: TOKEN, transferMethod: "transaction", decimals: 6 };
  seller = await startSeller("Hono", { payTo, network, receive }, [coins, tokens]);
  await seller.ready();
});
afterAll(async () => {
  await seller?.close();
  await world?.close();
});

/** The same label is the same account in every run, so that the same bits of a signature are changed. */
const accountOf = (label: string) => privateKeyToAccount(keccak256(stringToHex(label)));

/** A buyer who has sent transactions before, and what a forger knows of the sale. */
async function openSale(asset: TransferSale["asset"]): Promise<TransferSale> {
  const { chain, seller: payTo } = world.sandbox;
  const [buyer, pauper] = [accountOf(`the buyer with ${asset}`), accountOf(`the pauper with no ${asset}`)];
  await chain.rpc("anvil_setBalance", [buyer.address, toHex(parseEther("1"))]);
  await chain.rpc("anvil_setNonce", [buyer.address, toHex(NONCE)]);
  await world.setTokenBalance(buyer.address, 1_000_000n);
  const head = z
    .object({ baseFeePerGas: z.string() })
    .parse(await chain.rpc("eth_getBlockByNumber", ["latest", false]));
  const baseFeePerGas = BigInt(head.baseFeePerGas);
  const fees = { baseFeePerGas, maxFeePerGas: 4n * baseFeePerGas + 10n ** 9n };
  return { asset, amount: PRICE, chainId: BigInt(CHAIN_ID), payTo, token: TOKEN, buyer, pauper, nonce: NONCE, ...fees };
}

async function show({ asset }: TransferSale, { raw, secret }: Pick<TransferForgery, "raw" | "secret">, version: 1 | 2) {
  const { seller: payTo, network } = world.sandbox;
  const payload = { transaction: Buffer.from(raw.slice(2), "hex").toString("base64"), ...(secret && { secret }) };
  const accepted = {
    scheme: "exact",
    network: `eip155:${CHAIN_ID}`,
    asset: asset === "native" ? `0x${"0".repeat(40)}` : asset,
    amount: `${PRICE}`,
    payTo,
    maxTimeoutSeconds: 60,
    extra: UPFRONT,
  };
  const json = version === 1 ? { x402Version: 1, scheme: "exact", network } : { x402Version: 2, accepted };
  const value = Buffer.from(JSON.stringify({ ...json, payload })).toString("base64");
  const headers = { [version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE"]: value };
  const got: Got | undefined = await send(`${seller.url}/report`, { headers });
  if (!got) throw new Error("no answer");
  return got;
}

/** What the two sides hold, and what the buyer has sent. */
async function holdings({ buyer, payTo }: TransferSale) {
  const { native, chain } = world.sandbox;
  return {
    bought: await native.balanceOf(buyer.address),
    earned: await native.balanceOf(payTo),
    tokens: [await world.tokenBalance(buyer.address), await world.tokenBalance(payTo)],
    sent: BigInt(z.string().parse(await chain.rpc("eth_getTransactionCount", [buyer.address, "pending"]))),
  };
}

describe.each([
  ["ETH", "native"],
  ["a token without EIP-3009", TOKEN],
] as const)("forged transactions in %s", (_, asset) => {
  it("buy nothing, move nothing, are never sent, and are each refused with a code that fits", async () => {
    const sale = await openSale(asset);
    const all = await transferForgeries(sale);
    expect(all.length).toBeGreaterThanOrEqual(100);
    const [before, runs] = [await holdings(sale), seller.runs.length];
    expect(before).toMatchObject({ bought: parseEther("1"), sent: NONCE });
    const sends = world.rpc.count("eth_sendRawTransaction");
    const codes = new Map<unknown, number>();
    const wrong: string[] = [];
    for (const [at, forgery] of all.entries()) {
      for (const version of at % 4 === 0 ? ([1, 2] as const) : ([at % 2 ? 1 : 2] as const)) {
        const got = await show(sale, forgery, version);
        const { code, payment } = got.json;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        // Who names a reference and not its secret may be a stranger who copies what its buyer has sent.
        const secretly = got.status === 409 && code === "payment_secret_required";
        const refused = secretly || ((got.status === 400 || got.status === 402) && payment === "none");
        const fits = forgery.codes.includes(String(code));
        if (!refused || !fits) wrong.push(`v${version} ${forgery.name}: ${got.status} ${code} ${payment}`);
      }
    }
    console.info(`${all.length} forged transactions in ${asset}:`, Object.fromEntries(codes));
    expect(wrong).toEqual([]);
    expect(seller.runs).toHaveLength(runs);
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sends);
    expect(await holdings(sale)).toEqual(before);

    // The same buyer, nonce and seller: what is right passes, and moves the price and its own gas.
    const right = { raw: await signMembers(sale.buyer, rightTransfer(sale)) };
    expect((await show(sale, right, 2)).status).toBe(200);
    expect((await show(sale, right, 1)).status).toBe(409);
    const after = await holdings(sale);
    const [coins, tokens] = asset === "native" ? [PRICE, 0n] : [0n, PRICE];
    expect(after.earned - before.earned).toBe(coins);
    expect(after.tokens).toEqual([before.tokens[0]! - tokens, before.tokens[1]! + tokens]);
    expect([after.sent, seller.runs.length]).toEqual([NONCE + 1n, runs + 1]);
  }, 120_000);
});
