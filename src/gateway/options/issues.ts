// What a schema refused, as problems under the name by which the reader of the settings knows the place.
import type * as z from "zod/mini";
import type { Problems } from "../../config-problems.js";
import { suggestion } from "../../suggestion.js";

export interface IssuePlaces {
  pathOf(path: readonly PropertyKey[]): string;
  /** The members that exist at a place where another one was found. */
  known(path: readonly PropertyKey[]): readonly string[];
  /** What to do where something is missing, by field. */
  readonly required?: Readonly<Record<string, string>>;
}

/** Fields that are refused for being guessable. */
const SECRETS: readonly PropertyKey[] = ["adminToken", "metricsToken", "passphrase"];

export function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  places: IssuePlaces,
  problems: Problems,
): void {
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const message = `there is no option ${JSON.stringify(key)}: ${suggestion(key, places.known(issue.path))}`;
        problems.add(places.pathOf([...issue.path, key]), "unknown_option", message);
      }
      continue;
    }
    const [field] = issue.path;
    const missing = valueAt(input, issue.path) === undefined;
    const code = missing ? "required" : SECRETS.includes(field ?? "") ? "unsafe" : "invalid";
    const remedy = missing && field !== undefined ? places.required?.[String(field)] : undefined;
    problems.add(places.pathOf(issue.path) || "options", code, remedy ?? issue.message);
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
