// A published facilitator (@x402/core with @x402/evm, v1 and v2) on a chain of the test's own:
// `node facilitator.mjs RPC_URL`, the settling key in SETTLER_KEY. Prints its URL when it listens.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";

const account = privateKeyToAccount(process.env.SETTLER_KEY);
const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(process.argv[2]) }).extend(
  publicActions,
);
const signer = toFacilitatorEvmSigner({ ...wallet, address: account.address });
const facilitator = new x402Facilitator()
  .register("eip155:84532", new ExactEvmScheme(signer))
  .registerV1("base-sepolia", new ExactEvmSchemeV1(signer));

const routes = {
  "GET /supported": () => facilitator.getSupported(),
  "POST /verify": (body) => facilitator.verify(body.paymentPayload, body.paymentRequirements),
  "POST /settle": (body) => facilitator.settle(body.paymentPayload, body.paymentRequirements),
};

const server = createServer(async (req, res) => {
  res.setHeader("content-type", "application/json");
  try {
    const answer = routes[`${req.method} ${req.url}`];
    const body = await text(req);
    if (!answer) res.statusCode = 404;
    res.end(JSON.stringify(answer ? await answer(body && JSON.parse(body)) : { error: "not found" }));
  } catch (error) {
    console.error(error);
    res.statusCode = 500;
    res.end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
