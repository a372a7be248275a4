// What the service does, behind HTTP: each endpoint as a function from caller and validated request to an outcome.
import type { FacilitatorRequest, SettleResponse, SupportedResponse, VerifyResponse } from "../wire/facilitator.js";
import type { WalletProofs } from "./admin/wallet-proof.js";
import type { Caller } from "./caller.js";
import type { Outcome } from "./errors.js";
import type {
  BuildAnswer,
  BuildReceiveRequest,
  BuildSendRequest,
  HistoryAnswer,
  HistoryQuery,
  PaymentRecord,
  ReceiveAnswer,
  ReceiveRequest,
  SendAnswer,
  SendRequest,
  TransactionAnswer,
  TransactionRequest,
} from "./schemas/index.js";

export interface Engine extends WalletProofs {
  /** `POST /payment/send` */
  send(caller: Caller, request: SendRequest): Promise<Outcome<SendAnswer>>;
  /** `POST /payment/receive` */
  receive(caller: Caller, request: ReceiveRequest): Promise<Outcome<ReceiveAnswer>>;
  /** `GET /payment/status/{paymentId}`: a payment id, a transaction id, or a proof id (64 hex digits). */
  status(caller: Caller, id: string): Promise<Outcome<PaymentRecord>>;
  /** `GET /payment/history/{walletAddress}` */
  history(caller: Caller, address: string, query: HistoryQuery): Promise<Outcome<HistoryAnswer>>;
  /** `POST /transaction/send` */
  buildSend(caller: Caller, request: BuildSendRequest): Promise<Outcome<BuildAnswer>>;
  /** `POST /transaction/receive` */
  buildReceive(caller: Caller, request: BuildReceiveRequest): Promise<Outcome<BuildAnswer>>;
  /** `GET /transaction/{transactionId}` */
  transaction(caller: Caller, request: TransactionRequest): Promise<Outcome<TransactionAnswer>>;
  /** The facilitator API of x402 (protocol §6): a refusal is an answer of status 200. */
  verify(caller: Caller, request: FacilitatorRequest): Promise<Outcome<VerifyResponse>>;
  settle(caller: Caller, request: FacilitatorRequest): Promise<Outcome<SettleResponse>>;
  supported(): SupportedResponse;
}
