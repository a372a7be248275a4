// Whose configuration it is, a seller's or a gateway's: by what is said on the command line, else by names that only one of the
// two reads. Where both could be meant nothing is guessed.
import { GATEWAY_NAMES, KNOWN_NAMES } from "../../environment.js";
import { usage } from "../io.js";
import type { Config } from "./config-file.js";

export type Meant = "seller" | "gateway";

const SELLER_NAMES = ["PAY_TO", "PRICE", "GATEWAY_URL", "API_KEY", "FACILITATOR_URL", "STORE_URL"].map(
  (name) => `TOLLGATE_${name}`,
);
const SELLER_OPTIONS = words(
  "payTo price routes network receive store flow access replay description cors strict limits",
);
const GATEWAY_OPTIONS = words(
  "port host database redisUrl passphrase plans facilitatorUrls eventOrigins sponsored adminToken assets",
);

function words(text: string): readonly string[] {
  return text.split(" ");
}

interface Said {
  readonly seller?: boolean;
  readonly gateway?: boolean;
}

/** @throws CliError (2) where it cannot be told. */
export function whoIsMeant({ seller, gateway }: Said, { env, options = {}, handle }: Config): Meant {
  if (seller && gateway) throw usage("--seller and --gateway: keep one of them");
  if (seller || handle) return "seller";
  if (gateway) return "gateway";
  const isSet = (name: string) => (env[name] ?? "").trim() !== "";
  const isNetworkMap = Object(options.networks) === options.networks && !Array.isArray(options.networks);
  const forSeller = SELLER_NAMES.filter(isSet).concat(SELLER_OPTIONS.filter((name) => name in options));
  const forGateway = [...GATEWAY_NAMES, "DATABASE_URL"]
    .filter(isSet)
    .concat(GATEWAY_OPTIONS.filter((name) => name in options))
    .concat(isNetworkMap ? ["networks: { … }"] : []);
  const [ofSeller, ofGateway] = [forSeller[0], forGateway[0]];
  if (ofSeller !== undefined && ofGateway !== undefined)
    throw usage(`A seller (${ofSeller}) or a gateway (${ofGateway}) could be meant: say --seller or --gateway`);
  if (ofSeller !== undefined) return "seller";
  if (ofGateway !== undefined) return "gateway";
  const known = KNOWN_NAMES.some(isSet) || Object.keys(env).some((name) => name.startsWith("TOLLGATE_"));
  throw usage(
    known
      ? "Nothing says whose configuration it is: say --seller or --gateway"
      : "There is nothing to check: set TOLLGATE_PAY_TO and the like as the server has them, or name a file: tollgate doctor FILE",
  );
}
