// What `local()` takes, as schemas: one for the networks of each chain family. The types of its options are inferred here.
// No message holds a key or a whole URL.
import * as z from "zod/mini";
import { type Hex, isHex } from "../chains/evm/hex.js";
import type { SettlerAccount } from "../chains/evm/settlers.js";
import { addressOfSecret, type SolanaAccount } from "../chains/solana/settlers.js";
import { isAddressOf } from "../networks.js";
import type { Logger } from "../settings.js";
import { isByteList, keyProblem, solanaKeyProblem, urlProblem } from "./option-words.js";

const isUrl = (value: unknown): value is string =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
export const url = z.custom<string>(isUrl, {
  error: ({ input }) => urlProblem(input, "a JSON-RPC node", "https://rpc.example"),
});
const address = z
  .string("expected an address")
  .check(
    z.refine((value) => isAddressOf("evm", value), "expected 0x and 40 hex digits (check the mixed-case checksum)"),
  );
const mint = z
  .string("expected the address of a mint")
  .check(z.refine((value) => isAddressOf("solana", value), "expected the address of a mint: base58 of 32 bytes"));

const has = (value: object, name: string): boolean => typeof Reflect.get(value, name) === "function";

const isAccount = (value: unknown): value is SettlerAccount =>
  typeof value === "object" &&
  value !== null &&
  isHex(Reflect.get(value, "address"), 20) &&
  has(value, "signTransaction");

export const settler = z.custom<Hex | SettlerAccount>((value) => isHex(value, 32) || isAccount(value), {
  error: ({ input }) => keyProblem(input),
});

function isSolanaAccount(value: unknown): value is SolanaAccount {
  if (typeof value !== "object" || value === null) return false;
  const own: unknown = Reflect.get(value, "address");
  return typeof own === "string" && isAddressOf("solana", own) && has(value, "signMessage");
}

export const solanaSettler = z.custom<string | SolanaAccount>(
  (value) => (typeof value === "string" ? addressOfSecret(value) !== undefined : isSolanaAccount(value)),
  { error: ({ input }) => solanaKeyProblem(input) },
);

/** `asOne`: what is wrong with a list that was meant as one value. */
export const listOf = <T extends z.ZodMiniType>(item: T, what: string, asOne?: (list: unknown) => string | undefined) =>
  z.union([item, z.array(item).check(z.minLength(1, `expected at least one ${what}, got an empty list`))], {
    error: ({ input, errors }) =>
      asOne?.(input) ?? formProblem(input, errors) ?? `expected one ${what} or a list of them`,
  });

const issuesOfForms = z.array(z.array(z.object({ message: z.string(), path: z.array(z.unknown()) })));

/** The first problem that the form which was written has: one value, or a list of them. */
function formProblem(input: unknown, errors: unknown): string | undefined {
  const forms = issuesOfForms.safeParse(errors);
  const [issue] = (forms.success && forms.data[Array.isArray(input) ? 1 : 0]) || [];
  const [index] = issue?.path ?? [];
  return issue && (typeof index === "number" ? `entry ${index + 1}: ${issue.message}` : issue.message);
}

/** CAIP-2, where the key is a name of your own: see `evm()` and `solana()`. */
const id = z.optional(z.string("expected a CAIP-2 id"));

/** Milliseconds that one settlement may take before its outcome counts as unknown; by default 10,000 on EVM, 20,000 on Solana. */
export const settleMs = z.optional(
  z
    .int("expected whole milliseconds")
    .check(z.minimum(1_000, "expected at least 1000 ms"), z.maximum(300_000, "expected at most 300000 ms")),
);

/** Wei. */
export const maxFeePerGas = z.optional(z.bigint("expected a bigint of wei").check(z.positive()));

