// What a schema refuses, in the words of an answer: every problem with its place. Never the refused value, which may be a proof.
import type { z } from "@hono/zod-openapi";
import { type ErrorDetail, type Fault, fault } from "../errors.js";

/** A body of 64 KiB may have thousands of unknown fields. */
const MAX_DETAILS = 50;
const MAX_PATH = 120;

type Issue = z.core.$ZodIssue;
/** `z` of zod and of zod/mini make the same errors. */
export type SchemaError = Pick<z.core.$ZodError, "issues">;

/** INVALID_REQUEST with every problem. */
export function invalidRequest({ issues }: SchemaError): Fault {
  const details = issues.flatMap((issue) => detailsOf(issue, [])).slice(0, MAX_DETAILS);
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return fault("INVALID_REQUEST", first ? `${first.path}: ${first.message}${more}` : "the request is invalid", {
    details,
  });
}

function detailsOf(issue: Issue, parent: readonly PropertyKey[]): ErrorDetail[] {
  const path = [...parent, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: placeOf([...path, key]), message: "unknown field" }));
  }
  if (issue.code === "invalid_union") {
    const meant = meantBranch(issue.errors);
    if (meant) return meant.flatMap((inner) => detailsOf(inner, path));
  }
  return [{ path: placeOf(path), message: messageOf(issue) }];
}

/** The form that was meant: the one whose own type, version or tag fits, as far as exactly one does. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const fits = branches.filter((issues) => !issues.some(isAnotherForm));
  return fits.length === 1 ? fits[0] : undefined;
}

const isAnotherForm = ({ code, path }: Issue): boolean =>
  (code === "invalid_type" && path.length === 0) || (code === "invalid_value" && path.length <= 1);

/** zod's own words name the type that came; ours only what was expected. */
function messageOf(issue: Issue): string {
  if (issue.code !== "invalid_type" || !issue.message.startsWith("Invalid input: expected")) return issue.message;
  return `expected ${ARTICLES[issue.expected] ?? issue.expected}`;
}

const ARTICLES: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  boolean: "true or false",
};

const placeOf = (path: readonly PropertyKey[]): string => path.map(String).join(".").slice(0, MAX_PATH) || "body";
