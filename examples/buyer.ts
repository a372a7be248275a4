// A program that buys: `fetch`, with a wallet and a budget. Ask any x402 seller, v1 or v2; what is free stays free.
// The wallet's key stands in TOLLGATE_WALLET_KEY, the URL in the first argument.
import { BuyerError, evmWallet, payingFetch } from "tollgate/client";
import { privateKeyToAccount } from "viem/accounts";

const [url = "http://localhost:3000/report"] = process.argv.slice(2);
const account = privateKeyToAccount(process.env.TOLLGATE_WALLET_KEY as `0x${string}`);

const pay = payingFetch({
  wallets: [evmWallet(account)],
  budget: { perRequest: "$0.10", perDay: "$5" },
});

const { offers } = await pay.quote(url);
console.log(`It costs ${offers.map(({ price, network }) => `${price} on ${network}`).join(", or ") || "nothing"}.`);

try {
  const response = await pay(url);
  console.log(response.status, await response.text());
} catch (error) {
  // Whether money moved stands in `error.money`. The same call again never pays anew for a lost answer.
  if (!(error instanceof BuyerError)) throw error;
  console.error(error.code, error.money, error.message);
  process.exitCode = 1;
}
for (const { price, payTo, transaction } of await pay.receipts()) console.log(`${price} to ${payTo}: ${transaction}`);
