// Which protocol version to speak to a facilitator for a network, and the request in that version. The signed inner payload
// is the same in v1 and v2, so a proof of one version can be shown to a facilitator that lists the network in the other only.
import { findNetwork, networkFromWire } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { Requirement, Resource } from "../requirement.js";
import { facilitatorRequest, type SupportedResponse } from "../wire/facilitator.js";
import type { PaymentPayload } from "../wire/payload.js";
import { toOfferV2 } from "../wire/v2.js";
import type { ReadinessProblem } from "./receiver.js";

/** One entry of /supported. */
export type Kind = SupportedResponse["kinds"][number];

/** How many kinds a message names. */
const NAMED_KINDS = 20;

/** Whether a kind covers a network in its version; `eip155:*` stands for every network of that family. */
function covers(kind: Kind, version: 1 | 2, scheme: string, network: string): boolean {
  if (kind.x402Version !== version || kind.scheme !== scheme) return false;
  if (kind.network.endsWith(":*")) return network.startsWith(kind.network.slice(0, -1));
  return networkFromWire(version, kind.network)?.id === network;
}

type Wanted = Pick<Requirement, "scheme" | "network">;

function findKind(kinds: readonly Kind[], version: 1 | 2, { scheme, network }: Wanted): Kind | undefined {
  return kinds.find((kind) => covers(kind, version, scheme, network));
}

/** The kinds that serve a requirement, version 2 first. */
export function kindsFor(kinds: readonly Kind[], wanted: Wanted): readonly Kind[] {
  return [findKind(kinds, 2, wanted), findKind(kinds, 1, wanted)].filter((kind) => kind !== undefined);
}

/** Requirements that the facilitator serves in neither version, each named once. */
export function findUnsupported(requirements: readonly Requirement[], kinds: readonly Kind[]): ReadinessProblem[] {
  const missing = requirements.filter((requirement) => kindsFor(kinds, requirement).length === 0);
  const names = [...new Set(missing.map(({ scheme, network }) => `${scheme} on ${network}`))];
  const listed = [...new Set(kinds.map((kind) => `${kind.scheme} on ${kind.network} (v${kind.x402Version})`))];
  const more = listed.length > NAMED_KINDS ? ` and ${listed.length - NAMED_KINDS} more` : "";
  return names.map((expected) => ({
    check: "supported",
    expected,
    got: listed.length === 0 ? "nothing" : listed.slice(0, NAMED_KINDS).join(", ") + more,
    remedy: "Choose a network that this facilitator serves, or another facilitator.",
  }));
}

/**
 * The body for /verify and /settle, in the proof's own version where the facilitator lists it (or its list is not known),
 * else in the other one: then with our requirement in that version's shape and the buyer's inner payload unchanged.
 */
export function requestBody(proof: BoundProof, kinds: readonly Kind[] | undefined, resource: Resource): string {
  const known = made.get(proof);
  if (known && known.kinds === kinds && known.resource === resource) return known.body;
  const body = makeBody(proof, kinds, resource);
  made.set(proof, { kinds, resource, body });
  return body;
}

/** The last body of a proof: /verify and /settle get the same one. */
const made = new WeakMap<BoundProof, { kinds: readonly Kind[] | undefined; resource: Resource; body: string }>();

function makeBody(proof: BoundProof, kinds: readonly Kind[] | undefined, resource: Resource): string {
  const { requirement, version } = proof;
  const network = findNetwork(requirement.network);
  if (!network) throw new TypeError(`no such network: ${requirement.network}`);
  const other = version === 1 ? 2 : 1;
  const foreign = kinds && !findKind(kinds, version, requirement) ? findKind(kinds, other, requirement) : undefined;
  if (!foreign) return JSON.stringify(facilitatorRequest(version, proof.payload, requirement, network, resource));
  const payload = other === 2 ? asV2(proof) : asV1(proof, foreign, network.v1Name);
  return JSON.stringify(facilitatorRequest(other, payload, requirement, network, resource));
}

function asV2({ payload, requirement }: BoundProof): PaymentPayload {
  return { x402Version: 2, accepted: toOfferV2(requirement), payload: payload.payload };
}

function asV1({ payload, requirement }: BoundProof, kind: Kind, v1Name: string | undefined): PaymentPayload {
  const named = kind.network.endsWith(":*") ? (v1Name ?? requirement.network) : kind.network;
  return { x402Version: 1, scheme: requirement.scheme, network: named, payload: payload.payload };
}
