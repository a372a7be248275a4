// The options of `createGateway()` as schemas: their types are inferred here, and what does not compile is refused at run
// time by the same schema. The networks are those of `local()`, without the duty to bring a settler.
import * as z from "zod/mini";
import { whole, wrong } from "../../config-schema.js";
import { isPublicUrl } from "../../option-schema.js";
import { evmSchema, solanaSchema } from "../../receive/local-schema.js";
import { ENDPOINTS } from "../settings.js";
import { tokenProblem, wrongSecret } from "./words.js";

const text = (fits: (value: string) => boolean, words: ReturnType<typeof wrong>) =>
  z.custom<string>((value) => typeof value === "string" && fits(value), words);

/** A bearer token that the operator made. */
const token = z.custom<string>((value) => typeof value === "string" && tokenProblem(value) === undefined, {
  error: ({ input }) =>
    (typeof input === "string" && tokenProblem(input)) || "expected a token of 32 characters or more",
});

const ofProtocol = (value: string, protocols: readonly string[]): boolean =>
  URL.canParse(value) && protocols.includes(new URL(value).protocol);

/** Without TLS on this machine alone: a facilitator that the operator runs beside the gateway. */
const isFacilitatorUrl = (value: string): boolean =>
  isPublicUrl(value) && /^(?:https:|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$))/i.test(value);

const DATABASE = wrongSecret('expected { file: "./tollgate.db" } or { url: "postgres://user:password@host/name" }');
const database = z.union(
  [
    z.strictObject({ file: z.string().check(z.minLength(1)), url: z.optional(z.undefined()) }),
    z.strictObject({
      url: text((value) => ofProtocol(value, ["postgres:", "postgresql:"]), wrongSecret("expected postgres://…")),
      file: z.optional(z.undefined()),
    }),
  ],
  DATABASE,
);

const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
/** Whole units of an asset. */
const decimal = text(
  (value) => value.length <= 80 && DECIMAL.test(value),
  wrong('expected decimal text in whole units, for example "0.001"'),
);

const SYMBOL = /^[\w.$+-]{1,16}$/;
export const ownAsset = z.strictObject(
  {
    address: text((value) => value.length <= 64, wrong("expected the address of the token")),
    symbol: text((value) => SYMBOL.test(value), wrong('expected a symbol such as "USDC"')),
    decimals: whole(0, 77, "the token's decimals"),
    /** EIP-712 domain, where it can be paid by an EIP-3009 authorization. */
    domain: z.optional(z.strictObject({ name: z.string(), version: z.string() }, "expected { name, version }")),
    /** Where it is not the classic program of Solana. */
    tokenProgram: z.optional(z.string("expected the address of the token program")),
    /** What a settlement that the gateway pays for moves at least, in whole units. */
    minimum: z.optional(decimal),
  },
  wrong("expected { address, symbol, decimals }, or the symbol of a token of the built-in table"),
);
export type OwnAsset = z.infer<typeof ownAsset>;

const ofNetwork = {
  /** Tokens that may be moved beside the network's own currency; by default all that the built-in table has for it. */
  assets: z.optional(
    z.readonly(
      z.array(
        z.union([z.string(), ownAsset], wrong('expected "USDC" or { address, symbol, decimals }')),
        wrong("expected a list of assets"),
      ),
    ),
  ),
  /** By symbol or address: what a settlement that the gateway pays for moves at least, in whole units. */
  minimums: z.optional(z.record(z.string(), decimal, wrong('expected minimums such as { USDC: "0.001" }'))),
};

export const evmNetworkSchema = z.extend(z.omit(evmSchema, { settler: true }), {
  /**
   * Key or keys of accounts whose gas settles authorizations, which is how USDC is paid. Without one a buyer can only pay by a
   * transaction of his own: he signs it, and its gas is his.
   */
  settler: z.optional(evmSchema.shape.settler),
  /** Blocks that make a payment `confirmed`, its own included; 1. */
  confirmations: z.optional(whole(1, 10_000, "a whole number of blocks")),
  ...ofNetwork,
});

export const solanaNetworkSchema = z.extend(z.omit(solanaSchema, { settler: true }), {
  /**
   * Key or keys of accounts that pay the network fee of token payments. Without one a buyer can only pay by a SOL transfer of
   * his own: he signs it, and its fee is his.
   */
  settler: z.optional(solanaSchema.shape.settler),
  ...ofNetwork,
});

const plan = z.strictObject(
  {
    /** Requests a minute; `key` = set for each key. */
    perMinute: z.union([z.literal("key"), whole(1, 10_000_000)], wrong('expected requests a minute, or "key"')),
    /** All of them where it is left out. */
    endpoints: z.optional(
      z.readonly(
        z.array(
          z.enum(ENDPOINTS, wrong(`expected one of ${ENDPOINTS.join(", ")}`)),
          wrong("expected a list of endpoints"),
        ),
      ),
    ),
    /** Of all event sockets of an account: 5 at once and 50 messages a second; `key` = in proportion to the key's rate. */
    events: z.optional(
      z.union(
        [z.literal("key"), z.strictObject({ connections: whole(0, 100_000), messagesPerSecond: whole(1, 1_000_000) })],
        wrong('expected { connections, messagesPerSecond }, or "key"'),
      ),
    ),
  },
  wrong("expected { perMinute, endpoints, events }"),
);

