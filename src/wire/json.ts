// What JSON of a stranger must be before a member of it is read: an object, not nested deep, and without the one name that an
// incautious merge downstream would take for the prototype. Its size is bounded by whoever reads the text.

const MAX_DEPTH = 32;

/** A JSON object: neither null nor an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with a parsed value, to stand after "the JSON"; undefined for an object that may be read. */
export const findFlaw = (value: unknown): string | undefined =>
  isRecord(value) ? findDeepFlaw(value, 1) : "is not an object";

function findDeepFlaw(value: object, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  if (Object.hasOwn(value, "__proto__")) return "has a member named __proto__";
  for (const member of Object.values(value)) {
    if (typeof member !== "object" || member === null) continue;
    const flaw = findDeepFlaw(member, depth + 1);
    if (flaw) return flaw;
  }
  return undefined;
}
