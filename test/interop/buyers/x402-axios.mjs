// x402-axios 0.7: protocol v1, reads the 402's body.
import axios from "axios";
import { privateKeyToAccount } from "viem/accounts";
import { withPaymentInterceptor } from "x402-axios";
import { payWithAxios } from "./_axios.mjs";

export async function pay({ url, method, body, privateKey }) {
  return payWithAxios(withPaymentInterceptor(axios.create(), privateKeyToAccount(privateKey)), { url, method, body });
}
