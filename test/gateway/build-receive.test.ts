// POST /transaction/receive over HTTP, on both real chains: what collects a proof is built after it was verified, signed and sent by
// the seller alone, and seen to arrive.
import { getAssociatedTokenAddressSync } from "@solana/spl-token";
import { Keypair, PublicKey, VersionedTransaction } from "@solana/web3.js";
import { type Hex, parseTransaction, recoverTransactionAddress, serializeTransaction } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount, sign as signDigest } from "viem/accounts";
import { keccak256 } from "viem/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  type Sandbox,
  type SolanaSandbox,
  solPayer,
  splPayer,
} from "../../src/testing/index.js";
import { answer, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import type { Answer } from "./call.js";
import { type Kind, newMinedPayer, onEvm, onSolana, receive, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let foreign: Awaited<ReturnType<typeof startScriptedFacilitator>>;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  foreign = await startScriptedFacilitator();
  // Without keys of its own: in the local mode the gateway pays for nothing.
  const networks = { "base-sepolia": { rpcUrl: evm.rpcUrl }, "solana-devnet": { rpcUrl: solana.rpcUrl } };
  world = await createGatewayWorld({ chains: { evm, solana }, options: { networks, facilitatorUrls: [foreign.url] } });
});
afterAll(async () => {
  await world.close();
  await Promise.all([evm.close(), solana.close(), foreign.close()]);
});

const build = (
  kind: Kind,
  payTo: string,
  proof: string,
  { options, ...more }: { options?: object; [member: string]: unknown } = {},
) => world.call("POST", "/transaction/receive", receiveBody(kind, payTo, proof, more), options);

const bytesOf = ({ body }: Answer): Buffer => Buffer.from(String(body.transaction), "base64");

async function newSeller(wei = 10n ** 18n): Promise<PrivateKeyAccount & { readonly key: Hex }> {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  await evm.native.setBalances([account.address], wei);
  return { ...account, key };
}

/** What the seller does with the bytes: inspects, signs, and sends them over a node of his own. */
async function signAndSend(
  { key, address }: { readonly key: Hex; readonly address: Hex },
  built: Answer,
): Promise<Hex> {
  const unsigned: Hex = `0x${bytesOf(built).toString("hex")}`;
  const signature = await signDigest({ hash: keccak256(unsigned), privateKey: key });
  const raw = serializeTransaction(parseTransaction(unsigned), signature);
  expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(address);
  return (await evm.chain.rpc("eth_sendRawTransaction", [raw])) as Hex;
}

const statusOf = async ({ body }: Answer) =>
  (await world.call("GET", `/payment/status/${String(body.paymentId)}`)).body;
const arrived = (built: Answer) =>
  expect.poll(async () => (await statusOf(built)).status, { timeout: 20_000 }).toMatch(/^(?:confirmed|finalized)$/);

