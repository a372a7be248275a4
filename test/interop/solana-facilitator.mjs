// A published facilitator (@x402/core with @x402/svm, v1 and v2) on a Solana node of the test's own:
// `node solana-facilitator.mjs RPC_URL`, the fee payer's key file in FEE_PAYER_KEY. Prints its URL when it listens.
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/facilitator";
import { serve } from "./_serve.mjs";

const feePayer = await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(process.env.FEE_PAYER_KEY)));
const signer = toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: process.argv[2] });

serve(
  new x402Facilitator()
    .register("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", new ExactSvmScheme(signer))
    .registerV1("solana-devnet", new ExactSvmSchemeV1(signer)),
);
