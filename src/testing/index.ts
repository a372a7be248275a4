// Public names of `tollgate/testing`: a local chain, a test token, funded buyers and a signing client.
export { type Anvil, type AnvilOptions, startAnvil } from "./anvil.js";
export { type AuthorizationMessage, type Signer, signAuthorization, type TokenDomain } from "./authorization.js";
export {
  type Challenge,
  type Offer,
  type Paid,
  type PayOptions,
  pay,
  type Receipt,
  readChallenge,
  readReceipt,
  type SignedPayment,
  type SignPaymentOptions,
  signPayment,
} from "./buyer.js";
export {
  type Ability,
  type HttpCase,
  type HttpFramework,
  httpCases,
  type Reply,
  type RunningSite,
  type Site,
  type SiteHandler,
  type SiteRoute,
  type SiteRun,
  type SiteSettings,
} from "./http-cases.js";
export { createSandbox } from "./load-sandbox.js";
export type { Sandbox, SandboxOptions } from "./sandbox.js";
export { multicall3, testToken, testWallet, testWalletFactory } from "./token.artifact.js";
export type { SandboxToken, Transfer } from "./token.js";
export type { CounterfactualWallet, WalletMode, Wallets } from "./wallets.js";
