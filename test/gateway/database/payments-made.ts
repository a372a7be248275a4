// Payments and accounts as the tests of the database need them.
import type { GatewayDatabase, Inserted, NewPayment } from "../../../src/gateway/database/database.js";
import type { EvmPursuit, Payment, SettlementPursuit } from "../../../src/gateway/payment.js";

export const NETWORK = "eip155:84532";
export const SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

export const pursuit = (nonce = 0): EvmPursuit => ({
  kind: "evm",
  sender: SENDER,
  nonce,
  reference: null,
  raw: null,
  hash: null,
  block: 1,
  lastValidBlockHeight: 31,
});

/** Of a proof that this gateway settles at its own cost; with transactions of it that were mined in vain. */
export const settling = (...reverted: readonly string[]): SettlementPursuit => ({
  kind: "settlement",
  version: 2,
  payload: {} as SettlementPursuit["payload"],
  requirement: {},
  settlementId: "set_1",
  trace: {} as SettlementPursuit["trace"],
  ...(reverted.length > 0 && { reverted }),
});

/** A payment that is being sent, unless told otherwise. */
export const newPayment = (account: string, more: Partial<NewPayment> = {}): NewPayment => ({
  account,
  mode: "test",
  type: "sent",
  flow: "send",
  status: "created",
  network: NETWORK,
  asset: "native",
  amount: 1_000n,
  sender: SENDER,
  recipient: RECIPIENT,
  signature: null,
  fee: null,
  resource: null,
  metadata: null,
  expiresAt: null,
  proofId: null,
  wallet: null,
  idempotency: null,
  sealed: null,
  pursuit: pursuit(),
  dueAt: null,
  ...more,
});

/** A payment that came in with a proof. */
export const newReceived = (account: string, more: Partial<NewPayment> = {}): NewPayment =>
  newPayment(account, { type: "received", flow: "receive", ...more });

/** The record of an insertion that must have been made. */
export function recordOf(inserted: Inserted): Payment {
  if (inserted.outcome !== "ok") throw new Error(`expected a new record, got ${inserted.outcome}`);
  return inserted.payment;
}

export async function newAccount({ accounts }: GatewayDatabase): Promise<string> {
  return (await accounts.create("shop")).id;
}

/** A hosted wallet that may send 1,000 at once and 2,500 in a day, unless told otherwise. */
export async function newWallet(
  { wallets }: GatewayDatabase,
  account: string,
  limit: { readonly perPayment?: bigint; readonly perDay?: bigint } = {},
): Promise<string> {
  const limits = [{ network: NETWORK, asset: "native", perPayment: 1_000n, perDay: 2_500n, ...limit }];
  const id = `wal_${account.slice(4)}`;
  const facts = { id, account, mode: "test", family: "evm", address: SENDER, name: "till", sealedKey: "s" } as const;
  const wallet = await wallets.create({ ...facts, limits });
  if (!wallet) throw new Error("the wallet was lodged already");
  return wallet.id;
}
