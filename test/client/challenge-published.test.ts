// The 402s of published sellers, in the forms that protocol §1.3, §1.5 and §2.1 describe: each is read, and asks for what it says.
import { describe, expect, it } from "vitest";
import { readChallenge } from "../../src/client/challenge.js";
import { answer402, challengeV2, FEE_PAYER, type Json, MINT, PAYEE, SOLANA_PAYEE, USDC } from "./challenges.js";

const resource = "http://shop.example/report";
const usd = { name: "USDC", version: "2" };
const v1 = (parts: Json): Json => ({
  scheme: "exact",
  network: "base-sepolia",
  maxAmountRequired: "10000",
  resource,
  description: "",
  mimeType: "",
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  asset: USDC,
  extra: usd,
  ...parts,
});
const v2 = (parts: Json): Json => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 300,
  extra: usd,
  ...parts,
});
const solana = { asset: MINT, payTo: SOLANA_PAYEE, extra: { feePayer: FEE_PAYER } };
const BASE = { version: 1, network: { id: "eip155:84532" }, method: "eip3009", amount: 10_000n, asset: USDC };
const DEVNET = { network: { id: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" }, method: "spl", asset: MINT };

const input = { type: "http", method: "GET", discoverable: true };

const SELLERS: Record<string, { header?: Json; body?: unknown; headers?: Record<string, string>; offers: Json[] }> = {
  "x402-express (v1)": {
    body: {
      x402Version: 1,
      error: "X-PAYMENT header is required",
      accepts: [v1({ outputSchema: { input, output: {} } })],
    },
    offers: [BASE],
  },
  "x402-express after a refusal (v1)": {
    body: { x402Version: 1, error: "insufficient_funds", accepts: [v1({})], payer: PAYEE },
    offers: [BASE],
  },
  "x402-hono (v1), five minutes": {
    body: { x402Version: 1, error: "X-PAYMENT header is required", accepts: [v1({ maxTimeoutSeconds: 300 })] },
    offers: [{ ...BASE, maxTimeoutSeconds: 300 }],
  },
  "x402-express on Polygon, its token in lower case (v1)": {
    body: {
      x402Version: 1,
      error: "X-PAYMENT header is required",
      accepts: [
        v1({
          network: "polygon",
          asset: "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359",
          extra: { name: "USD Coin", version: "2" },
        }),
      ],
    },
    offers: [{ network: { id: "eip155:137" }, asset: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359" }],
  },
  "x402-express on Solana (v1)": {
    body: {
      x402Version: 1,
      error: "X-PAYMENT header is required",
      accepts: [v1({ network: "solana-devnet", ...solana })],
    },
    offers: [DEVNET],
  },
  "a seller of the v1 text: outputSchema null, no extra": {
    body: {
      x402Version: 1,
      error: "",
      accepts: [v1({ outputSchema: null, extra: undefined, description: undefined })],
    },
    offers: [BASE],
  },
  "@x402/express and @x402/hono (v2): header, body {}": {
    header: challengeV2([v2({}), v2({ network: DEVNET.network.id, ...solana })], {
      extensions: { bazaar: { info: { input }, schema: { type: "object" } } },
    }),
    body: {},
    headers: { "Cache-Control": "no-store" },
    offers: [{ ...BASE, version: 2 }, DEVNET],
  },
  "@x402/express with an offer by Permit2 and one of another scheme (v2)": {
    header: challengeV2([
      v2({ extra: { ...usd, assetTransferMethod: "permit2" } }),
      v2({ scheme: "upto", extra: { ...usd, assetTransferMethod: "permit2", facilitatorAddress: PAYEE } }),
      v2({}),
    ]),
    body: {},
    offers: [{ ...BASE, version: 2, index: 2 }],
  },
  "x402-rs (v2): header, no body": {
    header: challengeV2([v2({})], { error: "Payment-Signature header is required" }),
    offers: [{ ...BASE, version: 2 }],
  },
  "x402-rs (v2): optional members null": {
    header: {
      x402Version: 2,
      error: null,
      resource: { url: resource, description: null, mimeType: null },
      accepts: [v2({})],
      extensions: null,
    },
    offers: [{ ...BASE, version: 2 }],
  },
  "@faremeter/middleware (v1), its own name of the main cluster": {
    body: {
      x402Version: 1,
      error: "",
      accepts: [
        v1({ network: "solana-mainnet-beta", ...solana, asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" }),
        v1({ network: "eip155:84532" }),
      ],
    },
    offers: [{ network: { id: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" } }, BASE],
  },
  "@faremeter/middleware (v1 and v2), with what its own client needs": {
    header: challengeV2([
      v2({
        network: DEVNET.network.id,
        ...solana,
        extra: {
          feePayer: FEE_PAYER,
          decimals: 6,
          recentBlockhash: "4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn",
          lastValidBlockHeight: "1234",
          tokenProgram: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        },
      }),
    ]),
    body: { x402Version: 1, error: "", accepts: [] },
    offers: [{ ...DEVNET, version: 2 }],
  },
  "mppx (v2): the method is named, members in order of their names, another scheme of authentication beside it": {
    header: {
      accepts: [v2({ extra: { assetTransferMethod: "eip3009", ...usd } })],
      error: "PAYMENT-SIGNATURE header is required",
      extensions: { mppx: { info: { method: "GET" }, schema: { type: "object", required: ["method"] } } },
      resource: { url: resource },
      x402Version: 2,
    },
    body: { type: "https://paymentauth.org/problems/payment-required", title: "Payment Required", status: 402 },
    headers: { "WWW-Authenticate": 'Payment id="x", realm="shop.example", method="evm", intent="charge"' },
    offers: [{ ...BASE, version: 2 }],
  },
  "tollgate: both versions in one answer, upfront": {
    header: challengeV2([v2({ extra: { ...usd, paymentFlow: "upfront" } })]),
    body: { x402Version: 1, error: "payment_required", accepts: [v1({})], code: "payment_required", expected: "x" },
    offers: [{ ...BASE, version: 2, flow: "upfront" }],
  },
};

describe("the challenge of", () => {
  it.each(Object.entries(SELLERS))("%s is read", async (_name, { offers, ...answer }) => {
    const read = await readChallenge(answer402(answer));
    expect(read).toMatchObject({ ok: true });
    expect(read.ok && read.challenge.offers).toMatchObject(offers);
  });
});
