// Signs token payments on Solana for an offer, as published buyers build them: limit, price, TransferChecked and, in v2, a memo.
// A buyer's transaction is built once; each payment then gets a blockhash of its own and is signed anew.
import { createPrivateKey, randomBytes, sign } from "node:crypto";
import { Keypair } from "@solana/web3.js";
import { ataOf, signMessage, tokenTransfer } from "../../dist/src/testing/solana/message.js";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const UNITS = 20_000;
/** Before the message: the number of signatures, the empty slot of the fee payer, the buyer's own. */
const SIGNATURE_AT = 1 + 64;
const MESSAGE_AT = SIGNATURE_AT + 64;
/** PKCS 8 around the 32 bytes of an ed25519 seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** A buyer nobody else has. Each call of what comes back is one more payment, in base64. */
export function createSolanaBuyer({ asset, payTo, amount, extra }, version) {
  const wallet = Keypair.generate();
  const owner = wallet.publicKey.toBase58();
  const blockhash = Keypair.generate().publicKey;
  const transfer = tokenTransfer({
    source: ataOf(owner, asset, TOKEN_PROGRAM),
    mint: asset,
    destination: ataOf(payTo, asset, TOKEN_PROGRAM),
    authority: owner,
    ...{ amount: BigInt(amount), decimals: 6, tokenProgram: TOKEN_PROGRAM },
  });
  const memo = version === 1 ? null : randomBytes(16).toString("hex");
  const parts = { units: UNITS, memo, blockhash: blockhash.toBase58() };
  const bytes = Buffer.from(signMessage(wallet, extra.feePayer, transfer, parts).bytes);
  const blockhashAt = bytes.indexOf(blockhash.toBytes(), MESSAGE_AT);
  const key = createPrivateKey({
    ...{ key: Buffer.concat([PKCS8, wallet.secretKey.subarray(0, 32)]), format: "der", type: "pkcs8" },
  });
  return () => {
    randomBytes(32).copy(bytes, blockhashAt);
    sign(null, bytes.subarray(MESSAGE_AT), key).copy(bytes, SIGNATURE_AT);
    return bytes.toString("base64");
  };
}
