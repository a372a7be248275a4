// What it takes to send a settlement again, as text beside the record: the proof with its signature and what was sold. Only
// where a receiver can tell that the chain has taken a settlement back, and no longer than the proof can be taken.
import type { BoundProof } from "./proof.js";
import type { Resource } from "./requirement.js";

/** A proof and what it was shown for. */
export interface Shown {
  readonly proof: BoundProof;
  readonly resource: Resource;
}

/** The member that stands for an integer. No other part of a proof is an object with this name: the payload is text here. */
const INTEGER = "$integer";

/** @example const { proof, resource } = fromSigned(toSigned({ proof, resource })); */
export function toSigned({ proof, resource: { url, description, mimeType } }: Shown): string {
  const resource = { url, description, mimeType };
  const signed = { resource, proof: { ...proof, payload: JSON.stringify(proof.payload) } };
  return JSON.stringify(signed, (_key, value: unknown) =>
    typeof value === "bigint" ? { [INTEGER]: value.toString() } : value,
  );
}

/** @param text what `toSigned` has made, out of our own store */
export function fromSigned(text: string): Shown {
  const signed = JSON.parse(text, (_key, value: unknown) => {
    const digits = typeof value === "object" && value !== null ? Reflect.get(value, INTEGER) : undefined;
    return typeof digits === "string" ? BigInt(digits) : value;
  }) as Shown & { proof: { payload: string } };
  return { ...signed, proof: { ...signed.proof, payload: JSON.parse(signed.proof.payload) } };
}
