// A published facilitator (@x402/core with @x402/evm, v1 and v2) on a chain of the test's own:
// `node facilitator.mjs RPC_URL`, the settling key in SETTLER_KEY. Prints its URL when it listens.
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { serve } from "./_serve.mjs";

const account = privateKeyToAccount(process.env.SETTLER_KEY);
const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(process.argv[2]) }).extend(
  publicActions,
);
const signer = toFacilitatorEvmSigner({ ...wallet, address: account.address });

serve(
  new x402Facilitator()
    .register("eip155:84532", new ExactEvmScheme(signer))
    .registerV1("base-sepolia", new ExactEvmSchemeV1(signer)),
);
