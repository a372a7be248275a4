// One route for every wallet: two networks, two tokens and both chains' own currencies in one offer list, settled by one
// `local()` over both sandboxes.
import { randomBytes } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { local } from "../../src/receive/local.js";
import {
  anyOf,
  type Challenge,
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  evmTransferPayer,
  type Payer,
  pay,
  readChallenge,
  readReceipt,
  type Sandbox,
  type SolanaSandbox,
  signPayment,
  solPayer,
  splPayer,
} from "../../src/testing/index.js";
import { type Framework, type Seller, startSeller } from "./seller.js";
import { olderStore } from "./world.js";

const FRAMEWORKS: readonly Framework[] = ["Express 5", "Hono"];
const PRICES = ["0.0002 ETH", "$0.01", "0.001 SOL"];

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

describe.each(FRAMEWORKS)("a route on two chains, on %s", (framework) => {
  let seller: Seller;
  let payTo: { readonly evm: `0x${string}`; readonly solana: string };
  let wallets: Readonly<Record<Kind, Payer>>;
  type Kind = "USDC on Base" | "USDC on Solana" | "SOL" | "ETH";
  const KINDS: readonly Kind[] = ["USDC on Base", "USDC on Solana", "SOL", "ETH"];

  beforeAll(async () => {
    payTo = { evm: `0x${randomBytes(20).toString("hex")}`, solana: Keypair.generate().publicKey.toBase58() };
    await solana.token.mint(payTo.solana, 0n);
    const receive = local({
      networks: {
        "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey },
        "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
      },
    });
    const options = { networks: ["base-sepolia", "solana-devnet"], payTo, receive, store: olderStore() };
    seller = await startSeller(framework, { ...options, logger: silentLogger }, PRICES);
    await seller.ready();
    const [account, wallet] = [await evm.newBuyer(), await solana.newBuyer()];
    await evm.native.setBalances([account.address], 10n ** 18n);
    const [onEvm, onSolana] = [{ rpcUrl: evm.rpcUrl }, { rpcUrl: solana.rpcUrl }];
    wallets = {
      "USDC on Base": eip3009Payer(account),
      "USDC on Solana": splPayer(wallet, onSolana),
      SOL: solPayer(wallet, onSolana),
      ETH: evmTransferPayer(account, onEvm),
    };
  });
  afterAll(() => seller?.close());

  const challenge = (version: 1 | 2): Promise<Challenge> =>
    fetch(`${seller.url}/report`).then((answer) => readChallenge(answer, version));
  const received = async (): Promise<Record<Kind, bigint>> => ({
    "USDC on Base": await evm.token.balanceOf(payTo.evm),
    "USDC on Solana": await solana.token.balanceOf(payTo.solana),
    SOL: await solana.native.balanceOf(payTo.solana),
    ETH: await evm.native.balanceOf(payTo.evm),
  });
  const AMOUNTS: Readonly<Record<Kind, bigint>> = {
    "USDC on Base": 10_000n,
    "USDC on Solana": 10_000n,
    SOL: 1_000_000n,
    ETH: 200_000_000_000_000n,
  };

  it("offers tokens first and what only a transaction can pay last, the same list each time", async () => {
    const { accepts } = await challenge(2);
    const kinds = accepts.map((offer) => KINDS.find((kind) => wallets[kind].takes(offer)));
    expect(kinds).toEqual(["USDC on Base", "USDC on Solana", "ETH", "SOL"]);
    expect(accepts[1]?.extra).toMatchObject({ feePayer: solana.feePayer.publicKey.toBase58() });
    expect((await challenge(2)).accepts).toEqual(accepts);
    // Buyers of v1 throw at an entry that they cannot sign.
    const v1 = (await challenge(1)).accepts;
    expect(v1.map(({ network, asset }) => [network, asset])).toEqual([
      ["base-sepolia", evm.token.address],
      ["solana-devnet", solana.usdc],
    ]);
  });

  it.each(KINDS.flatMap((kind) => [1, 2].map((version) => [kind, version] as [Kind, 1 | 2])))(
    "takes %s in version %i: exactly its price, and nothing of the others",
    async (kind, version) => {
      const before = await received();
      const own = await challenge(2);
      const offer = own.accepts.find((one) => wallets[kind].takes(one));
      const payment = await signPayment({ payer: wallets[kind], offer: offer!, version, challenge: own });
      const response = await fetch(`${seller.url}/report`, { headers: payment.headers });
      expect([response.status, await response.text()]).toEqual([200, "the goods"]);
      expect(readReceipt(response)).toMatchObject({ success: true });
      expect(await received()).toEqual({ ...before, [kind]: before[kind] + AMOUNTS[kind] });
      expect(seller.runs.at(-1)).toMatchObject({ amount: AMOUNTS[kind] });
    },
  );

  it("is paid by a buyer with several wallets from whichever comes first in the list", async () => {
    const before = await received();
    const payer = anyOf(wallets.SOL, wallets["USDC on Solana"]);
    const { response } = await pay(`${seller.url}/report`, {}, { payer, version: 2 });
    expect(response.status).toBe(200);
    expect((await received())["USDC on Solana"]).toBe(before["USDC on Solana"] + 10_000n);
  });

  it("refuses a payment of one chain that names the other's offer, and moves nothing", async () => {
    const before = await received();
    const own = await challenge(2);
    const [base, devnet] = own.accepts;
    const token = await signPayment({ payer: wallets["USDC on Base"], offer: base!, version: 2, challenge: own });
    const crossed = { ...token.payload, accepted: devnet };
    const header = Buffer.from(JSON.stringify(crossed)).toString("base64");
    const response = await fetch(`${seller.url}/report`, { headers: { "PAYMENT-SIGNATURE": header } });
    const { code } = (await response.json()) as { code?: string };
    expect([response.status, code]).toEqual([402, "offer_mismatch"]);
    expect(await received()).toEqual(before);
  });
});
