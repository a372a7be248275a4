// What docs/gateway.md says of things that have no description in code: the operator's endpoints, which stand in no public
// document, and fields of the x402 wire, whose schemas carry no text so that the core stays small.

/** `closed`: what is inside is told by the protocol. */
export const WIRE_WORDS = {
  x402Version: { words: "Version of the protocol" },
  paymentPayload: { words: "What the buyer sent, decoded: x402 PaymentPayload", closed: true },
  paymentRequirements: { words: "The seller's offer that it is for: x402 PaymentRequirements", closed: true },
  isValid: { words: "Is it good?" },
  invalidReason: { words: "Why not, in the protocol's words" },
  invalidMessage: { words: "The same for people" },
  payer: { words: "Who pays" },
  success: { words: "Was it settled?" },
  errorReason: { words: "Why not, in the protocol's words" },
  errorMessage: { words: "The same for people" },
  transaction: { words: "Id of the transaction; empty where there is none" },
  network: { words: "As the protocol's version names it" },
  amount: { words: "Atomic units that were charged" },
  extensions: { words: "Extensions of the protocol", closed: true },
  extra: { words: "Anything more", closed: true },
  kinds: { words: "What can be verified and settled here" },
  "kinds[].x402Version": { words: "Version of the protocol" },
  "kinds[].scheme": { words: "Always exact" },
  "kinds[].network": { words: "As the protocol's version names it" },
  "kinds[].extra": { words: "On Solana the fee payer that offers must name", closed: true },
  signers: { words: "The gateway's settling addresses, by network", closed: true },
  "error.code": { words: "A code of this API" },
};

const account = "/admin/accounts/{account}";
const wallet = `${account}/wallets/{wallet}`;

export const OPERATOR = [
  { endpoint: "GET /admin/accounts", does: "Lists the accounts", answer: "`accounts`: list of Account" },
  {
    endpoint: "POST /admin/accounts",
    does: "Makes an account",
    body: "CreateAccountRequest",
    answer: "201 `account`: Account",
  },
  { endpoint: `GET ${account}/keys`, does: "Lists its keys", answer: "`keys`: list of ApiKey" },
  {
    endpoint: `POST ${account}/keys`,
    does: "Makes a key",
    body: "CreateKeyRequest",
    answer: "201 `key`: ApiKey, and `secret`: the whole key, shown this once",
  },
  {
    endpoint: `DELETE ${account}/keys/{key}`,
    does: "Revokes a key at once and for ever",
    answer: "`key`: ApiKey",
  },
  {
    endpoint: `GET ${account}/wallets`,
    does: "Lists its hosted wallets with what they hold",
    answer: "`wallets`: list of HostedWallet",
  },
  {
    endpoint: `POST ${account}/wallets`,
    does: "Makes or imports a hosted wallet",
    body: "CreateWalletRequest",
    answer: "201 `wallet`: HostedWallet",
  },
  {
    endpoint: `PATCH ${wallet}`,
    does: "Replaces all its limits",
    body: "ChangeLimitsRequest",
    answer: "`wallet`: HostedWallet",
  },
  {
    endpoint: `DELETE ${wallet}`,
    does: "Forgets its key for ever",
    answer: "`wallet`: `{ id, removed: true }`",
  },
];
