// One request that carries a proof for one of our offers: what the steps from peek to capture work on.
import type { Offers } from "./offers.js";
import type { Passage } from "./passage.js";
import type { BoundProof } from "./proof.js";
import type { Resource } from "./requirement.js";
import type { Terms } from "./settings.js";
import type { RequestPrint } from "./store/record.js";

export interface Sale {
  readonly proof: BoundProof;
  readonly print: RequestPrint;
  /** The versions whose receipt the buyer reads. */
  readonly versions: readonly (1 | 2)[];
  readonly offers: Offers;
  readonly terms: Terms;
  readonly resource: Resource;
  /** Where the route sells a pass beside its answer. */
  readonly passage?: Passage | undefined;
}
