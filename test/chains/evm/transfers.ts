// A real chain, the receiver's EVM part on it, and buyers who sign their own transfers: for the tests of transaction proofs.
import {
  type Address,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  type TransactionSerializableEIP1559,
  toHex,
} from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { encodeAbiParameters } from "viem/utils";
import { vi } from "vitest";
import * as z from "zod/mini";
import type { OpenedChain } from "../../../src/chains/chain.js";
import { openChain } from "../../../src/chains/evm/open.js";
import { sha256 } from "../../../src/hash.js";
import { isTransaction } from "../../../src/identify.js";
import { findNetwork } from "../../../src/networks.js";
import { bindTransaction, decodeProof, type TransactionProof } from "../../../src/proof.js";
import type { LocalEvmNetwork } from "../../../src/receive/local-options.js";
import type { Identified, Trace } from "../../../src/receive/receiver.js";
import { NATIVE, type TransactionRequirement, wireAsset } from "../../../src/requirement.js";
import { createSandbox, type Sandbox } from "../../../src/testing/index.js";
import { plainToken } from "../../../src/testing/token.artifact.js";
import { encodeHeader } from "../../../src/wire/header.js";
import { RESOURCE, traceOf } from "../../support/bound-proof.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

export const CHAIN_ID = 84532;
export const TOKEN: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const PRICE = 10_000n;
export const ETHER = 10n ** 18n;

export interface Signed {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly nonce: number;
  readonly base64: string;
}

export interface Transfers {
  readonly sandbox: Sandbox;
  /** Stands between the receiver and the chain. */
  readonly rpc: ScriptedRpc;
  readonly chain: OpenedChain;
  open(options?: Partial<LocalEvmNetwork>): Promise<OpenedChain>;
  /** A requirement in native currency, or in the plain token. */
  requirement(asset?: string, parts?: Partial<TransactionRequirement>): TransactionRequirement;
  /** Holds an ether and a million units of the plain token. */
  buyer(): Promise<PrivateKeyAccount>;
  /** The transfer that the requirement asks for, as the account's next transaction. */
  sign(
    account: PrivateKeyAccount,
    requirement: TransactionRequirement,
    parts?: Partial<TransactionSerializableEIP1559> & { readonly amount?: bigint; readonly reference?: Hex },
  ): Promise<Signed>;
  identify(transaction: string, secret?: Hex): Promise<Identified>;
  /** The proof as the paywall binds it. */
  prove(shown: Signed | Hex, requirement: TransactionRequirement, options?: Shown): Promise<TransactionProof>;
  /** Sends it as anybody would, past the receiver, and waits until a block holds it. */
  broadcast(signed: Signed): Promise<void>;
  /** Only sends it: for a chain that does not mine. */
  submit(signed: Signed): Promise<void>;
  setTokenMode(mode: "plain" | "answers-false" | "takes-a-fee"): Promise<void>;
  setTokenBalance(account: Address, value: bigint): Promise<void>;
  tokenBalance(account: Address): Promise<bigint>;
  close(): Promise<void>;
}

export interface Shown {
  readonly secret?: Hex;
  readonly version?: 1 | 2;
}

/** 32 bytes, and the reference that a transaction carries for them. */
export async function newSecret(): Promise<{ readonly secret: Hex; readonly reference: Hex }> {
  const secret = generatePrivateKey();
  const bytes = Uint8Array.from(Buffer.from(secret.slice(2), "hex"));
  return { secret, reference: `0x${await sha256(bytes)}` };
}

const transferAbi = parseAbi(["function transfer(address to, uint256 value)"]);
const modes = { plain: 0n, "answers-false": 1n, "takes-a-fee": 2n } as const;
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const text = (value: unknown): string => z.string().parse(value);

