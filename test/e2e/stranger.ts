// What a stranger, an outsider and a rude client can do to a payment: all of it with public means only.
import { request } from "node:http";
import type { Sandbox, SignedPayment } from "../../src/testing/index.js";

/** Status of an answer whose connection is cut as soon as the head has come. */
export function cutAfterHead(url: string, payment: Pick<SignedPayment, "headers">): Promise<number | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent: false, headers: payment.headers }, (incoming) => {
      incoming.on("error", () => {});
      resolve(incoming.statusCode);
      incoming.destroy();
    });
    outgoing.on("error", () => resolve(undefined));
    outgoing.end();
  });
}

/** The payment header without its retry key. */
export function stripKey(payment: SignedPayment): Record<string, string> {
  const json = JSON.parse(atob(payment.value)) as Record<string, unknown>;
  delete json.extensions;
  return { [payment.name]: btoa(JSON.stringify(json)) };
}

/** Resolves when a transaction waits in the node's pool. */
export async function pendingTransaction(world: Sandbox): Promise<void> {
  for (;;) {
    const status = (await world.chain.rpc("txpool_status")) as { pending: string };
    if (Number(status.pending) > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What anybody can make of a settlement's public calldata: the same signed authorization in an envelope of their own. */
export async function rebuiltFromChain(world: Sandbox, payment: SignedPayment): Promise<Record<string, string>> {
  const [transfer] = await world.token.transfers({ from: payment.message.from });
  const { input } = (await world.chain.rpc("eth_getTransactionByHash", [transfer?.transaction])) as { input: string };
  const words = input.slice(10).match(/.{64}/g) ?? [];
  const address = (at: number) => `0x${words[at]?.slice(24)}`;
  const number = (at: number) => BigInt(`0x${words[at]}`).toString();
  const v = Number(`0x${words[6]}`).toString(16).padStart(2, "0");
  const json = JSON.parse(atob(payment.value)) as Record<string, unknown>;
  const authorization = {
    from: address(0),
    to: address(1),
    value: number(2),
    validAfter: number(3),
    validBefore: number(4),
    nonce: `0x${words[5]}`,
  };
  const rebuilt = {
    ...json,
    extensions: undefined,
    payload: { signature: `0x${words[7]}${words[8]}${v}`, authorization },
  };
  return { [payment.name]: btoa(JSON.stringify(rebuilt)) };
}

/** Submits a payment to the token as any outsider can. */
export async function submit(world: Sandbox, payment: SignedPayment): Promise<void> {
  const { createWalletClient, http, parseSignature, publicActions } = await import("viem");
  const { privateKeyToAccount } = await import("viem/accounts");
  const { baseSepolia } = await import("viem/chains");
  const outsider = privateKeyToAccount(`0x${"77".repeat(32)}`);
  await world.chain.rpc("anvil_setBalance", [outsider.address, `0x${(10n ** 18n).toString(16)}`]);
  const client = createWalletClient({ account: outsider, chain: baseSepolia, transport: http(world.rpcUrl) }).extend(
    publicActions,
  );
  const { r, s, yParity } = parseSignature(payment.signature);
  const { from, to, value, validAfter, validBefore, nonce } = payment.message;
  const hash = await client.writeContract({
    address: world.token.address,
    abi: world.token.abi,
    functionName: "transferWithAuthorization",
    args: [from, to, value, validAfter, validBefore, nonce, yParity + 27, r, s],
  });
  await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}
