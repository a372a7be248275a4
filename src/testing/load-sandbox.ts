// Opens the sandboxes at their first use, so that `tollgate/testing` can be imported where their packages are not installed.
import { load } from "./load.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";
import type { SolanaSandbox, SolanaSandboxOptions } from "./solana/sandbox.js";

/**
 * Starts a local EVM chain and fills it. About a fifth of a second. Rejects with a sentence that names the package to install
 * when viem or Anvil is missing.
 * @example
 * const sandbox = await createSandbox();
 * const buyer = await sandbox.newBuyer();
 * // … pay, then:
 * await sandbox.token.balanceOf(sandbox.seller); // 10000n
 * await sandbox.close();
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const module = await load(import("./sandbox.js"), "The sandbox needs viem: npm install -D viem @foundry-rs/anvil");
  return module.createSandbox(options);
}

/**
 * Starts a local Solana chain and fills it. About a third of a second. Rejects with a sentence that names the packages to
 * install when one is missing.
 * @example
 * const sandbox = await createSolanaSandbox();
 * const wallet = await sandbox.newBuyer();
 * await pay(url, {}, { payer: splPayer(wallet, { rpcUrl: sandbox.rpcUrl }), version: 2 });
 * await sandbox.token.balanceOf(sandbox.seller); // 10000n
 * await sandbox.close();
 */
export async function createSolanaSandbox(options: SolanaSandboxOptions = {}): Promise<SolanaSandbox> {
  const packages = "@solana/web3.js@1.99.0 litesvm@1.4.1 ws";
  const module = await load(
    import("./solana/sandbox.js"),
    `The Solana sandbox needs packages of its own: npm install -D ${packages}`,
  );
  return module.createSolanaSandbox(options);
}
