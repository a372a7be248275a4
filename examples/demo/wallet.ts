// A wallet of your own on the demo's EVM chain, with $1 and 0.1 ETH in it, in a file that a shell reads: with it
// `tollgate pay` buys at the demo's sellers. Worth nothing anywhere else.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";

/** Beside the compiled examples: `.cache/demo.env`. */
const folder = new URL("../../", import.meta.url);
const file = fileURLToPath(new URL("demo.env", folder));

export interface DemoWallet {
  readonly address: string;
  close(): void;
}

export async function createWallet({ token, native, rpcUrl }: Sandbox): Promise<DemoWallet> {
  const key = generatePrivateKey();
  const address = privateKeyToAddress(key);
  await token.mint(address, 1_000_000n);
  await native.setBalances([address], 10n ** 17n);
  mkdirSync(folder, { recursive: true });
  const settings = { TOLLGATE_WALLET_KEY: key, TOLLGATE_RPC_URL_BASE_SEPOLIA: rpcUrl };
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  return { address, close: () => rmSync(file, { force: true }) };
}