/** As a browser writes it. */
const isOrigin = (value: string): boolean =>
  /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : "") && new URL(value).origin === value.toLowerCase();

const count = z.optional(whole(0, 100_000_000));

export const gatewaySchema = z.strictObject(
  {
    /** 4020; 0 = any that is free. */
    port: z.optional(whole(0, 65_535, "a port")),
    /** 127.0.0.1: reached from this machine only. */
    host: z.optional(text((value) => /^[\w.:-]{1,253}$/.test(value), wrong('expected an address such as "0.0.0.0"'))),
    /** Under which callers reach it. */
    publicUrl: z.optional(
      text(isPublicUrl, wrong("expected https://host[:port][/path] without credentials, query or fragment")),
    ),
    /** A SQLite file (./tollgate.db), or a Postgres that several instances share. */
    database: z.optional(database),
    /** Limits and events of several instances. */
    redisUrl: z.optional(
      text((value) => ofProtocol(value, ["redis:", "rediss:"]), wrongSecret("expected redis://host:6379")),
    ),
    /** Opens hosted wallets; never stored. */
    passphrase: z.optional(text((value) => value !== "", wrongSecret("expected a passphrase"))),
    networks: z.optional(
      z.record(
        z.string(),
        z.custom<object>(
          (value) => typeof value === "object" && value !== null && !Array.isArray(value),
          wrong("expected { rpcUrl, settler }"),
        ),
        wrong("expected { [network]: { rpcUrl, settler } }"),
      ),
    ),
    /** Beside `standard`, `premium` and `enterprise`, or in their place. */
    plans: z.optional(z.record(z.string(), plan, wrong("expected plans such as { standard: { perMinute: 100 } }"))),
    /** Facilitators that callers may name; none by default. */
    facilitatorUrls: z.optional(
      z.readonly(
        z.array(
          text(isFacilitatorUrl, wrong("expected https://host[:port][/path] without credentials, query or fragment")),
          wrong("expected a list of URLs"),
        ),
      ),
    ),
    /** Web origins whose pages may open an event socket, beside the gateway's own; none by default. */
    eventOrigins: z.optional(
      z.readonly(
        z.array(
          text(isOrigin, wrong("expected an origin such as https://shop.example, without a path")),
          wrong("expected a list of origins"),
        ),
      ),
    ),
    /** Settlements a day that the gateway pays for. */
    sponsored: z.optional(
      z.strictObject({ perAccount: count, perPayer: count }, wrong("expected { perAccount, perPayer }")),
    ),
    /** Bearer of the operator's API; without one there is no such API. */
    adminToken: z.optional(token),
    /** The page for people under /dashboard; true. */
    dashboard: z.optional(z.boolean(wrong("expected true or false; on or off in the environment"))),
    /** Bearer of /metrics beyond loopback. */
    metricsToken: z.optional(token),
    /** Proxies in front, whose X-Forwarded-For is believed; 0. */
    trustProxy: z.optional(whole(0, 16, "the number of proxies in front,")),
    /** Milliseconds that a shutdown waits for requests under way; 10,000. */
    shutdownMs: z.optional(whole(0, 600_000, "whole milliseconds")),
  },
  wrong("expected an object of options"),
);

type EvmNetwork = z.infer<typeof evmNetworkSchema>;
type SolanaNetwork = z.infer<typeof solanaNetworkSchema>;
/** What only the other has does not compile here. */
type Without<Own, Other> = Own & { readonly [Name in Exclude<keyof Other, keyof Own>]?: undefined };

/** One EVM network of a gateway: as `local()` has it, with what the gateway adds. */
export type GatewayEvmOptions = Without<EvmNetwork, SolanaNetwork>;
/** One Solana cluster of a gateway. */
export type GatewaySolanaOptions = Without<SolanaNetwork, EvmNetwork>;
export type NetworkOptions = GatewayEvmOptions | GatewaySolanaOptions;

/** What `createGateway()` takes. The environment fills what is left out. */
export type GatewayOptions = Omit<z.infer<typeof gatewaySchema>, "networks"> & {
  /** By name or CAIP-2 id. The first of each chain family is the default among main and among test networks. */
  readonly networks?:
    | Readonly<Record<string, PartialUrl<GatewayEvmOptions> | PartialUrl<GatewaySolanaOptions>>>
    | undefined;
};
/** TOLLGATE_RPC_URL_<NETWORK> may stand in its place. */
type PartialUrl<Entry extends { rpcUrl: unknown }> = Omit<Entry, "rpcUrl"> & { rpcUrl?: Entry["rpcUrl"] | undefined };
