// `hostedWallet()`: pays through a gateway that holds the key (`POST /payment/send`). Tokens by a proof that is signed for exactly
// the seller's offer and not sent; native currency by a transfer that the gateway has sent before we hear of it. So whatever
// becomes of a call, the money of a transfer may be gone: its Idempotency-Key gets the same proof again, and nothing is paid twice.
import { createProblems } from "../config-problems.js";
import type { NetworkName } from "../network-names.js";
import { suggestNetwork } from "../network-suggestion.js";
import { checksumAddress, findNetwork, isAddressOf } from "../networks.js";
import type { GatewayClient } from "./gateway-client.js";
import { GatewayError } from "./gateway-client-error.js";
import { readOrder, toSendRequest } from "./hosted-order.js";
import { readProof } from "./hosted-proof.js";
import type { Offer } from "./offer.js";
import { createUnresolvedSends, type Sending } from "./unresolved-sends.js";
import { type Unsigned, unsigned } from "./unsigned.js";
import type { Signed, SignRequest, Wallet } from "./wallet.js";

export interface HostedWalletOptions {
  /** Networks on which it pays, by any of their names; all of its chain family where it is left out. */
  readonly networks?: readonly NetworkName[];
}

type Sender = Pick<GatewayClient, "send">;

/**
 * A wallet whose key a tollgate gateway holds. The API key needs the scope `send` and must name the wallet; the gateway's own limits
 * hold beside the buyer's budget. Its endpoint takes from 0.001 to 100 whole units at once, whatever the asset.
 *
 * @throws PaywallConfigError with every problem.
 * @example
 * const client = gatewayClient({ baseUrl: "https://pay.example", apiKey });
 * const pay = payingFetch({ wallets: [hostedWallet(client, "0x…")], budget: { perRequest: "$0.10", perDay: "$5" } });
 */
export function hostedWallet(client: Sender, address: string, options: HostedWalletOptions = {}): Wallet {
  const { family, own, networks } = readOptions(address, options);
  const unresolved = createUnresolvedSends(() => Date.now());

  return {
    address: own,
    sends: true,
    takes(offer) {
      const { network, payTo } = offer;
      if (network.family !== family)
        return `a wallet on ${family === "evm" ? "EVM" : "Solana"} cannot pay on ${network.name}`;
      if (networks && !networks.has(network.id))
        return `add "${network.name}" to networks of hostedWallet() to pay there`;
      if (payTo === own) return "the seller is paid at this very wallet";
      const order = readOrder(offer);
      return typeof order === "string" ? order : true;
    },
    async sign(offer, request) {
      request.signal?.throwIfAborted();
      const order = readOrder(offer);
      if (typeof order === "string") return { ...unsigned(order), sent: false };
      const body = toSendRequest(offer, order, own, request, Date.now());
      const fresh: Sending = { body, idempotencyKey: request.retryKey };
      // A proof that waits for its seller moves nothing before he has it: there only the answer is lost.
      if (offer.method !== "transaction") return pay(client, fresh, offer, request, own);
      // Invariant: a payment of which nobody knows how it ended is asked for again, under its key, before another one is made.
      const earlier = unresolved.take(body);
      const resumed = earlier && (await payAndRemember(earlier));
      return resumed && !isOver(resumed) ? resumed : payAndRemember(fresh);

      async function payAndRemember(sending: Sending): Promise<Signed> {
        let signed: Signed | undefined;
        try {
          signed = await pay(client, sending, offer, request, own);
          return signed;
        } finally {
          // An abort too leaves it open what the gateway has done.
          if (!signed || !(signed.ok || isOver(signed))) unresolved.keep(sending);
        }
      }
    },
  };
}

/** It is known that it moved nothing, or that what it moved is of no use any more. */
const isOver = (signed: Signed): boolean => !signed.ok && signed.sent === false;

async function pay(
  client: Sender,
  { body, idempotencyKey }: Sending,
  offer: Offer,
  { signal }: SignRequest,
  own: string,
): Promise<Signed> {
  try {
    return await readProof(await client.send(body, { idempotencyKey, signal }), offer, own);
  } catch (error) {
    signal?.throwIfAborted();
    return toUnsigned(error, offer);
  }
}

/** A gateway that refuses has sent nothing; one whose answer is lost may have. */
function toUnsigned(error: unknown, { method }: Offer): Unsigned & { readonly sent?: false } {
  if (!(error instanceof GatewayError)) return unsigned("the gateway's client failed");
  const message = `the gateway: ${error.message.replace(/\s*\n/g, ". ")}`;
  if (error.inDoubt && method === "transaction") return unsigned(message);
  const code = error.code === "INSUFFICIENT_BALANCE" ? "insufficient_funds" : "signing_failed";
  return { ...unsigned(message, code), sent: false };
}

function readOptions(address: string, { networks }: HostedWalletOptions) {
  const problems = createProblems("wallet");
  const family = (["evm", "solana"] as const).find((one) => typeof address === "string" && isAddressOf(one, address));
  if (family === undefined) {
    const code = address === undefined ? "required" : "invalid";
    const expected =
      "expected the address of a hosted wallet: 0x and 40 hex digits (check the case), or base58 of 32 bytes";
    problems.add("hostedWallet.address", code, expected);
  }
  const ids = new Set<string>();
  for (const [at, name] of (networks ?? []).entries()) {
    const network = findNetwork(name);
    const path = `hostedWallet.networks[${at}]`;
    if (!network)
      problems.add(path, "unknown_network", `expected the name of a network: ${suggestNetwork(String(name))}`);
    else if (family && network.family !== family) {
      problems.add(path, "contradiction", `${network.name} is of another chain family than the wallet`);
    } else ids.add(network.id);
  }
  problems.throwIfAny();
  if (family === undefined) throw new TypeError("what cannot be read is a problem");
  const own = family === "evm" ? checksumAddress(address) : address;
  return { family, own, networks: networks && ids };
}
