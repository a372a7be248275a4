// What the steps of one paywall share: interfaces only, wired together in `paywall.ts`.
import type { Claims } from "./claims.js";
import type { Clock } from "./clock.js";
import type { Commits } from "./commits.js";
import type { Events } from "./events.js";
import type { HeldBytes } from "./held.js";
import type { Lookups } from "./lookups.js";
import type { ReadinessGate } from "./readiness.js";
import type { Receiver } from "./receive/receiver.js";
import type { Settings } from "./settings.js";
import type { Verifier } from "./verification.js";

export interface Context {
  readonly settings: Pick<Settings, "publicUrl" | "trustProxy" | "cors" | "limits">;
  readonly receiver: Receiver;
  readonly claims: Claims;
  /** The store, for what is no proof. */
  readonly commits: Commits;
  readonly verifier: Verifier;
  readonly lookups: Lookups;
  readonly readiness: ReadinessGate;
  readonly events: Events;
  readonly held: HeldBytes;
  /** Memory for request bodies while their digest is made: apart from the answers, so that idle uploads cost no answer. */
  readonly bodies: HeldBytes;
  readonly clock: Clock;
  readonly logger: Settings["logger"];
}
