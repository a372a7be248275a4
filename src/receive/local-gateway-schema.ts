// What `local()` takes where a gateway builds what the seller signs, as one schema; the type of its options is inferred here.
// No message holds a key or a whole URL.
import * as z from "zod/mini";
import type { Hex } from "../chains/evm/hex.js";
import type { SettlerAccount } from "../chains/evm/settlers.js";
import type { SolanaAccount } from "../chains/solana/settlers.js";
import { API_KEY, isBaseUrl, token } from "./hosted-options.js";
import { common, listOf, maxFeePerGas, settleMs, settler, solanaSettler, url } from "./local-schema.js";
import { urlProblem, walletProblem } from "./option-words.js";

const gateway = z.strictObject(
  {
    baseUrl: z.custom<string>((value) => typeof value === "string" && isBaseUrl(value), {
      error: ({ input }) =>
        urlProblem(input, "the gateway, without credentials, query or fragment", "https://pay.example"),
    }),
    /** With the scope `receive` or `build`. */
    apiKey: z.custom<string>((value) => typeof value === "string" && API_KEY.test(value), {
      error: ({ input }) => {
        const got = input === undefined ? "nothing" : input === "" ? "an empty text" : "something else (not shown)";
        return `expected a key of the gateway with the scope "receive" or "build": tg_live_… or tg_test_…; got ${got}`;
      },
    }),
    /** Milliseconds for one call to the gateway, 5,000. */
    timeoutMs: z.optional(
      z
        .int("expected whole milliseconds")
        .check(z.minimum(100, "expected at least 100 ms"), z.maximum(60_000, "expected at most 60000 ms")),
    ),
  },
  "expected { baseUrl, apiKey }",
);

/** The wallet that is paid and signs: one key or account, or one of each chain family. */
export type Wallet = Hex | string | SettlerAccount | SolanaAccount | Wallets;
export type Wallets =
  | { readonly evm: Hex | SettlerAccount; readonly solana?: string | SolanaAccount }
  | { readonly evm?: Hex | SettlerAccount; readonly solana: string | SolanaAccount };

const walletSchema = z.custom<Wallet>((value) => readWallet(value).ok, {
  error: ({ input }) => {
    const read = readWallet(input);
    return read.ok ? walletProblem(input) : read.message;
  },
});

export interface OwnWallets {
  readonly evm?: Hex | SettlerAccount;
  readonly solana?: string | SolanaAccount;
}

export type ReadWallet =
  | { readonly ok: true; readonly wallets: OwnWallets }
  | { readonly ok: false; readonly family?: "evm" | "solana"; readonly message: string };

/** By its form. A seed in hex has the form of a key of EVM, so for Solana it stands in `{ solana }`. */
export function readWallet(value: unknown): ReadWallet {
  const evm = settler.safeParse(value);
  if (evm.success) return { ok: true, wallets: { evm: evm.data } };
  const isSeed = typeof value === "string" && /^(?:0x)?[0-9a-f]+$/i.test(value);
  const solana = isSeed ? undefined : solanaSettler.safeParse(value);
  if (solana?.success) return { ok: true, wallets: { solana: solana.data } };
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || keys.some((key) => key !== "evm" && key !== "solana")) {
    return { ok: false, message: walletProblem(value) };
  }
  return readBoth({ evm: Reflect.get(Object(value), "evm"), solana: Reflect.get(Object(value), "solana") });
}

function readBoth(given: { readonly evm: unknown; readonly solana: unknown }): ReadWallet {
  const evm = given.evm === undefined ? undefined : settler.safeParse(given.evm);
  const solana = given.solana === undefined ? undefined : solanaSettler.safeParse(given.solana);
  if (evm?.success === false) return { ok: false, family: "evm", message: wordOf(evm.error) };
  if (solana?.success === false) return { ok: false, family: "solana", message: wordOf(solana.error) };
  if (!evm && !solana) return { ok: false, message: walletProblem(undefined) };
  return { ok: true, wallets: { ...(evm && { evm: evm.data }), ...(solana && { solana: solana.data }) } };
}

const wordOf = ({ issues }: z.core.$ZodError): string => issues.map(({ message }) => message).join("; ");

export const urlsSchema = listOf(url, "RPC URL");
type Urls = z.infer<typeof urlsSchema>;

const isMap = (value: unknown): value is Readonly<Record<string, Urls>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One for the one network that is sold on, or a map; what is wrong inside a map is told of each entry by the reader. */
const rpcUrl = z.custom<Urls | Readonly<Record<string, Urls>>>(
  (value) => isMap(value) || urlsSchema.safeParse(value).success,
  {
    error: ({ input }) =>
      urlProblem(input, "a JSON-RPC node (or a map of networks to such URLs)", "https://rpc.example"),
  },
);

/** The entries of a map; undefined where it is one URL, or none. */
export const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] | undefined =>
  isMap(value) ? Object.entries(value) : undefined;

export const localGatewaySchema = z.strictObject({
  /** Verifies too, and builds each transaction. */
  gateway,
  wallet: walletSchema,
  /** Of your own node: one, where one network is sold on, or one for each network. */
  rpcUrl,
  /** Tokens beyond the built-in table: the gateway is told amounts in whole units. */
  tokens: z.optional(z.array(token, "expected a list of { network, address, decimals }")),
  settleMs,
  maxFeePerGas,
  ...common,
});

export type LocalGatewayOptions = z.infer<typeof localGatewaySchema>;
