// The buyer's key as each package wants it. The test gives it as the 64 numbers of a Solana key file.
import { createKeyPairSignerFromBytes, getBase58Decoder } from "@solana/kit";

export const toSigner = (secretKey) => createKeyPairSignerFromBytes(new Uint8Array(secretKey));
export const toBase58 = (secretKey) => getBase58Decoder().decode(new Uint8Array(secretKey));
