// `npm start`: two local chains, a gateway, two sellers, buyers with four kinds of money, and what happens between them in
// readable lines. With `--once` it ends after the purchases: 0 when all of it went right, 1 when anything did not.
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { startChains } from "./chains.js";
import { startGateway } from "./gateway.js";
import { checkHistory, purchase, visit } from "./purchase.js";
import { startExpressSeller, startHonoSeller } from "./sellers.js";

const chains = await startChains();
for (const line of chains.lines) console.log(line);
const { usdcOnBase, usdcOnSolana, eth, sol } = chains.assets;

const gateway = await startGateway(chains.networks);
for (const line of gateway.lines) console.log(line);

const sellers = [await startExpressSeller(chains), await startHonoSeller(chains, gateway)];
for (const { name, origin } of sellers) console.log(`${name} sells at ${origin}`);

const orders = [
  { what: "one price, x402 v2", path: "/report", version: 2, asset: usdcOnBase, price: 10_000n },
  { what: "one price, x402 v1", path: "/report", version: 1, asset: usdcOnBase, price: 10_000n },
  { what: "the same price on Solana, x402 v2", path: "/report", version: 2, asset: usdcOnSolana, price: 10_000n },
  { what: "the same price on Solana, x402 v1", path: "/report", version: 1, asset: usdcOnSolana, price: 10_000n },
  { what: "a line of the pricing table", path: "/weather/week", version: 2, asset: usdcOnBase, price: 5_000n },
  { what: "a price by the page", path: "/book?pages=3", version: 2, asset: usdcOnSolana, price: 6_000n },
  { what: "a choice of four, paid in SOL", path: "/map", version: 2, asset: sol, price: 1_000_000n },
  { what: "a choice of four, paid in ETH", path: "/map", version: 2, asset: eth, price: 200_000_000_000_000n },
] as const;

// A buyer who sends his own transaction in the very second in which a seller begins gets nothing for it: blocks tell whole
// seconds, so it might be older than the seller's memory.
await wait(1000 - (Date.now() % 1000));

const results: boolean[] = [];
for (const { name, origin } of sellers) {
  results.push(await visit(`${name}, a free route`, `${origin}/`));
  for (const { what, path, ...order } of orders) {
    results.push(await purchase({ ...order, title: `${name}, ${what}`, url: `${origin}${path}` }));
  }
}
const { evm, solana } = chains.terms.payTo;
const onBase = orders.filter(({ asset }) => asset.seller === evm).length;
results.push(await checkHistory("The gateway's history on Base Sepolia", gateway, evm, onBase));
results.push(await checkHistory("The gateway's history on Solana", gateway, solana, orders.length - onBase));

const wrong = results.filter((right) => !right).length;
console.log(`\n${results.length - wrong} of ${results.length} steps went right.`);
process.exitCode = wrong === 0 ? 0 : 1;

if (!process.argv.includes("--once")) {
  console.log("\nThe sellers keep running; end with Ctrl+C. Buy something, in another terminal in this folder:");
  console.log("  . .cache/demo.env");
  for (const { origin } of sellers) console.log(`  npx tollgate pay ${origin}/report --yes`);
  console.log("Or as a person, in a browser with a wallet on Base Sepolia whose node is the local one:");
  for (const { origin } of sellers) console.log(`  ${origin}/report`);
  console.log(`The wallet ${chains.wallet.address} holds $1 and 0.1 ETH. The gateway's API: ${gateway.url}/docs`);
  console.log(`Its dashboard, by a link that is good for ten minutes and once: ${await gateway.loginLink()}`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}
for (const seller of sellers) await seller.close();
await gateway.close();
await chains.close();
