// The `settle` function of a scripted facilitator that really moves the money: the sandbox's settler submits the
// authorization to the sandbox's token and the receipt is waited for.
import { createWalletClient, http, parseAbi, parseSignature, publicActions } from "viem";
import { baseSepolia } from "viem/chains";
import type { Sandbox } from "../../src/testing/index.js";
import type { FacilitatorPayment } from "./scripted-facilitator.js";

const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

/** For payers with a key of their own. Rejects when the transaction reverts. */
export function settleOnChain(sandbox: Sandbox): (payment: FacilitatorPayment) => Promise<string> {
  const client = createWalletClient({
    account: sandbox.settler,
    chain: baseSepolia,
    transport: http(sandbox.rpcUrl),
    pollingInterval: 50,
  }).extend(publicActions);
  return async (payment) => {
    if (!("authorization" in payment)) throw new Error("it settles authorizations only");
    const { asset, signature, authorization: signed } = payment;
    const { r, s, yParity } = parseSignature(hex(signature));
    const times = [BigInt(signed.validAfter), BigInt(signed.validBefore)] as const;
    const hash = await client.writeContract({
      address: hex(asset),
      abi,
      functionName: "transferWithAuthorization",
      args: [hex(signed.from), hex(signed.to), BigInt(signed.value), ...times, hex(signed.nonce), yParity + 27, r, s],
    });
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`the transaction ${hash} reverted`);
    return hash;
  };
}

const hex = (text: string) => text as `0x${string}`;
