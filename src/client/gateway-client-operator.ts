// The operator's API of a gateway as an object: accounts, keys and hosted wallets. It is asked for nothing twice but to read: the
// gateway knows no Idempotency-Key here.

import type { GatewayClientOptions } from "./gateway-client.js";
import { type CallOptions, type CallParts, createCall, systemParts } from "./gateway-client-call.js";
import { endpoint } from "./gateway-client-endpoints.js";
import { operatorSchema, readOptions, settingsOf } from "./gateway-client-options.js";
import type {
  Account,
  ApiKey,
  ChangeLimitsRequest,
  CreateAccountRequest,
  CreateKeyRequest,
  CreateWalletRequest,
  HostedWalletRecord,
} from "./gateway-client-shapes.js";

export interface OperatorClientOptions extends Omit<GatewayClientOptions, "apiKey"> {
  /** The gateway's TOLLGATE_ADMIN_TOKEN. */
  readonly token: string;
}

type Told<Members> = { readonly success: true } & Readonly<Members>;

export interface OperatorClient {
  accounts(options?: CallOptions): Promise<Told<{ accounts: readonly Account[] }>>;
  createAccount(request: CreateAccountRequest, options?: CallOptions): Promise<Told<{ account: Account }>>;
  keys(account: string, options?: CallOptions): Promise<Told<{ keys: readonly ApiKey[] }>>;
  /** `secret` is the whole key, shown this once. */
  createKey(
    account: string,
    request: CreateKeyRequest,
    options?: CallOptions,
  ): Promise<Told<{ key: ApiKey; secret: string }>>;
  /** At once and for ever. */
  revokeKey(account: string, key: string, options?: CallOptions): Promise<Told<{ key: ApiKey }>>;
  /** With what they hold. */
  wallets(account: string, options?: CallOptions): Promise<Told<{ wallets: readonly HostedWalletRecord[] }>>;
  /** Makes a hosted wallet, or imports the key that stands in `secret`. */
  createWallet(
    account: string,
    request: CreateWalletRequest,
    options?: CallOptions,
  ): Promise<Told<{ wallet: HostedWalletRecord }>>;
  /** Replaces all its limits. */
  changeLimits(
    account: string,
    wallet: string,
    request: ChangeLimitsRequest,
    options?: CallOptions,
  ): Promise<Told<{ wallet: HostedWalletRecord }>>;
  /** Forgets its key for ever. */
  removeWallet(
    account: string,
    wallet: string,
    options?: CallOptions,
  ): Promise<Told<{ wallet: { readonly id: string; readonly removed: true } }>>;
}

type Answer<Name extends keyof OperatorClient> = Awaited<ReturnType<OperatorClient[Name]>>;

const ACCOUNTS = "/admin/accounts";
const KEYS = `${ACCOUNTS}/{account}/keys`;
const WALLETS = `${ACCOUNTS}/{account}/wallets`;
const WALLET = `${WALLETS}/{wallet}`;

export const OPERATOR_ENDPOINTS = Object.freeze({
  accounts: endpoint<Answer<"accounts">>("GET", ACCOUNTS, ["accounts"]),
  createAccount: endpoint<Answer<"createAccount">>("POST", ACCOUNTS, ["account"]),
  keys: endpoint<Answer<"keys">>("GET", KEYS, ["keys"]),
  createKey: endpoint<Answer<"createKey">>("POST", KEYS, ["key", "secret"]),
  revokeKey: endpoint<Answer<"revokeKey">>("DELETE", `${KEYS}/{key}`, ["key"]),
  wallets: endpoint<Answer<"wallets">>("GET", WALLETS, ["wallets"]),
  createWallet: endpoint<Answer<"createWallet">>("POST", WALLETS, ["wallet"]),
  changeLimits: endpoint<Answer<"changeLimits">>("PATCH", WALLET, ["wallet"]),
  removeWallet: endpoint<Answer<"removeWallet">>("DELETE", WALLET, ["wallet"]),
});

/**
 * A client of the operator's API under /admin.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example
 * const operator = operatorClient({ baseUrl: "https://pay.example", token: process.env.TOLLGATE_ADMIN_TOKEN });
 * const { account } = await operator.createAccount({ name: "shop" });
 */
export const operatorClient = (options: OperatorClientOptions): OperatorClient => createOperatorClient(options);

/** With parts of its own, for tests. */
export function createOperatorClient(options: OperatorClientOptions, parts: CallParts = systemParts): OperatorClient {
  const { token, ...common } = readOptions(operatorSchema, options, "operatorClient");
  const call = createCall(settingsOf(common, token), parts);
  const at = OPERATOR_ENDPOINTS;
  return {
    accounts: (own) => call(at.accounts, {}, own),
    createAccount: (body, own) => call(at.createAccount, { body }, own),
    keys: (account, own) => call(at.keys, { params: { account } }, own),
    createKey: (account, body, own) => call(at.createKey, { params: { account }, body }, own),
    revokeKey: (account, key, own) => call(at.revokeKey, { params: { account, key } }, own),
    wallets: (account, own) => call(at.wallets, { params: { account } }, own),
    createWallet: (account, body, own) => call(at.createWallet, { params: { account }, body }, own),
    changeLimits: (account, wallet, body, own) => call(at.changeLimits, { params: { account, wallet }, body }, own),
    removeWallet: (account, wallet, own) => call(at.removeWallet, { params: { account, wallet } }, own),
  };
}