export async function createTransfers(): Promise<Transfers> {
  const sandbox = await createSandbox();
  const { chain: anvil } = sandbox;
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  await anvil.rpc("anvil_setCode", [TOKEN, plainToken.runtime]);
  const opened: OpenedChain[] = [];

  const open: Transfers["open"] = async (options = {}) => {
    const network = { ...findNetwork("base-sepolia")!, chainId: CHAIN_ID };
    const settings = { rpcUrl: rpc.url, settler: sandbox.settlerKey };
    const one: LocalEvmNetwork = {
      family: "evm",
      network,
      urls: [rpc.url],
      settlers: [sandbox.settlerKey],
      options: { ...settings, tokens: [{ address: TOKEN, decimals: 6 }] },
      ...options,
    };
    const chain = await openChain(one, { networks: { "base-sepolia": settings }, timeoutMs: 3_000 });
    opened.push(chain);
    return chain;
  };
  const chain = await open();
  const slotOf = (account: Address) =>
    keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [account, 0n]));
  const setTokenBalance = async (account: Address, value: bigint) => {
    await anvil.rpc("anvil_setStorageAt", [TOKEN, slotOf(account), word(value)]);
  };
  const submit = async ({ raw }: Signed) => {
    await anvil.rpc("eth_sendRawTransaction", [raw]);
  };
  const identify: Transfers["identify"] = (transaction, secret) =>
    chain.identify({ transaction, ...(secret && { secret }) }, "eip155:84532", AbortSignal.timeout(5_000));

  return {
    sandbox,
    rpc,
    chain,
    open,
    requirement: (asset = NATIVE, parts = {}) => ({
      scheme: "exact",
      method: "transaction",
      network: "eip155:84532",
      asset,
      amount: PRICE,
      payTo: sandbox.seller,
      maxTimeoutSeconds: 60,
      extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
      confirmations: 1,
      ...parts,
    }),
    async buyer() {
      const account = privateKeyToAccount(generatePrivateKey());
      await anvil.rpc("anvil_setBalance", [account.address, toHex(ETHER)]);
      await setTokenBalance(account.address, 1_000_000n);
      return account;
    },
    async sign(account, { asset, payTo, amount: price }, { amount = price, reference = "0x", ...parts } = {}) {
      const nonce = Number(text(await anvil.rpc("eth_getTransactionCount", [account.address, "latest"])));
      const head = z
        .object({ baseFeePerGas: z.string() })
        .parse(await anvil.rpc("eth_getBlockByNumber", ["latest", false]));
      const args = [payTo as Address, amount] as const;
      const call: Hex = `${encodeFunctionData({ abi: transferAbi, functionName: "transfer", args })}${reference.slice(2)}`;
      const moves =
        asset === NATIVE
          ? { to: payTo as Address, value: amount, data: reference, gas: 30_000n }
          : { to: asset as Address, value: 0n, data: call, gas: 100_000n };
      const transaction: TransactionSerializableEIP1559 = {
        chainId: CHAIN_ID,
        nonce,
        maxPriorityFeePerGas: 1_000_000_000n,
        maxFeePerGas: 4n * BigInt(head.baseFeePerGas) + 1_000_000_000n,
        ...moves,
        ...parts,
        type: "eip1559",
      };
      return signedOf(await account.signTransaction(transaction), transaction.nonce ?? 0);
    },
    identify,
    async prove(shown, requirement, { secret, version = 2 } = {}) {
      const transaction = typeof shown === "string" ? shown : shown.base64;
      const value = header({ transaction, ...(secret && { secret }) }, requirement, version);
      const headers = { v1: undefined, v2: undefined, idempotencyKey: undefined, [`v${version}`]: value };
      const decoded = decodeProof(headers);
      if (!decoded.ok || !isTransaction(decoded.proof)) throw new Error("the proof of the test cannot be read");
      const identity = await identify(decoded.proof.inner.transaction, secret);
      if (!identity.ok) throw new Error(`the transaction of the test cannot be identified: ${identity.code}`);
      return bindTransaction(decoded.proof, requirement, identity, Math.ceil(Date.now() / 1000) + 900);
    },
    submit,
    async broadcast(signed) {
      await submit(signed);
      await vi.waitUntil(() => anvil.rpc("eth_getTransactionReceipt", [signed.hash]), { timeout: 5_000, interval: 5 });
    },
    async setTokenMode(mode) {
      await anvil.rpc("anvil_setStorageAt", [TOKEN, word(1n), word(modes[mode])]);
    },
    setTokenBalance,
    tokenBalance: async (account) =>
      BigInt(text(await anvil.rpc("eth_getStorageAt", [TOKEN, slotOf(account), "latest"]))),
    async close() {
      for (const one of opened) one.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

export const signedOf = (raw: Hex, nonce: number): Signed => ({
  raw,
  hash: keccak256(raw),
  nonce,
  base64: Buffer.from(raw.slice(2), "hex").toString("base64"),
});

/** The payment header of either version. */
function header(payload: object, requirement: TransactionRequirement, version: 1 | 2): string {
  const { scheme, network, amount, payTo, maxTimeoutSeconds, extra } = requirement;
  if (version === 1) return encodeHeader({ x402Version: 1, scheme, network: "base-sepolia", payload });
  const accepted = {
    scheme,
    network,
    asset: wireAsset(requirement),
    amount: `${amount}`,
    payTo,
    maxTimeoutSeconds,
    extra,
  };
  return encodeHeader({ x402Version: 2, accepted, payload, resource: RESOURCE });
}

/** The record's trace of a proof, as the paywall writes it. */
export const traceOfTransfer = (proof: TransactionProof, transaction: string | null): Trace => ({
  ...traceOf(proof, transaction),
  ...(proof.requirement.method === "transaction" && { confirmations: proof.requirement.confirmations }),
});
