// Buyers of the gateway's sellers: proofs of every kind on both chains, and the requests that receive them.
import { randomBytes } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import {
  eip3009Payer,
  evmTransferPayer,
  type Payer,
  type Sandbox,
  type SolanaSandbox,
  signPayment,
  solPayer,
  splPayer,
} from "../../src/testing/index.js";
import type { Answer, CallOptions } from "./call.js";
import type { GatewayWorld } from "./world.js";

/** One kind of money: its asset as a request names it, an offer of it, and who pays and counts it. */
export interface Kind {
  readonly name: string;
  readonly version: 1 | 2;
  /** As a request says it; undefined = the chain's own currency. */
  readonly asset: string | undefined;
  /** Whole units and atomic ones of the same amount. */
  readonly amount: string;
  readonly units: bigint;
  readonly network: string;
  newPayee(): Promise<string>;
  newPayer(): Promise<Payer>;
  offer(payTo: string): Offer;
  /** Debits that went to the payee, in atomic units. */
  received(payTo: string): Promise<readonly bigint[]>;
}

export interface Offer {
  readonly scheme: "exact";
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

const BY_TRANSACTION = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
export const newEvmAddress = (): `0x${string}` => `0x${randomBytes(20).toString("hex")}`;

export type EvmKind = "usdc" | "eth" | "token";

export function onEvm(sandbox: Sandbox, kind: EvmKind, version: 1 | 2): Kind {
  const { rpcUrl, token, native, domain } = sandbox;
  const isNative = kind === "eth";
  const units = isNative ? 200_000_000_000_000n : 10_000n;
  const asset = isNative ? "native" : token.address;
  return {
    name: `${{ usdc: "USDC by authorization", eth: "ETH", token: "USDC by transaction" }[kind]} (v${version})`,
    version,
    asset: isNative ? undefined : "USDC",
    amount: isNative ? "0.0002" : "0.01",
    units,
    network: "eip155:84532",
    newPayee: async () => newEvmAddress(),
    async newPayer() {
      const account = await sandbox.newBuyer();
      if (kind === "usdc") return eip3009Payer(account);
      await native.setBalances([account.address], 10n ** 18n);
      return evmTransferPayer(account, { rpcUrl });
    },
    offer: (payTo) => ({
      ...{ scheme: "exact", network: "eip155:84532", payTo, maxTimeoutSeconds: 60, amount: `${units}`, asset },
      extra: kind === "usdc" ? { name: domain.name, version: domain.version } : BY_TRANSACTION,
    }),
    received: async (payTo) => {
      const to = payTo as `0x${string}`;
      return (await (isNative ? native : token).transfers({ to })).map(({ value }) => value);
    },
  };
}

export function onSolana(sandbox: SolanaSandbox, kind: "usdc" | "sol", version: 1 | 2): Kind {
  const { rpcUrl, token, native, caip2 } = sandbox;
  const isNative = kind === "sol";
  const units = isNative ? 1_000_000n : 10_000n;
  return {
    name: `${isNative ? "SOL" : "USDC on Solana"} (v${version})`,
    version,
    asset: isNative ? undefined : "USDC",
    amount: isNative ? "0.001" : "0.01",
    units,
    network: caip2,
    async newPayee() {
      const payee = Keypair.generate().publicKey.toBase58();
      if (!isNative) await token.mint(payee, 0n);
      return payee;
    },
    async newPayer() {
      const wallet = await sandbox.newBuyer();
      return isNative ? solPayer(wallet, { rpcUrl }) : splPayer(wallet, { rpcUrl });
    },
    offer: (payTo) => ({
      ...{ scheme: "exact", network: caip2, payTo, maxTimeoutSeconds: 60, amount: `${units}` },
      asset: isNative ? "native" : token.address,
      extra: isNative ? BY_TRANSACTION : { feePayer: sandbox.feePayer.publicKey.toBase58() },
    }),
    received: async (payTo) => (await (isNative ? native : token).transfers({ to: payTo })).map(({ value }) => value),
  };
}

/** A buyer with ether whose payment is on the chain before it is shown. */
export async function newMinedPayer({ newBuyer, native, rpcUrl }: Sandbox): Promise<Payer> {
  const account = await newBuyer();
  await native.setBalances([account.address], 10n ** 18n);
  return evmTransferPayer(account, { rpcUrl, broadcast: true });
}

/** A signed proof as its header has it. `change`: what is written into its JSON in place of the right thing. */
export async function sign(
  kind: Kind,
  payTo: string,
  {
    payer,
    offer = kind.offer(payTo),
    resource,
    change = (payload) => payload,
  }: {
    readonly payer?: Payer;
    readonly offer?: Offer;
    readonly resource?: string;
    readonly change?: (payload: Record<string, unknown>) => object;
  } = {},
): Promise<string> {
  const challenge = resource === undefined ? {} : { resource: { url: resource } };
  const paying = payer ?? (await kind.newPayer());
  const { payload } = await signPayment({
    payer: paying,
    offer: { ...toWire(offer) },
    version: kind.version,
    challenge,
  });
  return encode(change({ ...payload }));
}

/** The chain's own currency as it stands on the wire. */
export const toWire = (offer: Offer): Offer =>
  offer.asset === "native"
    ? { ...offer, asset: offer.network.startsWith("solana:") ? "1".repeat(32) : `0x${"0".repeat(40)}` }
    : offer;

export const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");
export const decode = (text: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(text, "base64").toString()) as Record<string, unknown>;

/** The body of a receive request for this proof. */
export const receiveBody = (kind: Kind, payTo: string, paymentProof: string, more: object = {}): object => ({
  walletAddress: payTo,
  paymentProof,
  expectedAmount: kind.amount,
  ...(kind.asset !== undefined && { asset: kind.asset }),
  ...more,
});

/** One `POST /payment/receive`. */
export const receive = (
  world: Pick<GatewayWorld, "call">,
  kind: Kind,
  payTo: string,
  paymentProof: string,
  { options, ...more }: { readonly options?: CallOptions; readonly [member: string]: unknown } = {},
): Promise<Answer> => world.call("POST", "/payment/receive", receiveBody(kind, payTo, paymentProof, more), options);

/** `CODE detail`, or the status of what was received; final so soon on a local chain that it counts as confirmed. */
export function verdictOf({ status, body }: Answer): string {
  if (status === 200) return String(body.status ?? "verified").replace("finalized", "confirmed");
  const details = (body.error?.details ?? []) as unknown as readonly { readonly path: string }[];
  return [status, body.error?.code, ...details.map(({ path }) => path)].join(" ");
}
