// What the cases of the specification stand on: a gateway over HTTP on one database and both real chains, wallets with money,
// sellers, and two foreign facilitators that its operator permits, one honest and one that never answers.
import { Keypair } from "@solana/web3.js";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../../src/testing/index.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../../support/scripted-facilitator.js";
import { settleOnChain } from "../../support/settle-on-chain.js";
import type { Answer } from "../call.js";
import { onEvm, receiveBody, sign } from "../receiving.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import type { Ask } from "./case.js";
import { PLANS } from "./plans.js";

export interface Ground {
  readonly world: GatewayWorld;
  readonly evm: Sandbox;
  readonly solana: SolanaSandbox;
  /** Hosted wallets with money, and keys that may open them. */
  readonly wallet: { readonly address: string; readonly apiKey: string };
  readonly solWallet: { readonly address: string; readonly apiKey: string };
  /** Wallets of callers who keep their keys. */
  readonly buyer: PrivateKeyAccount;
  readonly solBuyer: Keypair;
  /** Foreign facilitators: verifies and settles; says nothing. */
  readonly foreign: ScriptedFacilitator;
  readonly deaf: ScriptedFacilitator;
  /** A verification that nobody answers, without a timeout of its own: asked at the start, because it takes its time. */
  readonly patience: Promise<{ readonly answer: Answer; readonly seconds: number }>;
  /** With a key of every scope, where the request names no other. */
  ask(asked: Ask): Promise<Answer>;
  newSolanaPayee(): string;
}

const MUCH = 1_000n * 10n ** 18n;

/** The cases are more than any plan lets pass in a minute. */
const OFTEN = { plan: "enterprise", rateLimit: 1_000_000 } as const;

async function newWallet(world: GatewayWorld, family: "evm" | "solana", native: bigint) {
  const { id, address } = await world.newWallet({ family, native });
  return { address, apiKey: await world.newKey({ ...OFTEN, wallets: [id] }) };
}

/** Opens it before the tests of a file, and closes it after them. */
export function prepareGround(options: { readonly database: "sqlite" | "postgres"; readonly skip?: boolean }) {
  let ground: Ground | undefined;
  let close = async () => {};
  beforeAll(async () => {
    if (options.skip) return;
    const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
    const [foreign, deaf] = [
      await startScriptedFacilitator({ settle: settleEvm(evm) }),
      await startScriptedFacilitator(),
    ];
    deaf.always("supported", answer.hang());
    const facilitatorUrls = [foreign.url, deaf.url];
    const { database } = options;
    const own = { facilitatorUrls, plans: PLANS };
    const world = await createGatewayWorld({ database, chains: { evm, solana }, options: own });
    close = async () => {
      await Promise.all([world.close(), foreign.close(), deaf.close()]);
      await Promise.all([evm.close(), solana.close()]);
    };
    const usual = await world.newKey(OFTEN);
    const buyer = await evm.newBuyer();
    await evm.native.setBalances([buyer.address], MUCH);
    ground = {
      ...{ world, evm, solana, foreign, deaf, buyer },
      wallet: await newWallet(world, "evm", MUCH),
      solWallet: await newWallet(world, "solana", 10n ** 12n),
      solBuyer: await solana.newBuyer(),
      patience: askTheDeaf(world, evm, deaf.url),
      ask: ({ method, path, body, ...rest }) => world.call(method, path, body, { key: usual, ...rest }),
      newSolanaPayee: () => Keypair.generate().publicKey.toBase58(),
    };
  }, 120_000);
  afterAll(() => close());
  return (): Ground => {
    if (!ground) throw new Error("the ground is not there yet");
    return ground;
  };
}

function settleEvm(evm: Sandbox): NonNullable<NonNullable<Parameters<typeof startScriptedFacilitator>[0]>["settle"]> {
  const settle = settleOnChain(evm);
  return (payment) => {
    if (!("authorization" in payment)) throw new Error("this facilitator settles on EVM alone");
    return settle(payment);
  };
}

async function askTheDeaf(world: GatewayWorld, evm: Sandbox, facilitatorUrl: string) {
  const kind = onEvm(evm, "usdc", 2);
  const payTo = await kind.newPayee();
  const body = receiveBody(kind, payTo, await sign(kind, payTo), { facilitatorUrl });
  const from = performance.now();
  const answered = await world.call("POST", "/payment/receive", body);
  return { answer: answered, seconds: (performance.now() - from) / 1000 };
}
