// One account with everything that an account can own on both chains, and the same list of things that nobody owns: what another
// account tries its hand at.
import { randomBytes } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import { type Kind, newEvmAddress, onEvm, onSolana, receiveBody, sign } from "./receiving.js";
import { expectAnswer, ok } from "./spec/case.js";
import type { GatewayWorld } from "./world.js";

/** What can be named in a request. */
export interface Things {
  readonly paymentIds: Readonly<Record<"sent" | "sentOnSolana" | "received" | "built" | "collecting", string>>;
  readonly transactionIds: Readonly<Record<"evm" | "solana", string>>;
  readonly proofId: string;
  /** Addresses of hosted wallets. */
  readonly wallets: Readonly<Record<"evm" | "solana", string>>;
  readonly payee: string;
  /** An address that was shown to be the account's, with the challenge and the signature that showed it. */
  readonly proven: { readonly address: string; readonly nonce: string; readonly signature: string };
  readonly cursor: string;
}

export interface Owned extends Things {
  readonly account: string;
  readonly apiKey: string;
  readonly walletIds: readonly string[];
  /** By Idempotency-Key: path and body of what was asked, and the text of its answer. */
  readonly asked: Readonly<Record<"send" | "receive" | "build", Asked>>;
  /** Proofs: granted, and waiting to be collected by a transaction that was built. */
  readonly granted: { readonly kind: Kind; readonly payTo: string; readonly proof: string };
  readonly collecting: { readonly kind: Kind; readonly payTo: string; readonly proof: string };
  /** What no other account may ever be shown. */
  readonly secrets: readonly string[];
}

interface Asked {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  readonly answer: object;
}

const METADATA = { order: "known-to-its-owner-alone" };

/** Sends, receives, builds and proves, as the owner. */
export async function own(world: GatewayWorld): Promise<Owned> {
  const { evm, solana } = world;
  if (!evm || !solana) throw new Error("an owner needs both chains");
  const account = await world.newAccount("owner");
  const [evmWallet, solWallet] = [
    await world.newWallet({ family: "evm", account }),
    await world.newWallet({ family: "solana", account }),
  ];
  const walletIds = [evmWallet.id, solWallet.id];
  const apiKey = await world.newKey({ account, wallets: walletIds });
  const post = async (path: string, body: object): Promise<Asked> => {
    const key = randomBytes(12).toString("hex");
    const answer = await world.call("POST", path, body, { key: apiKey, headers: { "Idempotency-Key": key } });
    expectAnswer(answer, ok());
    return { key, path, body, answer: answer.body };
  };
  const order = { walletAddress: evmWallet.address, recipientAddress: newEvmAddress(), amount: 0.001 };
  const onSol = { walletAddress: solWallet.address, recipientAddress: solana.seller, amount: 0.01 };
  const send = await post("/payment/send", { ...order, metadata: METADATA });
  const sol = await post("/payment/send", { ...onSol, metadata: METADATA });
  const build = await post("/transaction/send", { ...order, metadata: METADATA });

  const kind = onSolana(solana, "usdc", 2);
  const payTo = await kind.newPayee();
  const granted = { kind, payTo, proof: await sign(kind, payTo) };
  const receive = await post("/payment/receive", receiveBody(kind, payTo, granted.proof));
  const usdc = onEvm(evm, "usdc", 2);
  // A wallet that nobody has shown to be his: nothing but the record of its proof keeps others from it.
  const seller = (await evm.newBuyer()).address;
  await evm.native.setBalances([seller], 10n ** 18n);
  const collecting = { kind: usdc, payTo: seller, proof: await sign(usdc, seller) };
  const collect = await post("/transaction/receive", receiveBody(usdc, seller, collecting.proof));

  const ids = [send, sol, receive, build, collect].map(({ answer }) => textIn(answer, "paymentId"));
  const [sent = "", sentOnSolana = "", received = "", built = "", collectingId = ""] = ids;
  const { payments } = world.gateway.database;
  const proofId = (await payments.get(received))?.proofId ?? "";
  const page = await payments.page(account, "test", evmWallet.address, { type: "all", limit: 1, offset: 0 });
  const proven = await prove(world, apiKey);
  const secretsShown = [send, sol, build].flatMap(({ answer }) => [
    textIn(answer, "paymentProof"),
    textIn(answer, "secret"),
  ]);
  return {
    ...{ account, apiKey, walletIds, granted, collecting, proofId, proven, payee: payTo },
    paymentIds: { sent, sentOnSolana, received, built, collecting: collectingId },
    transactionIds: { evm: textIn(send.answer, "signature"), solana: textIn(sol.answer, "signature") },
    wallets: { evm: evmWallet.address, solana: solWallet.address },
    cursor: page.before ?? "",
    asked: { send, receive, build },
    secrets: [account, ...walletIds, ...ids, proofId, METADATA.order, ...secretsShown].filter((text) => text !== ""),
  };
}

const textIn = (answer: object, member: string): string => {
  const value = (answer as Record<string, unknown>)[member];
  return typeof value === "string" ? value : "";
};

async function prove(world: GatewayWorld, key: string): Promise<Things["proven"]> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const walletAddress = wallet.address;
  const challenge = await world.call("POST", "/wallets/challenge", { walletAddress }, { key });
  const nonce = String(challenge.body.nonce);
  const signature = await wallet.signMessage({ message: String(challenge.body.message) });
  expectAnswer(await world.call("POST", "/wallets/prove", { walletAddress, nonce, signature }, { key }), ok());
  return { address: walletAddress, nonce, signature };
}

/** Of the same form, and of nobody. */
export async function invent(): Promise<Things> {
  const id = () => `pay_${encodeBase58(randomBytes(32)).slice(0, 22)}`;
  const wallet = privateKeyToAccount(generatePrivateKey());
  const expiresAt = Math.floor(Date.now() / 1000) + 600;
  return {
    paymentIds: { sent: id(), sentOnSolana: id(), received: id(), built: id(), collecting: id() },
    transactionIds: { evm: `0x${randomBytes(32).toString("hex")}`, solana: encodeBase58(randomBytes(64)) },
    proofId: randomBytes(32).toString("hex"),
    wallets: {
      evm: privateKeyToAccount(generatePrivateKey()).address,
      solana: Keypair.generate().publicKey.toBase58(),
    },
    payee: Keypair.generate().publicKey.toBase58(),
    proven: {
      address: wallet.address,
      nonce: `${expiresAt}-${encodeBase58(randomBytes(16))}`,
      signature: await wallet.signMessage({ message: "of another text" }),
    },
    cursor: id(),
  };
}
