// Pays by the account's own transaction: native currency, or a token that knows no authorization. It is signed and not sent: the
// seller sends it, or nobody does. Payments of one account on one chain take turns, because each needs the account's next nonce.

import { toBytes } from "../chains/evm/hex.js";
import type { Rpc } from "../chains/evm/rpc.js";
import { draftTransfer, type Undrafted } from "../chains/evm/transfer.js";
import { toBase64 } from "../chains/solana/bytes.js";
import { formatDecimal } from "../money.js";
import { checksumAddress, type Network } from "../networks.js";
import { NATIVE } from "../requirement.js";
import { createAccountTurns } from "./account-turns.js";
import type { EvmSigner } from "./evm-account.js";
import { feeInWords } from "./evm-fee.js";
import { type LastNonce, nextNonce } from "./evm-nonce.js";
import { type MadeTransfer, signFields } from "./evm-signing.js";
import type { Offer } from "./offer.js";
import { PENDING_MS } from "./store.js";
import { judgeLife, type Unsigned, unsigned } from "./unsigned.js";
import type { Signed, SignRequest } from "./wallet.js";

/** An account on one chain. */
export interface EvmPayer {
  readonly network: Network & { readonly chainId: number };
  /** Tells the chain's nodes from those of another one with the same id. */
  readonly node: string;
  readonly rpc: Rpc;
  readonly signer: EvmSigner;
  /** Wei for one unit of gas. */
  readonly maxFeePerGas: bigint | undefined;
}

export interface EvmTransfers {
  /** `maxFee`: wei that the whole gas may cost. */
  sign(offer: Offer, request: SignRequest, maxFee: bigint): Promise<Signed>;
}

/** Of this process, so that two wallets with one account do not collide. */
export const accountTurns = createAccountTurns();

/** The same for every wallet of an account on a chain. */
export const turnKey = (chainId: number, node: string, address: string): string =>
  `${chainId}|${node}|${address.toLowerCase()}`;

/** A signed transaction is the seller's to send for so long, whatever his offer says; then the next payment takes its nonce. */
const LEAST_HOLD_MS = 120_000;

export function createEvmTransfers(payer: EvmPayer): EvmTransfers {
  const key = turnKey(payer.network.chainId, payer.node, payer.signer.address);
  let last: LastNonce | undefined;
  return {
    async sign(offer, request, maxFee) {
      const { signal, validUntil: until } = request;
      const turn = await accountTurns.take(key, { until, signal });
      if (!turn)
        return unsigned(`earlier payments of ${payer.signer.address} on ${payer.network.name} did not end in time`);
      let made: MadeTransfer | Unsigned | undefined;
      try {
        made = judgeLife(until) ?? (await makeTransfer(payer, { offer, maxFee, last }, request));
      } finally {
        if (!made?.ok) turn.end();
      }
      if (!made.ok) return made;
      const { transaction } = made;
      const nonce = Number(transaction.nonce);
      last = { nonce, endedAt: Date.now() };
      turn.endBy(Math.min(until, Date.now() + Math.max(offer.maxTimeoutSeconds * 1000, LEAST_HOLD_MS)));
      return {
        ok: true,
        payload: { transaction: toBase64(toBytes(transaction.raw)) },
        payer: checksumAddress(payer.signer.address),
        // It has no end of its own: it can be sent until another one has used its nonce. Nobody remembers it longer than that.
        expiresAt: Date.now() + PENDING_MS,
        close: () => {
          if (last?.nonce === nonce) last = { nonce, endedAt: Date.now() };
          turn.end();
        },
      };
    },
  };
}

interface Wanted {
  readonly offer: Offer;
  readonly maxFee: bigint;
  readonly last: LastNonce | undefined;
}

async function makeTransfer(
  payer: EvmPayer,
  { offer, maxFee, last }: Wanted,
  { signal, validUntil: until }: SignRequest,
): Promise<MadeTransfer | Unsigned> {
  const { rpc, signer, network, maxFeePerGas } = payer;
  const next = await nextNonce(rpc, signer.address, last, { until, signal });
  if (!next.ok) return next;
  const wanted = { from: signer.address, to: offer.payTo, asset: offer.asset, amount: offer.amount };
  const draft = await draftTransfer(rpc, network.chainId, wanted, {
    nonce: next.nonce,
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  if (!draft.ok) return whyNot(draft, payer, offer);
  // Invariant: a payee whose contract burns gas, or a chain that is dear now, takes no more than this beside the price.
  if (draft.fee > maxFee) {
    const [fee, most] = [draft.fee, maxFee].map((wei) => feeInWords(wei, network));
    return unsigned(
      `the gas can cost up to ${fee}, which is above ${most}: raise maxFee of evmWallet if that is right`,
    );
  }
  const { fields } = draft;
  return signFields(signer, network, fields, signal);
}

function whyNot(draft: Undrafted, { network }: EvmPayer, { asset, token }: Offer): Unsigned {
  switch (draft.problem) {
    case "balance": {
      const [needed, got] = [draft.needed, draft.got].map((amount) => {
        if (asset === NATIVE) return feeInWords(amount, network);
        return token ? `${formatDecimal(amount, token.decimals)} ${token.symbol}` : `${amount} units of ${asset}`;
      });
      return unsigned(`needs ${needed}, holds ${got}`, "insufficient_funds");
    }
    case "fees": {
      const [needed, got] = [draft.needed, draft.got].map((wei) => feeInWords(wei, network));
      const what =
        asset === NATIVE ? "the payment and the most that its gas can cost" : "the most that the gas can cost";
      return unsigned(`needs ${needed} for ${what}, holds ${got}`, "insufficient_funds");
    }
    case "fee_too_low":
    case "fee_too_high":
      return unsigned("the gas of this transfer cannot be priced");
    default:
      return unsigned(draft.message);
  }
}
