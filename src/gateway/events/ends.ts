// How an event socket ends: the close code and the words of each reason. Source: design §7; RFC 6455 §7.4.

const end = (code: number, reason: string) => Object.freeze({ code, reason });

export const ENDS = Object.freeze({
  shutdown: end(1001, "the service is shutting down: connect again and resume with since"),
  unavailable: end(1013, "the service cannot check keys or read events now: connect again later"),
  slow: end(4008, "you read too slowly: connect again and resume with since"),
  unauthorized: end(4401, "there is no valid API key"),
  forbidden: end(4403, "the plan or the key does not permit events"),
  late: end(4408, "no authentication came in time"),
  cursor_expired: end(4410, "what comes after your cursor is not kept any more"),
  rate: end(4429, "too many sockets or requests"),
});
export type EndName = keyof typeof ENDS;
