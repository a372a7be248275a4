// @x402/axios 2.x: protocol v2, reads the PAYMENT-REQUIRED header.
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm";
import axios from "axios";
import { privateKeyToAccount } from "viem/accounts";
import { payWithAxios } from "./_axios.mjs";

export async function pay({ url, method, body, privateKey }) {
  const client = wrapAxiosWithPaymentFromConfig(axios.create(), {
    schemes: [{ network: "eip155:*", client: new ExactEvmScheme(privateKeyToAccount(privateKey)) }],
  });
  return payWithAxios(client, { url, method, body });
}
