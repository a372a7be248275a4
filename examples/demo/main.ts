// `npm start`: a local chain, two sellers, a buyer, and what happens between them in readable lines.
// With `--once` it ends after the purchases: 0 when all of it went right, 1 when anything did not.
import { once } from "node:events";
import { createSandbox } from "tollgate/testing";
import { purchase, visit } from "./purchase.js";
import { startExpressSeller, startHonoSeller } from "./sellers.js";

const sandbox = await createSandbox();
console.log(
  `A local chain answers as Base Sepolia at ${sandbox.rpcUrl}; the test token is at ${sandbox.token.address}.`,
);

const sellers = [await startExpressSeller(sandbox), await startHonoSeller(sandbox)];
for (const { name, origin } of sellers) console.log(`${name} sells at ${origin}`);

const results: boolean[] = [];
for (const { name, origin } of sellers) {
  results.push(await visit(`${name}, a free route`, `${origin}/`));
  const orders = [
    { title: `${name}, one price, x402 v2`, path: "/report", version: 2, price: 10_000n },
    { title: `${name}, one price, x402 v1`, path: "/report", version: 1, price: 10_000n },
    { title: `${name}, a line of the pricing table`, path: "/weather/week", version: 2, price: 5_000n },
    { title: `${name}, a price by the page`, path: "/book?pages=3", version: 2, price: 6_000n },
  ] as const;
  for (const { path, ...order } of orders) results.push(await purchase(sandbox, { ...order, url: `${origin}${path}` }));
}

const wrong = results.filter((right) => !right).length;
console.log(`\n${results.length - wrong} of ${results.length} steps went right.`);
process.exitCode = wrong === 0 ? 0 : 1;

if (!process.argv.includes("--once")) {
  console.log("\nThe sellers keep running. Try it, and end with Ctrl+C:");
  for (const { origin } of sellers) console.log(`  curl -i ${origin}/report`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}
for (const seller of sellers) await seller.close();
await sandbox.close();
