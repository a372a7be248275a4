// A real chain with the receiver on it, for the tests of chains/evm and of `local`.
import { encodeFunctionData, parseAbi } from "viem";
import * as z from "zod/mini";
import type { AuthorizationProof } from "../../../src/proof.js";
import { type LocalNetworkOptions, local } from "../../../src/receive/local.js";
import type { Receiver, SettleContext, VerifyContext } from "../../../src/receive/receiver.js";
import type { Eip3009Requirement } from "../../../src/requirement.js";
import { createSandbox, type Sandbox } from "../../../src/testing/index.js";
import { makeProof, REQUIREMENT, RESOURCE } from "../../support/bound-proof.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

export { fault } from "../../support/scripted-rpc.js";

export interface World {
  readonly sandbox: Sandbox;
  /** Stands between the receiver and the chain. */
  readonly rpc: ScriptedRpc;
  readonly receiver: Receiver;
  readonly requirement: Eip3009Requirement;
  /** Another receiver on the same chain. */
  open(options?: Partial<LocalNetworkOptions>, timeoutMs?: number): Receiver;
  proof(options?: Parameters<typeof makeProof>[0]): Promise<AuthorizationProof>;
  /** Sends a proof's authorization to the token as a stranger would. */
  submit(proof: AuthorizationProof): Promise<string>;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const sandbox = await createSandbox();
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  const opened: Receiver[] = [];
  const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
  const open: World["open"] = (options = {}, timeoutMs = 3_000) => {
    const entry = { rpcUrl: rpc.url, settler: sandbox.settlerKey, ...options };
    const receiver = local({ networks: { "base-sepolia": entry }, timeoutMs });
    opened.push(receiver);
    return receiver;
  };
  return {
    sandbox,
    rpc,
    receiver: open(),
    requirement,
    open,
    async proof(options = {}) {
      return makeProof({ account: await sandbox.newBuyer(), requirement, ...options });
    },
    async submit({ authorization: a, signature, requirement: { asset } }) {
      const abi = parseAbi([
        "function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)",
      ]);
      const args = [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature] as const;
      const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args });
      const [, stranger] = z.array(z.string()).parse(await sandbox.chain.rpc("eth_accounts"));
      const transaction = { from: stranger, to: asset, data, gas: "0x7a120" };
      return z.string().parse(await sandbox.chain.rpc("eth_sendTransaction", [transaction]));
    },
    async close() {
      for (const receiver of opened) await receiver.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

export const verifyContext = (signatureKnown = false): VerifyContext => ({
  signatureKnown,
  resource: RESOURCE,
  signal: new AbortController().signal,
});

/** A settle context that records what was announced. */
export function settleContext(ms = 8_000): SettleContext & { readonly announced: string[] } {
  const announced: string[] = [];
  return {
    settlementId: "settlement",
    resource: RESOURCE,
    deadlineAt: Date.now() + ms,
    announced,
    async sending(transaction) {
      announced.push(transaction);
    },
  };
}

export const unixNow = (): bigint => BigInt(Math.floor(Date.now() / 1000));
