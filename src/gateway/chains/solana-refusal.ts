// Why the chain would refuse a transfer whose accounts looked right: something changed since, or the recipient's account or
// the token has rules of its own.

import { printError } from "../../chains/solana/print.js";
import { programAddress } from "../../chains/solana/programs.js";
import { readTrouble, type Trouble } from "../../chains/solana/simulate.js";
import { NATIVE } from "../../requirement.js";
import type { Transfer } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import { insufficient } from "./solana-sender.js";
import { invalid, inWords } from "./words.js";

/** Limit, price, then the transfer. */
const TRANSFER_AT = 2;
/** Errors of the system and the token programs alike: too little to move. */
const TOO_LITTLE = 1;
/** Of Token-2022: the recipient demands a memo right before the transfer. */
const MEMO_DEMANDED = 36;

/** Words a failed simulation of an unsigned transfer. */
export function explainRefusal(chain: SolanaTransferChain, transfer: Transfer, error: unknown): Fault {
  const trouble = readTrouble(error);
  const { from, to, amount, asset } = transfer;
  if (isPoverty(trouble)) {
    return insufficient(`needs ${inWords(amount, asset)} and the network fee; ${from} holds less`);
  }
  if (trouble.kind === "rent") {
    return invalid("INVALID_RECIPIENT", "recipientAddress", `${to} would hold too little to exist`);
  }
  if (trouble.kind === "instruction" && trouble.index === TRANSFER_AT) return explainMove(transfer, trouble, error);
  // The blockhash is a moment old: another node than the one that gave it does not know it yet.
  const reason = printError(error);
  chain.logger.warn({ network: chain.network.id, reason }, "a transfer could not be simulated");
  return fault("UNAVAILABLE", `${chain.network.name} cannot judge the payment now (${reason}); nothing was done`);
}

const isPoverty = (trouble: Trouble): boolean =>
  trouble.kind === "fee" ||
  (trouble.kind === "rent" && trouble.account === 0) ||
  (trouble.kind === "instruction" && trouble.index === TRANSFER_AT && trouble.custom === TOO_LITTLE);

function explainMove({ asset, to }: Transfer, { custom }: { custom: number | undefined }, error: unknown): Fault {
  // The sender is a plain wallet with enough SOL: what remains is the account that is to receive it.
  if (asset.address === NATIVE) {
    return invalid("INVALID_RECIPIENT", "recipientAddress", `${to} cannot receive SOL: ${printError(error)}`);
  }
  if (custom === MEMO_DEMANDED && asset.tokenProgram !== undefined && asset.tokenProgram !== programAddress("token")) {
    return invalid("INVALID_RECIPIENT", "recipientAddress", `${to} takes no transfer without a memo before it`);
  }
  return fault("INVALID_REQUEST", `the chain would refuse this transfer of ${asset.symbol}: ${printError(error)}`);
}
