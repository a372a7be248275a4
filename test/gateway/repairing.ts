// Payments whose process has ended, and how they are taken up: for the tests of what gets lost on its way.
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { GatewayNetwork } from "../../src/gateway/chain.js";
import type { HostedWallet } from "../../src/gateway/database/database.js";
import type { Payment } from "../../src/gateway/payment.js";
import { repairSent } from "../../src/gateway/send/repair.js";
import { type Death, endsAt } from "./mortal.js";
import { type Change, openSending, type SendingOptions, type SendingWorld, until } from "./sending.js";

type Family = "evm" | "solana";

export const AFTER_WRITING: Death = { at: "payments.insert", when: "after" };
export const AFTER_SENDING: Death = { at: "transfers.broadcast", when: "after" };

export interface Abandoned {
  readonly payment: Payment;
  readonly wallet: HostedWallet;
  readonly asked: { readonly walletAddress: string; readonly recipientAddress: string; readonly amount: number };
  readonly idempotencyKey: string;
}

export interface RepairingWorld {
  readonly world: SendingWorld;
  /** Moves the database's time on. */
  later(ms: number): void;
  /** A payment of 0.01 whose process ended so. */
  abandoned(family: Family, death: Death, wallet?: HostedWallet): Promise<Abandoned>;
  /** Repairs it as it stands now. */
  repair(payment: Payment): Promise<Payment>;
  /** Atomic units of each debit of the wallet's native currency. */
  debits(family: Family, wallet: HostedWallet): Promise<readonly bigint[]>;
  /** The same once there are so many: a block may take its moment. */
  landed(family: Family, wallet: HostedWallet, count?: number): Promise<readonly bigint[]>;
  /** The record after a look at the chain. */
  refreshed(payment: Payment): Promise<Payment>;
}

export async function openRepairing(options: Pick<SendingOptions, "evm" | "solana">): Promise<RepairingWorld> {
  let aheadMs = 0;
  const world = await openSending({ ...options, ahead: () => aheadMs });
  const debits: RepairingWorld["debits"] = (family, { address }) => world.debits(world.network(family), address);
  return {
    world,
    later(ms) {
      aheadMs = ms;
    },
    async abandoned(family, death, wallet) {
      const from = wallet ?? (await world.newWallet(family));
      const asked = { walletAddress: from.address, recipientAddress: await world.newPayee(family), amount: 0.01 };
      const dying = await world.start(endsAt(death).change);
      const idempotencyKey = randomBytes(8).toString("hex");
      await expect(dying.send(asked, { idempotencyKey })).rejects.toThrow("the process has ended");
      const payments = await world.payments(from.address);
      const payment = payments.find(
        ({ recipient }) => recipient.toLowerCase() === asked.recipientAddress.toLowerCase(),
      );
      if (!payment) throw new Error("the payment was not written");
      return { payment: await world.payment(payment.id), wallet: from, asked, idempotencyKey };
    },
    repair: async ({ id }) => repairSent(world.parts, await world.payment(id)),
    debits,
    async landed(family, wallet, count = 1) {
      await until("it lands", async () => (await debits(family, wallet)).length >= count);
      return debits(family, wallet);
    },
    async refreshed({ id }) {
      const { watcher } = (await world.start()).parts;
      return watcher.refresh(await world.payment(id));
    },
  };
}

/** The parts of a process with another chain in place of a network's transfers. */
export const withTransfers =
  (family: Family, own: (network: GatewayNetwork) => Partial<GatewayNetwork["transfers"]>): Change =>
  (parts) => {
    const network = parts.networks.defaultFor(family, "test")!;
    const changed = { ...network, transfers: { ...network.transfers, ...own(network) } };
    return { ...parts, networks: { ...parts.networks, find: () => changed, defaultFor: () => changed } };
  };

/** Where a process stands still until a test lets it go on. */
export function createGate() {
  let open = () => {};
  let reach = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = () => {
    reach();
    return opened;
  };
  return { open: () => open(), reached, pass };
}