describe("an authorization on EVM", () => {
  it("is collected by a transaction of the seller's wallet, which he signs and sends", async () => {
    for (const version of [1, 2] as const) {
      const kind = onEvm(evm, "usdc", version);
      const seller = await newSeller();
      const built = await build(kind, seller.address, await sign(kind, seller.address), {
        resource: "https://shop.example/a",
      });
      expect([verdictOf(built), built.body.error?.message]).toEqual(["created", undefined]);
      const fields = parseTransaction(`0x${bytesOf(built).toString("hex")}`);
      expect(fields).toMatchObject({ type: "eip1559", chainId: 84532, to: evm.token.address.toLowerCase() });
      expect(fields.data?.slice(0, 10)).toBe("0xe3ee160e");
      const now = Math.floor(Date.now() / 1000);
      expect(built.body).toMatchObject({
        signatureRequired: true,
        secret: null,
        recipient: seller.address,
        amountAtomic: "10000",
      });
      expect(built.body.expiresAt).toBeGreaterThan(now + 50);
      expect(built.body.expiresAt).toBeLessThanOrEqual(now + 61);
      expect(built.body.lastValidBlockHeight).toBeTypeOf("number");
      expect(await kind.received(seller.address)).toEqual([]);
      const hash = await signAndSend(seller, built);
      await arrived(built);
      expect(await statusOf(built)).toMatchObject({
        type: "received",
        signature: hash,
        resource: "https://shop.example/a",
      });
      expect(await kind.received(seller.address)).toEqual([10_000n]);
    }
  });

  it("is built again for its own account as long as it has not been sent, and granted to nobody else", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller();
    const proof = await sign(kind, seller.address);
    const first = await build(kind, seller.address, proof);
    const second = await build(kind, seller.address, proof);
    expect(second.body).toMatchObject({ paymentId: first.body.paymentId, status: "created" });
    const key = await world.newKey({ account: await world.newAccount() });
    expect(verdictOf(await build(kind, seller.address, proof, { options: { key } }))).toBe(
      "400 INVALID_PAYMENT_PROOF already_used",
    );
    expect(verdictOf(await receive(world, kind, seller.address, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
    await signAndSend(seller, second);
    await arrived(first);
    expect(verdictOf(await build(kind, seller.address, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
  });

  it("has the tip that its caller wants, up to a hundredth", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller();
    const proof = await sign(kind, seller.address);
    const built = await build(kind, seller.address, proof, { priorityFee: 0.00012 });
    const { maxPriorityFeePerGas, gas } = parseTransaction(`0x${bytesOf(built).toString("hex")}`);
    expect((maxPriorityFeePerGas ?? 0n) * (gas ?? 0n)).toBe(120_000_000_000_000n);
    for (const priorityFee of [0.011, "0.000000000000000001"]) {
      expect(verdictOf(await build(kind, seller.address, proof, { priorityFee }))).toBe(
        "400 INVALID_REQUEST priorityFee",
      );
    }
  });

  it("needs a wallet that can pay for the gas", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller(1_000n);
    expect(verdictOf(await build(kind, seller.address, await sign(kind, seller.address)))).toBe(
      "400 INSUFFICIENT_BALANCE walletAddress",
    );
  });

  it("is shown to a permitted facilitator first, whose refusal counts and whose word does not", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller();
    const proof = await sign(kind, seller.address);
    foreign.script("verify", answer.invalid("insufficient_funds"));
    const refused = await build(kind, seller.address, proof, { facilitatorUrl: foreign.url });
    expect(verdictOf(refused)).toBe("400 INVALID_PAYMENT_PROOF insufficient_funds");
    const poor = await sign(kind, seller.address, {
      payer: eip3009Payer(await evm.newBuyer(0n)),
    });
    const believed = await build(kind, seller.address, poor, { facilitatorUrl: foreign.url });
    expect(verdictOf(believed)).toBe("400 INVALID_PAYMENT_PROOF insufficient_funds");
    expect(verdictOf(await build(kind, seller.address, proof, { facilitatorUrl: foreign.url }))).toBe("created");
    expect(verdictOf(await build(kind, seller.address, proof, { facilitatorUrl: "https://x402.org/f" }))).toBe(
      "400 INVALID_REQUEST facilitatorUrl",
    );
  });

  it("is verified first: for another payee, amount or signer nothing is built", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const [seller, other] = [await newSeller(), await newSeller()];
    const wrong = [
      [await sign(kind, other.address), {}, "offer_mismatch"],
      [await sign(kind, seller.address), { expectedAmount: 0.02 }, "offer_mismatch"],
    ] as const;
    for (const [proof, more, code] of wrong) {
      const built = await build(kind, seller.address, proof, { ...more });
      expect(verdictOf(built)).toBe(`400 INVALID_PAYMENT_PROOF ${code}`);
      expect(built.body.transaction).toBeUndefined();
    }
  });
});

describe("a token payment on Solana", () => {
  const newWallet = async (lamports = 10n ** 9n) => {
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    await solana.token.mint(address, 0n);
    if (lamports > 0n) solana.chain.airdrop(address, lamports);
    return { wallet, address };
  };
  const signFor = async (kind: Kind, address: string, feePayer = address) => {
    const payer = splPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, feePayer });
    return sign(kind, address, { payer });
  };

  const ataOf = (owner: string) =>
    getAssociatedTokenAddressSync(new PublicKey(solana.usdc), new PublicKey(owner)).toBase58();

  it("is collected by the signature of the seller's wallet as fee payer", async () => {
    for (const version of [1, 2] as const) {
      const kind = onSolana(solana, "usdc", version);
      const { wallet, address } = await newWallet();
      const built = await build(kind, address, await signFor(kind, address));
      expect([verdictOf(built), built.body.error?.message]).toEqual(["created", undefined]);
      expect(built.body).toMatchObject({ signatureRequired: true, amountAtomic: "10000", recipient: address });
      const transaction = VersionedTransaction.deserialize(bytesOf(built));
      expect(transaction.message.staticAccountKeys[0]?.toBase58()).toBe(address);
      expect(transaction.signatures[0]?.every((byte) => byte === 0)).toBe(true);
      transaction.sign([wallet]);
      const signature = await solana.connection().sendRawTransaction(transaction.serialize());
      await arrived(built);
      expect(await statusOf(built)).toMatchObject({ signature });
      expect(await kind.received(address)).toEqual([10_000n]);
    }
  });

  it("must wait for that very wallet, and let it stand in no instruction", async () => {
    const kind = onSolana(solana, "usdc", 2);
    const { address } = await newWallet();
    const foreignPayer = await signFor(kind, address, Keypair.generate().publicKey.toBase58());
    expect(verdictOf(await build(kind, address, foreignPayer))).toContain("400 INVALID_PAYMENT_PROOF");
    // The seller's own money: a delegate of his account may sign for it, and it would come back to him.
    const move = { source: ataOf(address) };
    const delegate = splPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, feePayer: address, move });
    const own = await build(kind, address, await sign(kind, address, { payer: delegate }));
    expect(verdictOf(own)).toContain("400 INVALID_PAYMENT_PROOF");
  });

  it("needs SOL for the fee, a token account, and no other fee than the buyer has signed", async () => {
    const kind = onSolana(solana, "usdc", 2);
    const poor = await newWallet(0n);
    expect(verdictOf(await build(kind, poor.address, await signFor(kind, poor.address)))).toBe(
      "400 INSUFFICIENT_BALANCE walletAddress",
    );
    const bare = Keypair.generate().publicKey.toBase58();
    solana.chain.airdrop(bare, 10n ** 9n);
    expect(verdictOf(await build(kind, bare, await signFor(kind, bare)))).toBe("400 INVALID_RECIPIENT walletAddress");
    const { address } = await newWallet();
    const proof = await signFor(kind, address);
    expect(verdictOf(await build(kind, address, proof, { priorityFee: 0.001 }))).toBe(
      "400 INVALID_REQUEST priorityFee",
    );
    const more = { facilitatorUrl: foreign.url };
    expect(verdictOf(await build(kind, address, proof, more))).toBe("400 INVALID_REQUEST facilitatorUrl");
  });
});