export const evmSchema = z.strictObject({
  id,
  rpcUrl: listOf(url, "RPC URL"),
  settler: listOf(settler, "settler"),
  settleMs,
  /** ERC-6492 factories that may deploy a buyer's wallet at your cost; empty by default. */
  eip6492Factories: z.optional(z.array(address, "expected a list of addresses")),
  /** Tokens beyond the built-in table, for the start-up check of their decimals. */
  tokens: z.optional(
    z.array(
      z.object({ address, decimals: z.int("expected a whole number").check(z.minimum(0), z.maximum(77)) }),
      "expected a list of { address, decimals }",
    ),
  ),
  maxFeePerGas,
  /** Milliseconds between blocks, for chains beyond the built-in table. */
  blockMs: z.optional(z.int("expected whole milliseconds").check(z.minimum(1, "expected at least 1 ms"))),
});

/** The most that the chain grants one transaction. */
const MAX_COMPUTE_UNITS = 1_400_000;
/** A payment has two signatures, and each costs 5,000: with less nothing could ever be settled. */
const LEAST_FEE_LAMPORTS = 10_000n;

const EXTENSIONS = ["transfer-fee", "transfer-hook", "permanent-delegate"] as const;

export const tokenSchema = z.strictObject(
  {
    /** The mint. */
    address: mint,
    /** Extensions with which it is taken although they let less arrive, or let others take it back. */
    allow: z.optional(
      z.array(z.enum(EXTENSIONS, `expected one of ${EXTENSIONS.join(", ")}`), "expected a list of extensions"),
    ),
  },
  "expected { address, allow }",
);

const lamports = "expected a bigint of lamports";
export const solanaSchema = z.strictObject({
  id,
  rpcUrl: listOf(url, "RPC URL"),
  settler: listOf(solanaSettler, "settler", (list) => (isByteList(list) ? solanaKeyProblem(list) : undefined)),
  settleMs,
  /** What a buyer's transaction may ask for, 200,000. */
  maxComputeUnits: z.optional(
    z
      .int("expected a whole number of compute units")
      .check(
        z.minimum(1, "expected at least 1 compute unit"),
        z.maximum(MAX_COMPUTE_UNITS, `expected at most ${MAX_COMPUTE_UNITS}, which is the chain's own limit`),
      ),
  ),
  /** Micro-lamports a compute unit, 5,000,000. */
  maxUnitPrice: z.optional(
    z.bigint("expected a bigint of micro-lamports").check(z.minimum(0n, "expected micro-lamports from 0n")),
  ),
  /** What one payment may cost you, signatures included, 20,000. */
  maxTotalFeeLamports: z.optional(
    z
      .bigint(lamports)
      .check(z.minimum(LEAST_FEE_LAMPORTS, `${lamports} from ${LEAST_FEE_LAMPORTS}n, which two signatures cost`)),
  ),
  /** Token-2022 mints whose extensions you accept. */
  tokens: z.optional(z.array(tokenSchema, "expected a list of { address, allow }")),
});

export const common = {
  /** Milliseconds for one call to a node, 3,000. */
  timeoutMs: z.optional(z.int("expected whole milliseconds").check(z.minimum(100, "expected at least 100 ms"))),
  logger: z.optional(z.custom<Logger>((value) => typeof value === "object" && value !== null, "expected a logger")),
};

export const localSchema = z.strictObject({
  networks: z.record(
    z.string(),
    z.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
      error: "expected { rpcUrl, settler }",
    }),
    "expected { [network]: { rpcUrl, settler } }",
  ),
  ...common,
});

/** One EVM network of `local()`. */
export type LocalNetworkOptions = z.infer<typeof evmSchema>;
/** One Solana cluster of `local()`. */
export type LocalSolanaOptions = z.infer<typeof solanaSchema>;
export type LocalOptions = Omit<z.infer<typeof localSchema>, "networks"> & {
  /** By name or CAIP-2 id; the network's family decides which of the two forms its entry has. */
  networks: Readonly<Record<string, LocalNetworkOptions | LocalSolanaOptions>>;
};
