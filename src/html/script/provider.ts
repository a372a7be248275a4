// EVM wallets of this browser: announced by EIP-6963, or the one at `window.ethereum`; and how they are asked (EIP-1193).
import { done, type Result, stop } from "./result.js";

export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

export interface EvmWallet {
  readonly family: "evm";
  readonly name: string;
  readonly icon: string | undefined;
  readonly provider: Provider;
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon?: string };
  readonly provider: Provider;
}

/** Calls back for every wallet that makes itself known, now or later. */
export function findEvmWallets(found: (wallet: EvmWallet) => void): void {
  const known = new Set<string>();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    if (known.has(info.uuid)) return;
    known.add(info.uuid);
    const icon = info.icon?.startsWith("data:image/") ? info.icon : undefined;
    found({ family: "evm", name: info.name, icon, provider });
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    const { ethereum } = window as { readonly ethereum?: Provider };
    if (known.size === 0 && ethereum)
      found({ family: "evm", name: "your wallet", icon: undefined, provider: ethereum });
  }, 300);
}

const codeOf = (error: unknown): number | undefined => {
  const { code, data } = Object(error) as {
    readonly code?: number;
    readonly data?: { readonly originalError?: { readonly code?: number } };
  };
  return data?.originalError?.code ?? code;
};

/** A chain that the wallet does not know. */
export const UNKNOWN_CHAIN = "unknown chain";

/** `what`: how the question is called in the words of a refusal. */
export async function ask(
  provider: Provider,
  method: string,
  params: readonly unknown[],
  what: string,
): Promise<Result<unknown>> {
  try {
    return done(await provider.request({ method, params }));
  } catch (error) {
    const code = codeOf(error);
    if (code === 4001) return stop(`You declined ${what}.`, "declined");
    if (code === 4902) return stop(UNKNOWN_CHAIN);
    if (code === -32002) return stop("Your wallet is waiting for you: open it and answer there, then try again.");
    const { message } = Object(error) as { readonly message?: unknown };
    return stop(`Your wallet could not do it: ${typeof message === "string" ? message : String(error)}`, "unclear");
  }
}
