// viem's accounts, which hosted wallets on EVM need: an optional package, loaded at first use.
import { PaywallConfigError } from "../../errors.js";
import { loadOnce } from "../../receive/load-once.js";

/** @throws PaywallConfigError that names the package to install. */
export const loadAccounts = loadOnce(() =>
  import("viem/accounts").catch((cause: unknown) => {
    const missing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    if (!missing) throw cause;
    const message = "hosted wallets on EVM chains need the package viem, which is not installed: npm install viem";
    throw new PaywallConfigError([{ path: "networks", code: "missing_package", message }]);
  }),
);
