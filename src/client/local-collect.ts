// Verifies, asks, compares, signs, sends and waits: what is behind `signAndCollect`, loaded when it is first called.
import type { BoundProof } from "../proof.js";
import { collectBuilt } from "../receive/collect-built.js";
import { createLocalReceiver, type LocalReceiver } from "../receive/local-receiver.js";
import { NATIVE } from "../requirement.js";
import { type Asker, createBuildAsker } from "./collect-builder.js";
import { bindOwn, receiverSetup } from "./collect-own.js";
import type { GatewayClient } from "./gateway-client.js";
import { LocalTransactionError } from "./local-error.js";
import { openNode } from "./local-node.js";
import { readAmount, readAsset } from "./local-order.js";
import { familyOf, type LocalSigning, readSigning, type Signing } from "./local-signing.js";
import { readTokenOf } from "./local-token.js";
import type { CollectedPayment, CollectOrder } from "./sign-and-collect.js";

export async function collectLocal(
  client: Pick<GatewayClient, "buildReceive">,
  signing: Omit<LocalSigning, "maxFee">,
  order: CollectOrder,
): Promise<CollectedPayment> {
  const family = familyOf(signing?.account);
  const own = readSigning("signAndCollect", signing, family);
  // Nobody may think that a bound holds which does not: the gas of a collection is priced by your own node.
  if (own.maxFee !== undefined) throw new LocalTransactionError("order_invalid", "maxFee: a collection takes none");
  own.signal?.throwIfAborted();
  const node = await openNode(family, own, order.network);
  const { network } = node;
  try {
    const asset = await readAsset(network, order.asset, readTokenOf(node, own.signal));
    const amount = readAmount("expectedAmount", order.expectedAmount, asset.decimals);
    const { asset: _, ...given } = order;
    const named = { ...given, walletAddress: own.address, network: network.id };
    const asker = createBuildAsker(
      client,
      { ...named, ...(asset.address !== NATIVE && { asset: asset.address }) },
      own,
    );
    const receiver = createLocalReceiver(receiverSetup(own, network), { builder: asker.builder });
    try {
      const wanted = { network, payTo: own.address, asset, amount };
      const proof = await bindOwn(receiver, order.paymentProof, wanted);
      own.signal?.throwIfAborted();
      return await collect(receiver, asker, proof, own, order.resource ?? "");
    } finally {
      await receiver.close();
    }
  } finally {
    node.rpc.close();
  }
}

async function collect(
  receiver: LocalReceiver,
  asker: Asker,
  proof: BoundProof,
  { deadlineAt, idempotencyKey }: Signing,
  url: string,
): Promise<CollectedPayment> {
  let sent: string | undefined;
  const settlement = await collectBuilt(receiver, asker.builder)(proof, {
    settlementId: idempotencyKey ?? proof.id,
    resource: { url, description: "", mimeType: "" },
    deadlineAt,
    sending: async (transaction) => {
      sent = transaction;
    },
  });
  const [paymentId, failure] = [asker.paymentId(), asker.failure()];
  switch (settlement.outcome) {
    case "settled": {
      const { transaction, payer, received } = settlement;
      return { paymentId, transaction, payer, received, network: proof.requirement.network };
    }
    case "unknown": {
      const { message, transaction = sent, reverted } = settlement;
      const detail = `${transaction ?? "the payment"}: ${message}`;
      throw new LocalTransactionError(reverted ? "failed_on_chain" : "outcome_unknown", detail, {
        paymentId,
        idempotencyKey,
      });
    }
    case "refused":
      throw new LocalTransactionError("proof_refused", settlement.code, { paymentId });
    case "unavailable":
      // What the gateway said or built is the reason, where it is one.
      if (failure !== undefined) throw failure;
      throw new LocalTransactionError("would_fail", settlement.message, { paymentId });
  }
}
