// Public names of `tollgate/client`: a fetch that pays, its wallets and its memory. Bundles for browsers and Workers; the store in a
// file stands apart, in `tollgate/client/file`.
export { BUYER_ERRORS, BuyerError, type BuyerErrorCode, type BuyerErrorFacts, type BuyerMoney } from "./errors.js";
export type { BuyerEvent } from "./events.js";
export type { EvmAccount, EvmWalletClient } from "./evm-account.js";
export { type EvmWalletOptions, evmWallet } from "./evm-wallet.js";
export { type GatewayClient, type GatewayClientOptions, gatewayClient } from "./gateway-client.js";
export type { CallOptions } from "./gateway-client-call.js";
export { type GatewayClientErrorCode, GatewayError } from "./gateway-client-error.js";
export type { EventsOptions } from "./gateway-client-events.js";
export { type OperatorClient, type OperatorClientOptions, operatorClient } from "./gateway-client-operator.js";
export type * from "./gateway-client-shapes.js";
export type { WaitOptions } from "./gateway-client-wait.js";
export { type HostedWalletOptions, hostedWallet } from "./hosted-wallet.js";
export { LOCAL_ERRORS, type LocalErrorCode, LocalTransactionError } from "./local-error.js";
export type { LocalSigning } from "./local-signing.js";
export { type MemoryBuyerStoreOptions, memoryBuyerStore } from "./memory-store.js";
export type { Challenge, Offer, UnpayableOffer } from "./offer.js";
export type { Cap, Caps, PayingFetchOptions } from "./options.js";
export { type PayingFetch, payingFetch } from "./paying-fetch.js";
export type { Purchase, PurchaseStatus } from "./purchase.js";
export type { Quote, QuotedOffer } from "./quote.js";
export type { ApprovalRequest } from "./settings.js";
export { type CollectedPayment, type CollectOrder, signAndCollect } from "./sign-and-collect.js";
export { type SendOrder, type SentPayment, signAndSend } from "./sign-and-send.js";
export type { SolanaKey, SolanaKeypair } from "./solana-key.js";
export { type SolanaWalletOptions, solanaWallet } from "./solana-wallet.js";
export type { BuyerStore, Limit, PendingProof, Reserved, Spend } from "./store.js";
export type { Signed, SignRequest, Wallet, WalletFailure } from "./wallet.js";
