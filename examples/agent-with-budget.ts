// An agent that may spend $0.05 a day, also after a restart: what it spent stands in a file. It pays the hosts of a list only,
// each at most a cent a request, and a second look approves what is dear. URLs come as arguments.
import { BuyerError, evmWallet, payingFetch } from "tollgate/client";
import { fileBuyerStore } from "tollgate/client/file";
import { privateKeyToAccount } from "viem/accounts";

const { TOLLGATE_WALLET_KEY: key, AGENT_STATE: file = "agent-spending.json" } = process.env;
const urls = process.argv.slice(2);

const pay = payingFetch({
  wallets: [evmWallet(privateKeyToAccount(key as `0x${string}`))],
  budget: { perRequest: "$0.01", perDay: "$0.05" },
  hosts: urls.map((url) => new URL(url).host),
  store: fileBuyerStore(file),
  approve: ({ price, host }) => {
    console.log(`${host} asks ${price}`);
    return true; // or ask a person, or another model
  },
});

for (const url of urls) {
  try {
    console.log("bought:", await (await pay(url)).text());
  } catch (error) {
    if (!(error instanceof BuyerError)) throw error;
    console.log(`not bought: ${error.code}`); // over_cap, over_budget, …: the agent goes on with what it has
  }
}
