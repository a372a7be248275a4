// The times and bounds that event sockets live by. Tests shorten times; nobody else changes them.

export interface EventTimes {
  /** In which a socket must authenticate. */
  readonly authenticateMs: number;
  /** Between two looks at what others wrote, and at which keys are still good. */
  readonly beatMs: number;
  /** Without such a look for so long nothing is known of the keys: all sockets are cut. */
  readonly uncheckedMs: number;
  /** Between two pings; who has not answered the last one is cut. */
  readonly pingMs: number;
  /** In which a reader must have taken what is buffered for it. */
  readonly slowMs: number;
  /** Between the close frame and the end of the connection. */
  readonly closeMs: number;
  /** After which the seat of a dead instance's socket is free. */
  readonly seatMs: number;
}

export const EVENT_TIMES: EventTimes = Object.freeze({
  authenticateMs: 5_000,
  beatMs: 500,
  uncheckedMs: 15_000,
  pingMs: 20_000,
  slowMs: 10_000,
  closeMs: 2_000,
  seatMs: 8_000,
});

/** A message from a client; what is larger ends its socket with 1009. */
export const MAX_MESSAGE_BYTES = 16 * 1024;
/** Header fields of an upgrade. */
export const MAX_HEADERS = 100;
/** Sockets that have not authenticated yet: in all, and of one address. */
export const MAX_WAITING = 2_000;
export const MAX_WAITING_OF_ONE = 500;
/** Bytes for a reader, beyond which it is given no more events until it has read these. */
export const FULL_BYTES = 64 * 1024;
/** Events of one read of the outbox. */
export const PAGE = 50;
