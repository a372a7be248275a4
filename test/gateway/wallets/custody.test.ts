import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Keypair, PublicKey } from "@solana/web3.js";
import { recoverAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { PaywallConfigError } from "../../../src/errors.js";
import type { Custody } from "../../../src/gateway/parts.js";
import { openCustody } from "../../../src/gateway/wallets/custody.js";
import { createVault } from "../../../src/gateway/wallets/vault.js";
import { type OwnDatabase, openOwnDatabase, PASSPHRASE, wanted } from "./databases.js";

let own: OwnDatabase;
let custody: Custody;
let account: string;

beforeAll(async () => {
  own = await openOwnDatabase();
  custody = await mustOpen(own.database);
  account = (await own.database.accounts.create("shop")).id;
});

afterAll(() => own.close());

async function mustOpen(database: OwnDatabase["database"], passphrase = PASSPHRASE): Promise<Custody> {
  const opened = await openCustody(passphrase, database);
  if (!opened) throw new Error("a passphrase opens the hosted wallets");
  return opened;
}

/** An ed25519 key in the form of RFC 8410. */
const toSpki = (key: Uint8Array) => Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]);

describe("hosted wallets", () => {
  it("do not exist without a passphrase", async () => {
    expect(await openCustody(undefined, own.database)).toBeUndefined();
  });

  it("are made with a random key on EVM, which signs digests as the chain wants them", async () => {
    const wallet = await custody.create(wanted(account));
    expect(wallet).toMatchObject({ account, mode: "test", family: "evm", name: "till" });
    expect(wallet?.id).toMatch(/^wal_[1-9A-HJ-NP-Za-km-z]{22}$/);
    const digest = randomBytes(32);
    const signature = await custody.signer(wallet!).sign(digest);
    expect(signature).toHaveLength(65);
    const [hash, text] = [digest, signature].map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as const);
    expect(await recoverAddress({ hash: hash!, signature: text! })).toBe(wallet?.address);
    expect(BigInt(`0x${text!.slice(66, 130)}`)).toBeLessThan(2n ** 255n);
  });

  it("are made with a random key on Solana, which signs messages", async () => {
    const wallet = await custody.create(wanted(account, "solana"));
    const message = randomBytes(300);
    const signature = await custody.signer(wallet!).sign(message);
    const key = createPublicKey({ key: toSpki(new PublicKey(wallet!.address).toBytes()), format: "der", type: "spki" });
    expect(verify(null, message, key, signature)).toBe(true);
  });

  it("are imported: hex on EVM, base58 or a hex seed on Solana", async () => {
    const [evm, pair, seed] = [generatePrivateKey(), Keypair.generate(), randomBytes(32)];
    const imported = await Promise.all([
      custody.import({ ...wanted(account), secret: evm }),
      custody.import({ ...wanted(account, "solana"), secret: encodeBase58(pair.secretKey) }),
      custody.import({ ...wanted(account, "solana"), secret: seed.toString("hex") }),
    ]);
    expect(imported.map((wallet) => wallet?.address)).toEqual([
      privateKeyToAccount(evm).address,
      pair.publicKey.toBase58(),
      Keypair.fromSeed(seed).publicKey.toBase58(),
    ]);
  });

  it.each([
    ["evm", "0x12"],
    ["evm", `0x${"0".repeat(64)}`],
    ["evm", `0x${"f".repeat(64)}`],
    ["evm", encodeBase58(Keypair.fromSeed(new Uint8Array(32).fill(7)).secretKey)],
    ["solana", encodeBase58(Buffer.alloc(64, 9))],
    ["solana", "3yZe7d"],
    ["solana", ""],
  ] as const)("refuse a key of %s that is none, without repeating it: %s", async (family, secret) => {
    const refused = custody.import({ ...wanted(account, family), secret }).catch((error: unknown) => error);
    const error = await refused;
    expect(error).toBeInstanceOf(RangeError);
    if (secret !== "") expect(String(error)).not.toContain(secret);
    expect(String(error)).toContain(family === "evm" ? "0x and 64 hex digits" : "base58 of 64 bytes");
  });

  it("prove their address for the account: nobody else can lodge it, nor the same account twice", async () => {
    const secret = generatePrivateKey();
    const { address } = privateKeyToAccount(secret);
    expect(await custody.import({ ...wanted(account), secret })).toBeDefined();
    expect(await own.database.accounts.ownerOf(address)).toBe(account);
    const other = (await own.database.accounts.create("other")).id;
    expect(await custody.import({ ...wanted(other), secret })).toBeUndefined();
    expect(await custody.import({ ...wanted(account), secret })).toBeUndefined();
  });

  it("keep no key, passphrase or derived key in the database's files", async () => {
    const secret = generatePrivateKey();
    await custody.import({ ...wanted(account), secret });
    const kept = Buffer.concat(["", "-wal"].map((end) => readFileSync(own.file + end)));
    const traces = [secret.slice(2), Buffer.from(secret.slice(2), "hex"), PASSPHRASE];
    const digest = createHash("sha256").update(PASSPHRASE).digest();
    for (const trace of [...traces, digest, digest.toString("hex")]) expect(kept.includes(trace)).toBe(false);
  });
});

