// The six endpoints' requests as they are usually made, each with something else in its place: what the cases are made of.
import type { TransactionSerializableEIP1559 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { evmTransferPayer, splPayer } from "../../../src/testing/index.js";
import { type Kind, newEvmAddress, onEvm, onSolana, receiveBody, sign } from "../receiving.js";
import type { Ask, Make } from "./case.js";
import type { Ground } from "./ground.js";

/** Fields in place of the usual ones; `undefined` leaves one out. */
export type Change = object | ((ground: Ground) => object | Promise<object>);
const changed = async (change: Change, ground: Ground): Promise<object> =>
  typeof change === "function" ? change(ground) : change;

const post = (path: string, body: object, key?: string): Ask => ({
  ...{ method: "POST", path, body },
  ...(key !== undefined && { key }),
});
export const get =
  (path: string): Make =>
  () => ({ method: "GET", path });

/** `POST /payment/send`, in ETH and in SOL. */
export const send =
  (change: Change = {}): Make =>
  async (ground) => {
    const { address, apiKey } = ground.wallet;
    const usual = { walletAddress: address, recipientAddress: newEvmAddress(), amount: 0.001 };
    return post("/payment/send", { ...usual, ...(await changed(change, ground)) }, apiKey);
  };
export const sendSol =
  (change: Change = {}): Make =>
  async (ground) => {
    const { address, apiKey } = ground.solWallet;
    const usual = { walletAddress: address, recipientAddress: ground.newSolanaPayee(), amount: 0.01 };
    return post("/payment/send", { ...usual, ...(await changed(change, ground)) }, apiKey);
  };

/** `POST /transaction/send`, in ETH and in SOL. */
export const buildSend =
  (change: Change = {}): Make =>
  async (ground) => {
    const usual = { walletAddress: ground.buyer.address, recipientAddress: newEvmAddress(), amount: 0.001 };
    return post("/transaction/send", { ...usual, ...(await changed(change, ground)) });
  };
export const buildSendSol =
  (change: Change = {}): Make =>
  async (ground) => {
    const walletAddress = ground.solBuyer.publicKey.toBase58();
    const usual = { walletAddress, recipientAddress: ground.newSolanaPayee(), amount: 0.01 };
    return post("/transaction/send", { ...usual, ...(await changed(change, ground)) });
  };

export type KindOf = (ground: Ground) => Kind;
export const usdcOnEvm: KindOf = ({ evm }) => onEvm(evm, "usdc", 1);
export const usdcOnSolana: KindOf = ({ solana }) => onSolana(solana, "usdc", 1);
/** Its buyers tip what the node suggests: other cases have paid more than anybody needs to. */
export const ether: KindOf = ({ evm }) => ({
  ...onEvm(evm, "eth", 1),
  async newPayer() {
    const account = await evm.newBuyer();
    await evm.native.setBalances([account.address], 10n ** 20n);
    const tip = BigInt(String(await evm.chain.rpc("eth_maxPriorityFeePerGas", [])));
    const change = (built: TransactionSerializableEIP1559) => {
      const { maxFeePerGas = 0n } = built;
      return { ...built, maxPriorityFeePerGas: tip, maxFeePerGas: maxFeePerGas + tip };
    };
    return evmTransferPayer(account, { rpcUrl: evm.rpcUrl, change });
  },
});
export const sol: KindOf = ({ solana }) => onSolana(solana, "sol", 1);

/** The resource that the proof is for, where it names one: v2 alone. */
export interface Proving {
  readonly kindOf?: KindOf;
  readonly resource?: string;
}

/** `POST /payment/receive` with a fresh proof for a new payee. */
export const receive =
  (change: Change = {}, { kindOf = usdcOnEvm, resource }: Proving = {}): Make =>
  async (ground) => {
    const kind = kindOf(ground);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo, resource === undefined ? {} : { resource });
    return post("/payment/receive", receiveBody(kind, payTo, proof, await changed(change, ground)));
  };

/** `POST /transaction/receive` with a fresh proof for a seller whose own wallet pays to collect it. */
export const buildReceive =
  (change: Change = {}, { kindOf = usdcOnEvm, resource }: Proving = {}): Make =>
  async (ground) => {
    const kind = kindOf(ground);
    const { address } = privateKeyToAccount(generatePrivateKey());
    await ground.evm.native.setBalances([address], 10n ** 18n);
    const proof = await sign(kind, address, resource === undefined ? {} : { resource });
    return post("/transaction/receive", receiveBody(kind, address, proof, await changed(change, ground)));
  };

/** The same on Solana: the seller stands where the fee payer does. */
export const buildReceiveSol =
  (change: Change = {}): Make =>
  async (ground) => {
    const { solana } = ground;
    const kind = usdcOnSolana(ground);
    const seller = (await solana.newBuyer()).publicKey.toBase58();
    const payer = splPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, feePayer: seller });
    const proof = await sign(kind, seller, { payer, offer: { ...kind.offer(seller), extra: { feePayer: seller } } });
    return post("/transaction/receive", receiveBody(kind, seller, proof, await changed(change, ground)));
  };

/** The body of an asked request, to look into. */
export const bodyOf = ({ body }: Ask): Readonly<Record<string, unknown>> =>
  typeof body === "object" ? (body as Record<string, unknown>) : {};
