// A payment that this gateway sends to the chain: built and simulated, then written with its signed bytes, the reservation and
// its account nonce in one transaction. Only what is written that way may leave. Source: design §7.
import type { Caller } from "../caller.js";
import type { BuiltTransfer, GatewayNetwork, Transfer } from "../chain.js";
import type { Together } from "../database/database.js";
import { fault, type Outcome } from "../errors.js";
import type { Custody, GatewayParts } from "../parts.js";
import type { Order } from "./order.js";
import { newRetryKey, newSecret, type Shown } from "./proof.js";
import { type Written, writePayment } from "./record.js";

/** The chain is asked about a new payment for so long. */
const BUILD_MS = 15_000;

export interface Begun extends Written {
  readonly shown: Shown;
}

/** Builds, signs and writes a transfer; broadcasts nothing. Faults are those of `build`, of the limits and of the wallet. */
export async function beginTransfer(
  parts: Pick<GatewayParts, "database" | "logger">,
  custody: Custody,
  caller: Caller,
  order: Order,
): Promise<Outcome<Begun>> {
  const { network, wallet } = order;
  const { secret, reference } = newSecret();
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(BUILD_MS)]);
  const built = await network.transfers.build(toTransfer(order, reference), { signal });
  if (!built.ok) return built;
  const nonce = await nonceFor(network, wallet.address, signal);
  if (!nonce.ok) return nonce;
  // The last moment at which a client that has gone can have changed its mind.
  if (caller.signal.aborted) return fault("UNAVAILABLE", "the request was given up before anything was sent");
  const signer = custody.signer(wallet);
  const shown: Shown = { kind: "secret", secret, retryKey: newRetryKey() };
  const { pursuit } = built.value;
  const written = await writePayment(
    parts,
    caller,
    order,
    { pursuit, shown, expiresAt: null },
    {
      ...nonce.value,
      complete: async (number) => {
        const signed = await network.transfers.sign(withNonce(network, built.value, number), signer);
        return { pursuit: signed.pursuit, signature: signed.signature, expiresAt: null };
      },
    },
  );
  return written.ok ? { ok: true, value: { ...written.value, shown } } : written;
}

function toTransfer({ wallet, recipient, asset, amount, priorityFee }: Order, reference: `0x${string}`): Transfer {
  const transfer = { from: wallet.address, to: recipient, asset, amount, reference };
  return priorityFee === undefined ? transfer : { ...transfer, priorityFee };
}

/** Invariant: on EVM the database hands out the nonce, so that no two payments of a wallet have one, in whatever process. */
async function nonceFor(
  { network, transfers }: GatewayNetwork,
  address: string,
  signal: AbortSignal,
): Promise<Outcome<Pick<Together, "nonce">>> {
  if (network.family !== "evm") return { ok: true, value: {} };
  const next = await transfers.nextNonce(address, signal);
  return next.ok ? { ok: true, value: { nonce: { network: network.id, address, next: next.value } } } : next;
}

const withNonce = ({ transfers }: GatewayNetwork, built: BuiltTransfer, nonce: number | undefined): BuiltTransfer =>
  nonce === undefined ? built : transfers.withNonce(built, nonce);
