// What the caller orders, exactly: the terms that a built transaction is held against. Decimals come from our own table, or from
// the token itself by the caller's own node; never from the gateway.
import { expandNumber, parseDecimal } from "../money.js";
import { checksumAddress, isAddressOf, type Network, tokenByAddress } from "../networks.js";
import { NATIVE } from "../requirement.js";
import type { BuildSendRequest } from "./gateway-client-shapes.js";
import { LocalTransactionError } from "./local-error.js";
import { quote } from "./seller-words.js";

export interface PaidAsset {
  /** `native`, a checksummed contract, or a mint. */
  readonly address: string;
  readonly decimals: number;
  readonly symbol: string;
  /** Solana: address of the token program. */
  readonly tokenProgram?: string;
}

export interface LocalOrder {
  readonly network: Network;
  readonly sender: string;
  /** Checksummed on EVM. */
  readonly recipient: string;
  readonly asset: PaidAsset;
  /** Atomic units. */
  readonly amount: bigint;
  /** Atomic units of the native currency. */
  readonly priorityFee: bigint | undefined;
}

/** Asks the chain about a token that is not in our table. */
export type ReadToken = (address: string) => Promise<Pick<PaidAsset, "decimals" | "tokenProgram">>;

type Ordered = Pick<BuildSendRequest, "recipientAddress" | "amount" | "asset" | "priorityFee">;

/** @throws LocalTransactionError, `order_invalid` or what `readToken` throws */
export async function readLocalOrder(
  request: Ordered,
  network: Network,
  sender: string,
  readToken: ReadToken,
): Promise<LocalOrder> {
  const recipient = addressIn(network, request.recipientAddress, "recipientAddress");
  if (recipient === sender) throw invalid("recipientAddress: expected another address than the account's own");
  const asset = await readAsset(network, request.asset, readToken);
  const { native } = network;
  const amount = readAmount("amount", request.amount, asset.decimals);
  if (amount === 0n) throw invalid("amount: expected more than 0");
  const { priorityFee: tip } = request;
  const priorityFee = tip === undefined ? undefined : readAmount("priorityFee", tip, native.decimals);
  return { network, sender, recipient, asset, amount, priorityFee };
}

export async function readAsset(network: Network, name: string | undefined, readToken: ReadToken): Promise<PaidAsset> {
  const { native, tokens } = network;
  if (name === undefined || name === NATIVE || name.toLowerCase() === native.symbol.toLowerCase()) {
    return { address: NATIVE, ...native };
  }
  const bySymbol = tokens.filter(({ symbol }) => symbol.toLowerCase() === name.toLowerCase());
  const known = bySymbol[0] ?? tokenByAddress(network, name);
  if (known) {
    const { address, decimals, symbol, tokenProgram } = known;
    return { address, decimals, symbol, ...(tokenProgram !== undefined && { tokenProgram }) };
  }
  if (!isAddressOf(network.family, name)) {
    throw invalid(
      `asset: ${quote(name)} is not in the built-in table of ${network.name}: name the token by its address`,
    );
  }
  const address = addressIn(network, name, "asset");
  return { address, symbol: `units of ${address}`, ...(await readToken(address)) };
}

export function readAmount(field: string, given: number | string, decimals: number): bigint {
  const text = typeof given === "number" ? expandNumber(given) : String(given);
  const parsed = parseDecimal(text, decimals);
  if (parsed.ok) return parsed.amount;
  throw invalid(`${field}: ${quote(text)} ${parsed.problem}`);
}

function addressIn({ family, name }: Network, text: unknown, field: string): string {
  if (typeof text !== "string" || !isAddressOf(family, text)) {
    throw invalid(`${field}: expected an address on ${name} (where the case is mixed, its checksum must be right)`);
  }
  return family === "evm" ? checksumAddress(text) : text;
}

const invalid = (message: string): LocalTransactionError => new LocalTransactionError("order_invalid", message);
