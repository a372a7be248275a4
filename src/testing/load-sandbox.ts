// Opens the sandbox at its first use, so that `tollgate/testing` can be imported where viem is not installed.
import type { Sandbox, SandboxOptions } from "./sandbox.js";

/**
 * Starts a local chain and fills it. About a fifth of a second. Rejects with a sentence that names the package to install
 * when viem or Anvil is missing.
 * @example
 * const sandbox = await createSandbox();
 * const buyer = await sandbox.newBuyer();
 * // … pay, then:
 * await sandbox.token.balanceOf(sandbox.seller); // 10000n
 * await sandbox.close();
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const module = await import("./sandbox.js").catch((error: unknown) => {
    if (!isMissingPackage(error)) throw error;
    throw new Error("The sandbox needs viem: npm install -D viem @foundry-rs/anvil", { cause: error });
  });
  return module.createSandbox(options);
}

const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
