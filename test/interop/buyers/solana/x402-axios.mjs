// x402-axios 0.7 on Solana: protocol v1, reads the 402's body, adds no memo.
import axios from "axios";
import { createSigner, withPaymentInterceptor } from "x402-axios";
import { payWithAxios } from "../_axios.mjs";
import { toBase58 } from "./_keys.mjs";

export async function pay({ url, method, body, secretKey, rpcUrl }) {
  const signer = await createSigner("solana-devnet", toBase58(secretKey));
  const client = withPaymentInterceptor(axios.create(), signer, undefined, { svmConfig: { rpcUrl } });
  return payWithAxios(client, { url, method, body });
}
