// Secret keys of fee payers: their two spellings, what is refused, and that none of them ever comes out again.
import { inspect } from "node:util";
import { Keypair } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { verifySignature } from "../../../src/chains/solana/ed25519.js";
import { addressOfSecret, toSolanaAccount } from "../../../src/chains/solana/settlers.js";

const SEED = "01".repeat(32);
// The payer of the protocol's own vector (protocol §4.3).
const ADDRESS = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const pair = Keypair.fromSeed(Buffer.from(SEED, "hex"));
const LONG = encodeBase58(pair.secretKey);

describe("a secret key", () => {
  it.each([SEED, `0x${SEED}`, SEED.toUpperCase(), LONG])("has its address in each spelling", async (secret) => {
    expect(addressOfSecret(secret)).toBe(ADDRESS);
    const account = toSolanaAccount(secret);
    expect(account.address).toBe(ADDRESS);
    const message = new TextEncoder().encode("a message");
    const signature = await account.signMessage(message);
    expect(await verifySignature(pair.publicKey.toBytes(), message, signature)).toBe(true);
    // The same every time, so that a transaction has one id.
    expect(await account.signMessage(message)).toEqual(signature);
  });

  const other = encodeBase58(Buffer.concat([Buffer.from(SEED, "hex"), Keypair.generate().publicKey.toBytes()]));
  it.each([
    ["whose halves do not fit", other],
    ["of 63 bytes", encodeBase58(pair.secretKey.subarray(1))],
    ["that is only an address", ADDRESS],
    ["of 31 bytes in hex", "01".repeat(31)],
    ["that is a JSON list", JSON.stringify([...pair.secretKey])],
    ["with a space", ` ${LONG}`],
    ["of nothing", ""],
  ])("%s is none, and the message does not repeat it", (_, secret) => {
    expect(addressOfSecret(secret)).toBeUndefined();
    let message = "";
    try {
      toSolanaAccount(secret);
    } catch (error) {
      message = String(error);
    }
    expect(message).toBe("Error: A Solana settler key must be base58 of 64 bytes, or a 32-byte seed as 64 hex digits");
  });

  it("cannot be read back from its account", () => {
    const account = toSolanaAccount(LONG);
    const shown = JSON.stringify(account) + inspect(account, { depth: 9, showHidden: true });
    expect(shown).not.toContain(LONG);
    expect(shown).not.toContain(SEED.slice(0, 16));
  });
});

it("an account of the caller's own is taken as it is", () => {
  const account = { address: ADDRESS, signMessage: async () => new Uint8Array(64) };
  expect(toSolanaAccount(account)).toBe(account);
});
