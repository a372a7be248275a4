// Everything that a run of `tollgate pay` needs, from its options, the environment and what earlier runs have left.
import { readOptions } from "../../client/options.js";
import { createPayingFetch } from "../../client/paying-fetch.js";
import type { Wallet } from "../../client/wallet.js";
import { PaywallConfigError } from "../../errors.js";
import { type Io, usage } from "../io.js";
import type { WrittenRequest } from "../request.js";
import { createApproval } from "./approval.js";
import { readLimits } from "./limits.js";
import type { PayValues } from "./options.js";
import { createProgress } from "./progress.js";
import { holdProofs, openState } from "./state.js";
import { NO_WALLET, walletsOf } from "./wallets.js";

export type OpenBuyer = Awaited<ReturnType<typeof openBuyer>>;

/** @throws CliError or PaywallConfigError (2) with every problem. */
export async function openBuyer(values: PayValues, io: Io, { url }: WrittenRequest, signal: AbortSignal) {
  const { host } = new URL(url);
  const limits = named(() => readLimits(values.max, values["per-day"]));
  const wallets = await walletsOf(io.env, values.wallet);
  if (wallets.length === 0 && !values.quote) throw usage(NO_WALLET.replace(/^t/, "T"));
  const state = openState(io.env);
  const progress = createProgress(io);
  const held = holdProofs(state.store, progress.isSent);
  const most = limits.perRequest.join(" or ");
  const approval = createApproval(io, { yes: values.yes, most, state, signal });
  const settings = named(() =>
    readOptions({
      wallets: wallets.length > 0 ? wallets : [NOBODY],
      budget: { perRequest: limits.perRequest, perDay: limits.perDay },
      store: held.store,
      ...(values.network && { networks: values.network }),
      ...(values["allow-http"] && { allowHttp: [host] }),
      // Somebody waits at a terminal, and running the command again sends the same payment again.
      resend: { times: 2 },
      approve: approval.approve,
      onEvent: progress.onEvent,
    }),
  );
  return { host, state, progress, held, approval, signal, fetch: createPayingFetch(settings) };
}

/** Asks what it would cost where there is nobody who pays. */
const NOBODY: Wallet = {
  address: "none",
  takes: () => NO_WALLET,
  sign: async () => ({ ok: false, code: "signing_failed", message: NO_WALLET }),
};

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^budget\.perRequest/, "--max"],
  [/^budget\.perDay/, "--per-day"],
  [/^networks/, "--network"],
  [/^allowHttp/, "--allow-http"],
];

/** Problems under the names of the command line, and without what can be written in code only. */
function named<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    const nameOf = (path: string) => NAMES.find(([is]) => is.test(path))?.[1] ?? path;
    const problems = error.problems.map(({ path, code, message }) => ({
      path: nameOf(path),
      code,
      message: message
        .replace(/, or \{ amount, asset, network \} for another token/, "")
        .replace(', "0.001 SOL"', ' or "0.001 SOL"')
        .replace('"$0.10"', '"0.10"'),
    }));
    throw new PaywallConfigError(problems, "buyer");
  }
}
