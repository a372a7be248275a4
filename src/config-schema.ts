// What the schemas of options share: sentences for values that are refused, and what a schema refused as problems under the
// name by which the reader of the settings knows the place.
import * as z from "zod/mini";
import { type Problems, show } from "./config-problems.js";
import { suggestion } from "./suggestion.js";

/** A sentence for a value that was refused. */
export const wrong = (expected: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => `${expected}; got ${show(input)}`,
});

/** A whole number between two others, both allowed. */
export const whole = (least: number, most: number, what = "a whole number") =>
  z.custom<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    wrong(`expected ${what} from ${least} to ${most}`),
  );

export interface IssuePlaces {
  pathOf(path: readonly PropertyKey[]): string;
  /** The members that exist at a place where another one was found. */
  known(path: readonly PropertyKey[]): readonly string[];
  /** What to do where something is missing, by its path with points. */
  readonly required?: Readonly<Record<string, string>>;
  /** Fields that are refused for being guessable. */
  readonly secrets?: readonly PropertyKey[];
}

/** Adds each issue of a schema to the problems. */
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
    const code = missing ? "required" : places.secrets?.includes(field ?? "") ? "unsafe" : "invalid";
    const remedy = missing ? places.required?.[issue.path.join(".")] : undefined;
    problems.add(places.pathOf(issue.path) || "options", code, remedy ?? issue.message);
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
