// `tollgate pay`: curl for what costs money. The body goes to standard output as it comes, everything else to standard error; the
// exit code is 0 only where the answer was served.
import { defineCommand } from "./command.js";
import { usage } from "./io.js";
import { buy } from "./pay/buy.js";
import { openBuyer } from "./pay/open-buyer.js";
import { PAY_OPTIONS } from "./pay/options.js";
import { EXIT_CODES } from "./pay/outcome.js";
import { readRequest } from "./request.js";

export const pay = defineCommand({
  name: "pay",
  summary: "Ask a URL as curl does, and pay for it if it costs money and no more than you say",
  operands: ["URL"],
  details: [
    "The wallet is a private key in TOLLGATE_WALLET_KEY, or in the file of TOLLGATE_WALLET_KEY_FILE: 0x and 64 hex digits (EVM),",
    "or base58 (Solana); both with a comma between. Nodes: TOLLGATE_RPC_URL_<NETWORK>, or TOLLGATE_RPC_URL for one network.",
    "USDC on EVM needs no node. A wallet that a gateway holds: TOLLGATE_GATEWAY_URL, TOLLGATE_API_KEY and --wallet.",
    "At a terminal it asks before the first payment to a host; elsewhere an unknown host is not paid without --yes.",
    "What was spent, unfinished payments and approved hosts stand in $XDG_STATE_HOME/tollgate, or ~/.local/state/tollgate.",
    "If an answer gets lost, run the same command again: it sends the same payment, and nothing is paid twice.",
  ],
  options: PAY_OPTIONS,
  exitCodes: EXIT_CODES,
  examples: [
    "tollgate pay https://api.example/report",
    'tollgate pay https://api.example/translate -d \'{"text":"hello"}\' --max 0.05 --yes --json',
    "tollgate pay https://api.example/report --quote",
  ],
  async run(values, io, [url = ""]) {
    if (values.json && values.output !== undefined) throw usage("--json and --output: keep one of them");
    const request = await readRequest(url, values, io);
    const stopped = new AbortController();
    const forget = io.onStop(() => {
      // The next signal ends the process at once, as the system does by itself.
      forget();
      stopped.abort();
    });
    try {
      await buy(await openBuyer(values, io, request, stopped.signal), request, values, io);
    } finally {
      forget();
    }
  },
});
