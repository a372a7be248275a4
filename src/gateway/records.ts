// What an account is told of its payments: `GET /payment/status` and `GET /payment/history`. Whatever is another account's,
// or of the other mode, is as unknown as what never was. Source: design §7.
import { findNetwork, type Network, tokenByAddress } from "../networks.js";
import { NATIVE } from "../requirement.js";
import type { ApiKey, Caller } from "./caller.js";
import type { GatewayNetwork } from "./chain.js";
import type { EventPayment, HistoryPage } from "./database/database.js";
import type { Engine } from "./engine.js";
import { fault, invalidField } from "./errors.js";
import type { GatewayParts } from "./parts.js";
import type { Payment, StatusChange } from "./payment.js";
import type { PaymentRecord } from "./schemas/index.js";
import { readAddress, toNumber } from "./terms.js";

const seconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * A payment as the API shows it. `network`: undefined where this gateway does not serve it (any more).
 *
 * @example toRecord(payment, await database.payments.historyOf(payment.id), networks.find(payment.network))
 */
export function toRecord(
  payment: Omit<EventPayment, "history">,
  history: readonly StatusChange[],
  network: GatewayNetwork | undefined,
): PaymentRecord {
  const chain = network?.network ?? findNetwork(payment.network);
  const { id, type, status, amount, sender, recipient, signature, fee, blockHeight, confirmations } = payment;
  return {
    paymentId: id,
    type,
    status,
    network: payment.network,
    asset: payment.asset === NATIVE ? (chain?.native.symbol ?? NATIVE) : payment.asset,
    amount: numberOf(amount, decimalsOf(payment.asset, network, chain)),
    amountAtomic: amount.toString(),
    sender,
    recipient,
    signature,
    fee: fee === null ? null : numberOf(fee, chain?.native.decimals),
    blockHeight,
    confirmations,
    resource: payment.resource,
    metadata: payment.metadata,
    createdAt: seconds(payment.createdAt),
    updatedAt: seconds(payment.updatedAt),
    ...(payment.expiresAt !== null && { expiresAt: seconds(payment.expiresAt) }),
    ...(payment.late && { late: true }),
    ...(payment.error && { error: { code: payment.error.code, message: payment.error.message } }),
    history: history.map((change) => ({ status: change.status, at: seconds(change.at) })),
  };
}

/** Null where nobody knows the decimals any more: the exact amount stands beside it. */
const numberOf = (amount: bigint, decimals: number | undefined): number | null =>
  decimals === undefined ? null : toNumber(amount, decimals);

/** Also of an asset that the configuration named once and names no more, where the table of networks has it. */
function decimalsOf(
  asset: string,
  network: GatewayNetwork | undefined,
  chain: Network | undefined,
): number | undefined {
  if (asset === NATIVE) return chain?.native.decimals;
  const served = network?.assets.find(({ address }) => address === asset);
  return served?.decimals ?? (chain && tokenByAddress(chain, asset)?.decimals);
}

const PAYMENT_ID = /^pay_[1-9A-HJ-NP-Za-km-z]{22}$/;
const PROOF_ID = /^[0-9a-f]{64}$/;
const EVM_TRANSACTION = /^0x[0-9a-fA-F]{64}$/;
const SOLANA_TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** The two read endpoints of the engine. */
export function createRecords({
  database,
  networks,
  watcher,
}: Pick<GatewayParts, "database" | "networks" | "watcher">): Pick<Engine, "status" | "history"> {
  const { payments } = database;

  async function find({ key }: Caller, id: string): Promise<Payment | undefined> {
    const isOwn = (payment: Payment) => payment.account === key.account && payment.mode === key.mode;
    const found: readonly (Payment | undefined)[] = PAYMENT_ID.test(id)
      ? [await payments.get(id)]
      : PROOF_ID.test(id)
        ? [await payments.byProof(id)]
        : await byTransaction(key.account, id);
    return found.find((payment) => payment !== undefined && isOwn(payment));
  }

  async function byTransaction(account: string, id: string): Promise<readonly Payment[]> {
    if (EVM_TRANSACTION.test(id)) return payments.bySignature(account, id.toLowerCase());
    return SOLANA_TRANSACTION.test(id) ? payments.bySignature(account, id) : [];
  }

  type Page = Awaited<ReturnType<typeof payments.page>>;

  /** Where the next page begins, if there is one. Behind a cursor only a look tells whether anything is left. */
  async function nextPlace(
    { account, mode }: ApiKey,
    address: string,
    asked: HistoryPage,
    { payments: shown, total, before }: Page,
  ) {
    if (before === undefined) return undefined;
    const left =
      asked.before === undefined
        ? asked.offset + shown.length < total
        : (await payments.page(account, mode, address, { type: asked.type, limit: 1, offset: 0, before })).payments
            .length > 0;
    return left ? { before } : undefined;
  }

  return {
    async status(caller, id) {
      const found = await find(caller, id);
      // Invariant: one answer for what never was and for what is somebody else's.
      if (!found) return fault("NOT_FOUND", "there is no payment of this account with this id");
      const payment = found.dueAt === null ? found : await watcher.refresh(found);
      const history = await payments.historyOf(payment.id);
      return { ok: true, value: toRecord(payment, history, networks.find(payment.network)) };
    },
    async history({ key }, given, { type, limit, offset, before }) {
      const address = readAddress(given.startsWith("0x") ? "evm" : "solana", given);
      if (address === undefined) return INVALID_ADDRESS;
      const asked = { type, limit, offset, ...(before !== undefined && { before }) };
      const page = await payments.page(key.account, key.mode, address, asked);
      const records = page.payments.map((one) => toRecord(one, one.history, networks.find(one.network)));
      const next = await nextPlace(key, address, asked, page);
      const pagination = { type, limit, offset, total: page.total, hasMore: next !== undefined, ...next };
      return { ok: true, value: { success: true, walletAddress: address, payments: records, pagination } };
    },
  };
}

const INVALID_ADDRESS = invalidField(
  "walletAddress",
  "expected a valid EVM or Solana address (check the mixed-case checksum)",
);
