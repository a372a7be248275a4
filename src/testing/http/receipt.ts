// Reads the receipt of an answer in the header of one protocol version.
import type { Got } from "./client.js";

export interface ReceiptFields {
  readonly success?: boolean;
  readonly transaction?: string;
  readonly payer?: string;
  readonly errorReason?: string;
}

/** Throws when the header is not there. */
export function readReceiptHeader({ headers, status }: Got, version: 1 | 2): ReceiptFields {
  const value = headers[version === 2 ? "payment-response" : "x-payment-response"];
  if (value === undefined) throw new Error(`the ${status} has no receipt of version ${version}`);
  return JSON.parse(atob(value)) as ReceiptFields;
}