describe("a hosted wallet's sealed key", () => {
  it("does not open in the row of another wallet, or of another account", async () => {
    const [one, two] = [await custody.create(wanted(account)), await custody.create(wanted(account))];
    const other = (await own.database.accounts.create("thief")).id;
    const moved = [
      { ...two!, sealedKey: one!.sealedKey },
      { ...one!, account: other },
      { ...one!, id: two!.id },
    ];
    for (const wallet of moved) {
      await expect(custody.signer(wallet).sign(randomBytes(32))).rejects.toThrow(/cannot be opened: it was altered/);
    }
    expect(await custody.signer(one!).sign(randomBytes(32))).toHaveLength(65);
  });

  it("signs for no other address than its own, whatever the row says", async () => {
    const [one, two] = [await custody.create(wanted(account)), await custody.create(wanted(account))];
    const renamed = { ...one!, address: two!.address };
    await expect(custody.signer(renamed).sign(randomBytes(32))).rejects.toThrow(/it is another wallet's key/);
  });
});

describe("a gateway's start", () => {
  it("opens the wallets of an earlier run with the same passphrase", async () => {
    const wallet = await custody.create(wanted(account));
    const later = await mustOpen(await own.again());
    expect(await later.signer(wallet!).sign(randomBytes(32))).toHaveLength(65);
  });

  it("is refused with another passphrase, in one sentence that does not hold it", async () => {
    const passphrase = "another of the long passphrases";
    const error = await openCustody(passphrase, await own.again()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PaywallConfigError);
    expect(String(error)).toMatch(
      /expected the passphrase with which this database's wallets were sealed, got another one/,
    );
    expect(String(error)).not.toContain(passphrase);
  });

  it("is refused with a weak passphrase, before anything is written", async () => {
    const fresh = await openOwnDatabase();
    await expect(openCustody("password1234", fresh.database)).rejects.toThrow(PaywallConfigError);
    expect(await fresh.database.wallets.readVault()).toBeUndefined();
    await fresh.close();
  });

  it("keeps one vault where two processes begin at once", async () => {
    const fresh = await openOwnDatabase();
    const both = await Promise.all([mustOpen(fresh.database), mustOpen(await fresh.again())]);
    const shop = (await fresh.database.accounts.create("shop")).id;
    const wallet = await both[0]!.create(wanted(shop));
    expect(await both[1]!.signer(wallet!).sign(randomBytes(32))).toHaveLength(65);
    await fresh.close();
  });

  it("lets a damaged check word open nothing", async () => {
    const fresh = await openOwnDatabase();
    const { database } = fresh;
    const vault = { salt: Buffer.alloc(16, 1).toString("base64"), check: "damaged" };
    await database.wallets.createVault(vault);
    await expect(openCustody(PASSPHRASE, database)).rejects.toThrow(/got another one/);
    expect(await createVault(PASSPHRASE, vault.salt)).toBeDefined();
    await fresh.close();
  });
});
