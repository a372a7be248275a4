// Public names of `tollgate/testing`: a local chain, a test token, funded buyers and a signing client.
export { type Anvil, type AnvilOptions, startAnvil } from "./anvil.js";
export { type AuthorizationMessage, type Signer, signAuthorization, type TokenDomain } from "./authorization.js";
export {
  type Paid,
  type PayerPaymentOptions,
  type PaymentHeader,
  type PayOptions,
  type PayWithOptions,
  pay,
  type SignedPayment,
  type SignPaymentOptions,
  signPayment,
} from "./buyer.js";
export { type Challenge, type Offer, type Receipt, readChallenge, readReceipt } from "./challenge.js";
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
export { createSandbox, createSolanaSandbox } from "./load-sandbox.js";
export type { NativeAsset } from "./native-asset.js";
export { type AuthorizationParts, eip3009Payer, type SignedAuthorization } from "./payers/eip3009.js";
export { type EvmTransferOptions, evmTransferPayer } from "./payers/evm-transfer.js";
export { anyOf, type Made, type Payer } from "./payers/payer.js";
export { type SolPayerOptions, type SplPayerOptions, solPayer, splPayer } from "./payers/solana.js";
export { referenceOf, type SignedTransaction, type TransactionParts } from "./payers/transaction.js";
export type { Sandbox, SandboxOptions } from "./sandbox.js";
export type { Funds, SolanaAsset, SolanaSandbox, SolanaSandboxOptions } from "./solana/sandbox.js";
export type { SolanaTransfer, TransferFilter } from "./solana/transfers.js";
export { multicall3, testToken, testWallet, testWalletFactory } from "./token.artifact.js";
export type { SandboxToken, Transfer } from "./token.js";
export type { CounterfactualWallet, WalletMode, Wallets } from "./wallets.js";
