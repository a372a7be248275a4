// The wallets of `tollgate pay`: a key of the environment, told by its form to be EVM's or Solana's, or a wallet that a gateway
// holds. A key is never an argument, and no message holds one.

import { addressOfSecret } from "../../chains/solana/settlers.js";
import { evmWallet } from "../../client/evm-wallet.js";
import { gatewayClient } from "../../client/gateway-client.js";
import { hostedWallet } from "../../client/hosted-wallet.js";
import { solanaWallet } from "../../client/solana-wallet.js";
import type { Wallet } from "../../client/wallet.js";
import { createProblems } from "../../config-problems.js";
import { type Environment, rpcUrlsOf, textOf } from "../../environment.js";
import { readSecretSetting } from "../../gateway/options.js";
import { keyProblem, solanaKeyProblem, urlProblem } from "../../receive/option-words.js";
import { CliError, usage } from "../io.js";

const KEY = "TOLLGATE_WALLET_KEY";

export const NO_WALLET =
  `there is no wallet: set ${KEY} to a private key (0x and 64 hex digits, or a Solana secret key in base58), or ${KEY}_FILE ` +
  "to a file that holds one; or TOLLGATE_GATEWAY_URL and TOLLGATE_API_KEY, with --wallet ADDRESS";

/**
 * None where the environment names none.
 *
 * @throws CliError (2), or PaywallConfigError with every problem; neither holds a key or a URL.
 */
export async function walletsOf(env: Environment, hosted: string | undefined): Promise<readonly Wallet[]> {
  const [baseUrl, apiKey] = [textOf(env, "TOLLGATE_GATEWAY_URL"), textOf(env, "TOLLGATE_API_KEY")];
  if (hosted !== undefined) {
    if (baseUrl === undefined || apiKey === undefined)
      throw usage("--wallet is held by a gateway: set TOLLGATE_GATEWAY_URL and TOLLGATE_API_KEY");
    return [tokensOnly(hostedWallet(gatewayClient({ baseUrl, apiKey }), hosted))];
  }
  const secret = readSecretSetting(env, KEY);
  if (secret === undefined) {
    if (baseUrl !== undefined && apiKey !== undefined)
      throw usage("The gateway may hold several wallets: name the one that pays with --wallet ADDRESS");
    return [];
  }
  const nodes = readNodes(env);
  const keys = secret.startsWith("[") ? [secret] : secret.split(",").map((one) => one.trim());
  return Promise.all(keys.map((key) => walletOf(key, nodes)));
}

/**
 * A gateway sends native currency by itself, and a send whose answer is lost is remembered in memory alone: the next run would
 * know nothing of it and pay once more.
 */
const tokensOnly = (wallet: Wallet): Wallet => ({
  ...wallet,
  takes: (offer) =>
    offer.method === "transaction"
      ? "a hosted wallet pays tokens only on the command line, because an unfinished transfer would be forgotten with it"
      : wallet.takes(offer),
});

type Nodes = Parameters<typeof solanaWallet>[1];

function readNodes(env: Environment): Nodes {
  const problems = createProblems("buyer");
  const urls = rpcUrlsOf(env, problems);
  const rpcUrl = textOf(env, "TOLLGATE_RPC_URL");
  if (rpcUrl !== undefined && !(/^https?:\/\//i.test(rpcUrl) && URL.canParse(rpcUrl))) {
    const problem = urlProblem(rpcUrl, "a JSON-RPC node", "https://rpc.example");
    problems.add("TOLLGATE_RPC_URL", "invalid", `${problem} (not shown)`);
  }
  problems.throwIfAny();
  const rpcUrls = Object.fromEntries([...urls].map(([id, { url }]) => [id, url]));
  return { rpcUrls, ...(rpcUrl !== undefined && { rpcUrl }) };
}

async function walletOf(key: string, nodes: Nodes): Promise<Wallet> {
  if (/^0x/i.test(key)) return evmWallet(await accountOf(key), nodes);
  if (/^[0-9a-f]{64}$/i.test(key)) {
    throw refused(
      "64 hex digits may be a key of either family: put 0x in front of one of EVM, write one of Solana in base58",
    );
  }
  if (addressOfSecret(key) === undefined) throw refused(`${solanaKeyProblem(key)}; one of EVM begins with 0x`);
  return solanaWallet(key, nodes);
}

async function accountOf(key: string) {
  if (!/^0x[0-9a-f]{64}$/i.test(key)) throw refused(keyProblem(key));
  const viem = await import("viem/accounts").catch(() => {
    throw new CliError("A wallet on EVM needs a package that is not installed yet:\n  npm install viem", 2);
  });
  try {
    return viem.privateKeyToAccount(`0x${key.slice(2)}`);
  } catch {
    throw refused("it is no private key: its number is 0 or too large");
  }
}

const refused = (problem: string): CliError => new CliError(`${KEY}: ${problem} (not shown)`, 2);
