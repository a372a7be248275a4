// The test token on a local chain: placed at any address, read, minted and told to misbehave. Amounts are atomic units.
import {
  type Address,
  createPublicClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  parseAbi,
  toHex,
} from "viem";
import * as z from "zod/mini";
import type { Anvil } from "./anvil.js";
import { testToken } from "./token.artifact.js";

/** One Transfer log of the token. */
export interface Transfer {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly transaction: Hex;
  readonly block: bigint;
}

/** The token of a sandbox. The setters are transactions: they resolve when mined, so never while mining is off. */
export interface SandboxToken {
  readonly address: Address;
  readonly abi: typeof testToken.abi;
  balanceOf(account: Address): Promise<bigint>;
  authorizationState(authorizer: Address, nonce: Hex): Promise<boolean>;
  /** Transfer logs, oldest first; their number is the number of debits. */
  transfers(filter?: { from?: Address; to?: Address; fromBlock?: bigint }): Promise<Transfer[]>;
  mint(to: Address, value: bigint): Promise<void>;
  /** Writes the balances into storage: no block, no log, works while mining is off. */
  setBalances(accounts: readonly Address[], value: bigint): Promise<void>;
  setPaused(on: boolean): Promise<void>;
  setBlacklisted(account: Address, on: boolean): Promise<void>;
  /** Every transfer delivers this share less. */
  setFeeBasisPoints(share: number): Promise<void>;
  /** A used nonce no longer reverts, emits AuthorizationUsed and moves nothing (faults A33). */
  setSilentReuse(on: boolean): Promise<void>;
  /** Money moves without a Transfer log. */
  setMute(on: boolean): Promise<void>;
  /** EIP-712 name and version; empty strings bring `USDC` and `2` back. */
  setDomain(name: string, version: string): Promise<void>;
  setDecimals(decimals: number): Promise<void>;
}

const transferEvent = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);

/**
 * Places the token's code at an address and answers with its handle.
 * @example
 * const token = await placeToken(chain, "0x036CbD53842c5426634e7929541eC2318f3dCF7e");
 * await token.setBalances([buyer.address], 5_000_000n);
 */
export async function placeToken(chain: Anvil, address: Address): Promise<SandboxToken> {
  await chain.rpc("anvil_setCode", [address, testToken.runtime]);
  const client = createPublicClient({ transport: http(chain.url) });
  const contract = { address, abi: testToken.abi } as const;
  const send = (data: Hex) => sendFromKeeper(chain, address, data);

  return {
    ...contract,
    balanceOf: (account) => client.readContract({ ...contract, functionName: "balanceOf", args: [account] }),
    authorizationState: (authorizer, nonce) =>
      client.readContract({ ...contract, functionName: "authorizationState", args: [authorizer, nonce] }),
    async transfers({ from, to, fromBlock = 0n } = {}) {
      const args = { ...(from && { from }), ...(to && { to }) };
      const filter = { address, abi: transferEvent, eventName: "Transfer", args, fromBlock, strict: true } as const;
      const logs = await client.getContractEvents(filter);
      return logs.map((log) => ({ ...log.args, transaction: log.transactionHash, block: log.blockNumber }));
    },
    mint: (to, value) => send(encodeFunctionData({ ...contract, functionName: "mint", args: [to, value] })),
    async setBalances(accounts, value) {
      const word = toHex(value, { size: 32 });
      await chain.batch(accounts.map((account) => ["anvil_setStorageAt", [address, balanceSlot(account), word]]));
    },
    setPaused: (on) => send(encodeFunctionData({ ...contract, functionName: "setPaused", args: [on] })),
    setBlacklisted: (account, on) =>
      send(encodeFunctionData({ ...contract, functionName: "setBlacklisted", args: [account, on] })),
    setFeeBasisPoints: (share) =>
      send(encodeFunctionData({ ...contract, functionName: "setFeeBasisPoints", args: [share] })),
    setSilentReuse: (on) => send(encodeFunctionData({ ...contract, functionName: "setSilentReuse", args: [on] })),
    setMute: (on) => send(encodeFunctionData({ ...contract, functionName: "setMute", args: [on] })),
    setDomain: (name, version) =>
      send(encodeFunctionData({ ...contract, functionName: "setDomain", args: [name, version] })),
    setDecimals: (decimals) => send(encodeFunctionData({ ...contract, functionName: "setDecimals", args: [decimals] })),
  };
}

/** Storage slot of a balance: the mapping is the token's first variable. */
function balanceSlot(account: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [account, 0n]));
}

const accountsSchema = z.array(z.string());
const receiptSchema = z.nullable(z.object({ status: z.string() }));

/** Sends a transaction from the chain's first unlocked account and waits until it is mined. */
export async function sendFromKeeper(chain: Anvil, to: Address, data: Hex): Promise<void> {
  const [keeper] = accountsSchema.parse(await chain.rpc("eth_accounts"));
  const transaction = z.string().parse(await chain.rpc("eth_sendTransaction", [{ from: keeper, to, data }]));
  const giveUpAt = Date.now() + 10_000;
  for (;;) {
    const receipt = receiptSchema.parse(await chain.rpc("eth_getTransactionReceipt", [transaction]));
    if (receipt?.status === "0x1") return;
    if (receipt) throw new Error(`The sandbox's own transaction ${transaction} reverted`);
    if (Date.now() > giveUpAt) throw new Error(`The transaction ${transaction} was not mined: is mining off?`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