describe("a buyer's own transfer", () => {
  it("needs no signature: the seller has only to send it", async () => {
    const eth = onEvm(evm, "eth", 2);
    const payee = await eth.newPayee();
    const built = await build(eth, payee, await sign(eth, payee));
    expect([verdictOf(built), built.body.signatureRequired, built.body.error?.message]).toEqual([
      "created",
      false,
      undefined,
    ]);
    await evm.chain.rpc("eth_sendRawTransaction", [`0x${bytesOf(built).toString("hex")}`]);
    await arrived(built);
    expect(await eth.received(payee)).toEqual([eth.units]);

    const sol = onSolana(solana, "sol", 1);
    const wallet = await sol.newPayee();
    const transfer = await build(sol, wallet, await sign(sol, wallet));
    expect([verdictOf(transfer), transfer.body.signatureRequired]).toEqual(["created", false]);
    await solana.connection().sendRawTransaction(bytesOf(transfer));
    await arrived(transfer);
    expect(await sol.received(wallet)).toEqual([sol.units]);
  });

  it("that is on the chain already needs nothing at all", async () => {
    const eth = onEvm(evm, "eth", 2);
    const payee = await eth.newPayee();
    const payer = await newMinedPayer(evm);
    const proof = await sign(eth, payee, { payer });
    const built = await build(eth, payee, proof);
    expect([verdictOf(built), built.body.error?.message]).toEqual(["confirmed", undefined]);
    expect(built.body).toMatchObject({
      transaction: null,
      signatureRequired: false,
      lastValidBlockHeight: null,
      expiresAt: null,
    });
    expect(verdictOf(await build(eth, payee, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");

    const sol = onSolana(solana, "sol", 2);
    const wallet = await sol.newPayee();
    const sent = solPayer(await solana.newBuyer(), { rpcUrl: solana.rpcUrl, broadcast: true, show: "id" });
    expect(verdictOf(await build(sol, wallet, await sign(sol, wallet, { payer: sent })))).toMatch(
      /^(?:confirmed|finalized)$/,
    );
  });

  it("gives the same answer to the same request", async () => {
    const eth = onEvm(evm, "eth", 2);
    const payee = await eth.newPayee();
    const proof = await sign(eth, payee);
    const options = { headers: { "Idempotency-Key": "one-build" } };
    const first = await build(eth, payee, proof, { options });
    expect((await build(eth, payee, proof, { options })).body).toEqual(first.body);
  });
});

describe("a gateway with keys of its own", () => {
  it("never sends what it has built for a seller", async () => {
    const paying = await createGatewayWorld({ chains: { evm, solana } });
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller();
    const body = receiveBody(kind, seller.address, await sign(kind, seller.address));
    const built = await paying.call("POST", "/transaction/receive", body);
    expect(verdictOf(built)).toBe("created");
    const { payments } = paying.gateway.database;
    const record = () => payments.get(String(built.body.paymentId));
    // The watcher has looked, come back, and looked again: each time somebody could have sent it.
    const looks = new Set<number | null | undefined>();
    const count = async () => looks.add((await record())?.dueAt).size;
    await expect.poll(count, { timeout: 50_000, interval: 20 }).toBeGreaterThanOrEqual(4);
    expect((await record())?.status).toBe("created");
    expect(await kind.received(seller.address)).toEqual([]);
    await paying.close();
  }, 60_000);
});

describe("a request of POST /transaction/receive", () => {
  it("has no timeout and no settle, and is for one's own wallets", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const seller = await newSeller();
    const proof = await sign(kind, seller.address);
    expect(verdictOf(await build(kind, seller.address, proof, { timeout: 30 }))).toContain("400 INVALID_REQUEST");
    await world.gateway.database.accounts.prove(await world.newAccount(), seller.address);
    expect(verdictOf(await build(kind, seller.address, proof))).toBe("403 FORBIDDEN walletAddress");
  });
});
