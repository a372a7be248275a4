// The endpoints by which an account shows that a wallet is its own.
import { challengeAnswer, challengeRequest, proveAnswer, proveRequest } from "../schemas/index.js";
import { byBody, type EndpointDefinition } from "./endpoint.js";
import { EXAMPLES } from "./examples.js";

export const WALLET_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    name: "POST /wallets/challenge",
    method: "post",
    path: "/wallets/challenge",
    scopes: ["receive"],
    summary: "Ask for the text that shows a wallet to be yours",
    description: "The text names the account, the wallet and this gateway. It is good for one proof, for ten minutes.",
    codes: [],
    body: challengeRequest,
    answer: challengeAnswer,
    examples: EXAMPLES.challenge,
    read: byBody(challengeRequest, (engine, caller, body) => engine.challenge(caller, body)),
  },
  {
    name: "POST /wallets/prove",
    method: "post",
    path: "/wallets/prove",
    scopes: ["receive"],
    summary: "Show that a wallet is yours",
    description:
      "Takes the wallet's signature of a challenge: personal_sign (EIP-191) on EVM, ed25519 in base58 on Solana. From then on no other account can receive for the wallet.",
    codes: [],
    body: proveRequest,
    answer: proveAnswer,
    examples: EXAMPLES.prove,
    read: byBody(proveRequest, (engine, caller, body) => engine.prove(caller, body)),
  },
];
