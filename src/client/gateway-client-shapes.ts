// The shapes of the gateway's requests and answers, inferred from the schemas by which it validates. Types only: nothing of the
// gateway runs in a client.
import type * as z from "zod/mini";
import type { GatewayErrorCode } from "../gateway/errors.js";
import type * as schemas from "../gateway/schemas/index.js";
import type { facilitatorRequestBody } from "../wire/facilitator.js";

export type { SettleResponse, SupportedResponse, VerifyResponse } from "../wire/facilitator.js";
export type { GatewayErrorCode };

export type SendRequest = z.input<typeof schemas.sendRequest>;
export type SendAnswer = z.output<typeof schemas.sendAnswer>;
export type ReceiveRequest = z.input<typeof schemas.receiveRequest>;
export type ReceiveAnswer = z.output<typeof schemas.receiveAnswer>;
export type BuildSendRequest = z.input<typeof schemas.buildSendRequest>;
export type BuildReceiveRequest = z.input<typeof schemas.buildReceiveRequest>;
export type BuildAnswer = z.output<typeof schemas.buildAnswer>;
export type PaymentRecord = z.output<typeof schemas.paymentRecord>;
export type PaymentEvent = z.output<typeof schemas.paymentEvent>;
export type StatusAnswer = z.output<typeof schemas.statusAnswer>;
/** What stands in the URL as text is given as what it is. */
export type HistoryQuery = Partial<z.output<typeof schemas.historyQuery>>;
export type HistoryAnswer = z.output<typeof schemas.historyAnswer>;
export type TransactionQuery = z.input<typeof schemas.transactionQuery>;
export type TransactionAnswer = z.output<typeof schemas.transactionAnswer>;
/** The body of /verify and of /settle, as x402 facilitators take it. */
export type FacilitatorRequest = z.input<typeof facilitatorRequestBody>;
export type ChallengeRequest = z.input<typeof schemas.challengeRequest>;
export type ChallengeAnswer = z.output<typeof schemas.challengeAnswer>;
export type ProveRequest = z.input<typeof schemas.proveRequest>;
export type ProveAnswer = z.output<typeof schemas.proveAnswer>;
export type HealthAnswer = z.output<typeof schemas.healthAnswer>;
export type ReadyAnswer = z.output<typeof schemas.readyAnswer>;

export type Account = z.output<typeof schemas.accountRecord>;
export type ApiKey = z.output<typeof schemas.keyRecord>;
export type HostedWalletRecord = z.output<typeof schemas.walletRecord>;
export type CreateAccountRequest = z.input<typeof schemas.createAccountRequest>;
export type CreateKeyRequest = z.input<typeof schemas.createKeyRequest>;
export type CreateWalletRequest = z.input<typeof schemas.createWalletRequest>;
export type ChangeLimitsRequest = z.input<typeof schemas.changeLimitsRequest>;
