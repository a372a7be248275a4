// @x402/axios 2.x on Solana: protocol v2 from the PAYMENT-REQUIRED header, v1 from the body where there is none.
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import axios from "axios";
import { payWithAxios } from "../_axios.mjs";
import { toSchemes } from "./_schemes.mjs";

export async function pay({ url, method, body, secretKey, rpcUrl }) {
  const schemes = await toSchemes({ secretKey, rpcUrl });
  return payWithAxios(wrapAxiosWithPaymentFromConfig(axios.create(), { schemes }), { url, method, body });
}
