// The real chain (LiteSVM) with a proxy before it and the cluster opened as `local()` opens it, for the tests of
// chains/solana. Proofs come from the test kit's buyer through the paywall's own decoding.
import type { Keypair } from "@solana/web3.js";
import type { OpenedChain } from "../../../src/chains/chain.js";
import type { SplProof } from "../../../src/chains/solana/judge.js";
import { openSolanaChain } from "../../../src/chains/solana/open.js";
import { isTransaction } from "../../../src/identify.js";
import { findNetwork } from "../../../src/networks.js";
import { bindTransaction, decodeProof } from "../../../src/proof.js";
import type { LocalSolanaNetwork } from "../../../src/receive/local-options.js";
import type { SettleContext, Trace, VerifyContext } from "../../../src/receive/receiver.js";
import type { SplRequirement } from "../../../src/requirement.js";
import type { Logger } from "../../../src/settings.js";
import type { ChainExpiry } from "../../../src/store/record.js";
import { signPayment } from "../../../src/testing/buyer.js";
import { type SplPayerOptions, splPayer } from "../../../src/testing/payers/solana.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { RESOURCE, traceOf } from "../../support/bound-proof.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";

export { fault } from "../../support/scripted-rpc.js";

export const PRICE = 10_000n;

export interface Setup extends Partial<Pick<LocalSolanaNetwork, "settlers" | "urls">> {
  readonly options?: Partial<LocalSolanaNetwork["options"]>;
  readonly timeoutMs?: number;
  readonly logger?: Logger;
}

export interface ProofOptions extends Partial<SplPayerOptions> {
  readonly wallet?: Keypair;
  readonly version?: 1 | 2;
  readonly requirement?: SplRequirement;
}

export interface World {
  readonly sandbox: SolanaSandbox;
  /** Stands between the receiver and the chain. */
  readonly rpc: ScriptedRpc;
  readonly chain: OpenedChain;
  readonly requirement: SplRequirement;
  /** The cluster opened once more. */
  open(setup?: Setup): Promise<OpenedChain>;
  /** A buyer's payment, by default by a buyer nobody else has. */
  proof(options?: ProofOptions): Promise<SplProof>;
  close(): Promise<void>;
}

/** Time stands still but for transactions where `slotTimeMs` is 0. */
export async function createWorld(slotTimeMs = 400): Promise<World> {
  const sandbox = await createSolanaSandbox({ slotTimeMs });
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  const opened: OpenedChain[] = [];
  const requirement: SplRequirement = {
    scheme: "exact",
    method: "spl",
    network: sandbox.caip2,
    asset: sandbox.usdc,
    amount: PRICE,
    payTo: sandbox.payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: sandbox.feePayer.publicKey.toBase58(), decimals: 6 },
  };
  const open: World["open"] = async (setup = {}) => {
    const { settlers = [sandbox.settlerKey], urls = [rpc.url], options, timeoutMs = 2_000, logger } = setup;
    const network = findNetwork(sandbox.caip2);
    if (!network) throw new Error("the sandbox's network is not in the table");
    const entry = { rpcUrl: [...urls], settler: [...settlers], ...options };
    const all = { networks: {}, timeoutMs, ...(logger && { logger }) };
    const chain = await openSolanaChain({ family: "solana", network, urls, settlers, options: entry }, all);
    opened.push(chain);
    return chain;
  };
  return {
    sandbox,
    rpc,
    chain: await open(),
    requirement,
    open,
    proof: (options = {}) => makeProof(sandbox, options.requirement ?? requirement, options),
    async close() {
      for (const chain of opened) chain.close();
      await rpc.close();
      await sandbox.close();
    },
  };
}

async function makeProof(
  sandbox: SolanaSandbox,
  requirement: SplRequirement,
  { wallet, version = 2, requirement: _, ...parts }: ProofOptions,
): Promise<SplProof> {
  const payer = splPayer(wallet ?? (await sandbox.newBuyer()), { rpcUrl: sandbox.rpcUrl, ...parts });
  const { value } = await signPayment({ payer, version, offer: { ...requirement, extra: { ...requirement.extra } } });
  const headers = { v1: undefined, v2: undefined, idempotencyKey: undefined, [`v${version}`]: value };
  const decoded = decodeProof(headers);
  if (!decoded.ok) throw new Error(`the proof of the test cannot be read: ${decoded.got}`);
  if (!isTransaction(decoded.proof)) throw new Error("the proof of the test is no transaction");
  const { transaction } = decoded.proof.inner;
  const chain = await import("../../../src/chains/solana/identity.js");
  const identity = await chain.identifyTransaction({ transaction });
  if (!identity.ok) throw new Error(`the proof of the test cannot be identified: ${identity.got}`);
  const validBefore = Math.ceil(Date.now() / 1000) + 900;
  return { ...(await bindTransaction(decoded.proof, requirement, identity, validBefore)), requirement };
}

export const verifyContext = (): VerifyContext => ({
  signatureKnown: false,
  resource: RESOURCE,
  signal: new AbortController().signal,
});

export interface RecordingContext extends SettleContext {
  readonly announced: { readonly id: string; readonly expiry: ChainExpiry | undefined }[];
}

/** A settle context that records what was announced. */
export function settleContext(ms = 8_000): RecordingContext {
  const announced: RecordingContext["announced"] = [];
  return {
    settlementId: "settlement",
    resource: RESOURCE,
    deadlineAt: Date.now() + ms,
    announced,
    async sending(id, expiry) {
      announced.push({ id, expiry });
    },
  };
}

/** What the store would know of a settlement that was announced. */
export function announcedTrace(proof: SplProof, { announced }: RecordingContext): Trace {
  const [sent] = announced;
  return { ...traceOf(proof, sent?.id ?? null), expiry: sent?.expiry ?? null };
}

export const lookup = (chain: OpenedChain, trace: Trace) => chain.lookup(trace, AbortSignal.timeout(5_000));
