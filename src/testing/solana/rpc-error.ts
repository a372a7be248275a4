// What a node answers in place of a result, with the numbers of the Solana JSON-RPC interface.

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  preflightFailure: -32002,
  signatureFailure: -32003,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
  blockNotAvailable: -32004,
} as const;

export const invalidParams = (why: string): RpcError => new RpcError(RPC_CODES.invalidParams, `Invalid params: ${why}`);
