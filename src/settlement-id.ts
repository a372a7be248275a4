// Names of settlements and of deliveries: never the same in two processes, nor twice in one.

// One random part for the process, made when it is first needed (Workers have no randomness before a request), and a count:
// a UUID for each would stay in the record as a tree of its pieces, half a kilobyte.
let [processId, settlements] = ["", 0];

/** A name that no settlement and no delivery had before. */
export function nextSettlementId(): string {
  if (processId === "") processId = crypto.randomUUID();
  settlements += 1;
  return `${processId}-${settlements}`;
}
