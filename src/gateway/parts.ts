// What every function of the engine is given: the opened parts of one gateway.
import type { GatewayNetwork, TransferSigner } from "./chain.js";
import type { GatewayDatabase, HostedWallet, WalletLimit } from "./database/database.js";
import type { Mode, Payment } from "./payment.js";
import type { GatewaySettings } from "./settings.js";

export interface GatewayParts {
  readonly settings: GatewaySettings;
  readonly database: GatewayDatabase;
  readonly networks: GatewayNetworks;
  /** Absent where no passphrase was given: there are no hosted wallets then. */
  readonly custody: Custody | undefined;
  readonly watcher: Watcher;
  readonly logger: GatewayLogger;
  /** Epoch milliseconds of this process; what is remembered is judged by the database's own clock. */
  readonly now: () => number;
}

export interface GatewayNetworks {
  readonly all: readonly GatewayNetwork[];
  /** By CAIP-2 id, v1 name, alias or viem's name; undefined where this gateway does not serve it. */
  find(name: string): GatewayNetwork | undefined;
  defaultFor(family: "evm" | "solana", mode: Mode): GatewayNetwork | undefined;
  close(): Promise<void>;
}

/** Hosted wallets: keys encrypted at rest, opened for one signature at a time. */
export interface Custody {
  create(wallet: NewHostedWallet): Promise<HostedWallet | undefined>;
  /** `secret`: EVM 0x and 64 hex digits; Solana base58 of 64 bytes or a 32-byte hex seed. Throws a RangeError without it. */
  import(wallet: NewHostedWallet & { readonly secret: string }): Promise<HostedWallet | undefined>;
  /** Signs for an open wallet. Rejects where its key cannot be opened: it was altered, or moved from another row. */
  signer(wallet: HostedWallet): TransferSigner;
}

export interface NewHostedWallet {
  readonly account: string;
  readonly mode: Mode;
  readonly family: "evm" | "solana";
  readonly name: string;
  readonly limits: readonly WalletLimit[];
}

/** Follows payments to their end. */
export interface Watcher {
  /** Looks at the chain unless that was done within the last second, and gives the record as it then is. Single flight. */
  refresh(payment: Payment): Promise<Payment>;
  /** Until it is confirmed or at an end, or the time (epoch milliseconds) is over. */
  wait(payment: Payment, deadlineAt: number): Promise<Payment>;
  start(): void;
  close(): Promise<void>;
}

/** A pino logger, or anything of its form. No message or fact holds a key, secret, proof or signature of a proof. */
export interface GatewayLogger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): GatewayLogger;
}
